"""The guard at work in a browser: what an episode's pages and actions cannot get around."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Page, Request, Route
from playwright.async_api import Error as PlaywrightError

from tasks.task import Json
from webagent.action import Action, format_action, is_final
from webagent.action import actions as act
from webagent.browser.enforcement.connections import Dialer, DirectDialer
from webagent.browser.enforcement.gate import EpisodeGate
from webagent.browser.enforcement.proxy import GuardProxy
from webagent.browser.enforcement.tls import (
    PreflightRequest,
    TlsInspector,
    inspector_with,
    is_granted,
)
from webagent.browser.page.connection import world_failures
from webagent.browser.perform import perform
from webagent.browser.tabs import Tabs
from webagent.errors import GuardError
from webagent.guard.actions import (
    TransferTracker,
    decide_action,
    decide_secret,
    decide_upload,
    is_on,
    texts_of,
)
from webagent.guard.decide import ALLOWED, GuardVerdict, decide_download, refuse
from webagent.guard.guard import Guard, is_approved, write_question
from webagent.guard.secret import find_placeholders
from webagent.records import Observation

_SEARCHED = 1_000_000
"""Bytes of a body that are searched for secrets."""
_FLAGS = (
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
)
"""What a guarded browser is started with: no traffic but through a proxy, no names looked up."""

_CLOSED = """
(() => {
  const refuse = () => Promise.reject(new DOMException("closed", "SecurityError"));
  if (self.ServiceWorkerContainer) {
    Object.defineProperty(ServiceWorkerContainer.prototype, "register", { value: refuse });
  }
})();
"""
"""Service workers send requests that no page answers for, so none is registered."""


class Enforcer:
    """One episode's guard. `open` it for a context, then `watch` the context, then `begin`."""

    def __init__(self, guard: Guard, dial: Dialer | None = None) -> None:
        self._guard = guard
        self.secrets = guard.secrets
        self._gate = EpisodeGate(guard)
        self._dial = dial or DirectDialer(self._gate)
        self._proxy = GuardProxy(self._gate, self._dial, _inspector(guard))
        self._granted: dict[PreflightRequest, bool] = {}
        self._start = ALLOWED
        self._typed: set[str] = set()
        self._transfers = TransferTracker()
        self._probe: Page | None = None
        self.context_options: dict[str, Any] = {}
        """For `new_context`: every request of the context goes through our proxy."""

    @classmethod
    async def open(cls, guard: Guard, dial: Dialer | None = None) -> "Enforcer":
        """Return a guard whose proxy listens, by `dial` or directly; close it after the context."""
        enforcer = cls(guard, dial)
        server = await enforcer._proxy.open()
        enforcer.context_options = {"proxy": {"server": server, "bypass": "<-loopback>"}}
        return enforcer

    async def close(self) -> None:
        """End the proxy; whatever a page still sends meets a closed port."""
        await self._proxy.close()

    async def watch(self, context: BrowserContext) -> None:
        """Judge every request of the context before the browser sends it. Raises `WorldError`."""
        async with world_failures():
            await context.add_init_script(_CLOSED)
            await context.route(match_all_but(self._guard.own_folders), self._judge)

    def begin(self, start_url: str, site: str = "") -> bool:
        """Apply the task's limits; return whether its first page may be opened at all."""
        self._start = self._gate.begin(start_url, site)
        return self._start.is_allowed

    def check_start(self) -> None:
        """Raise `GuardError` where the task's first page is not open."""
        if not self._start.is_allowed:
            raise GuardError(f"the policy closes the task's own page: {self._start.reason}")

    def open_further(self, url: str) -> None:
        """Open another start page to the task. Raises `GuardError` where the policy closes it."""
        verdict = self._gate.open_also(url)
        if not verdict.is_allowed:
            raise GuardError(f"the policy closes a further start page: {verdict.reason}")

    async def perform(self, action: Action, tabs: Tabs, seen: Observation) -> str:
        """Do the action, or return the reason why it may not be done. Raises `GuardError`."""
        self._gate.step += 1
        action, verdict = await self._decide(action, tabs, seen)
        if not verdict.is_allowed:
            return self._refuse(action, verdict)
        if isinstance(action, act.Fill) and self._names_in(action.text):
            return await self._type_secret(action, tabs)
        return self.secrets.masked(await perform(action, tabs))

    def take_notes(self) -> list[str]:
        """Return what pages were refused since the last call. Raises `GuardError` to end."""
        return self._gate.take_notes()

    def judge_download(self, name: str, size: int | None) -> str:
        """Return why a page may not hand over a file; nothing where it may."""
        verdict = decide_download(self._gate.policy, name, size)
        if verdict.is_allowed:
            return ""
        self._gate.keep(f"download of {name}", verdict, "page")
        return f"refused: {verdict.reason}"

    @contextmanager
    def probing(self, page: Page, addresses: Iterable[str]) -> Iterator[list[str]]:
        """Let a page of the task's own reach these addresses' servers, unless a rule names them
        and says otherwise; yield what it was refused, as it comes."""
        self._probe = page
        try:
            with self._gate.probing(addresses) as refusals:
                yield refusals
        finally:
            self._probe = None

    def evidence(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """Return the episode's evidence without secrets, and under `guard` what was refused."""
        masked = {name: self.secrets.masked_json(value) for name, value in values.items()}
        return {**masked, "guard": dict(self._gate.evidence())}

    async def _decide(
        self, action: Action, tabs: Tabs, seen: Observation
    ) -> tuple[Action, GuardVerdict]:
        """Return the action as it would be done, and whether it may be."""
        policy = self._gate.policy
        verdict = decide_action(policy, action, seen)
        if verdict.outcome == "ask":
            question = write_question(action, seen, verdict.reason)
            if await is_approved(self._guard.approver, question, policy.ask_seconds):
                verdict = ALLOWED
            else:
                verdict = refuse(f"nobody approved of it ({verdict.reason})", verdict.rule)
        if verdict.is_allowed:
            action, verdict = self._decide_files(action)
        may_carry = self._transfers.may_carry(action) and bool(self._typed)
        if verdict.is_allowed and may_carry:
            verdict = self._decide_carrying(tabs)
        if verdict.is_allowed and not (isinstance(action, act.Fill) or is_final(action)):
            # Values of secrets are typed by fill only, wherever the agent has them from.
            names = (name for text in texts_of(action) for name in self.secrets.found_in(text))
            if name := next(names, ""):
                verdict = refuse(f"it carries the secret {name}", "secrets")
        return action, verdict

    def _refuse(self, action: Action, verdict: GuardVerdict) -> str:
        self._gate.keep(format_action(action), verdict, "action")
        said = f"refused: {verdict.reason}"
        if self._gate.policy.on_refusal == "end":
            raise GuardError(self.secrets.masked(f"{format_action(action)} was {said}"))
        return said

    def _decide_files(self, action: Action) -> tuple[Action, GuardVerdict]:
        """Return the action with links in its paths followed, and whether the files may go."""
        match action:
            case act.UploadFile(path=path) | act.MouseUploadFile(path=path):
                real = Path(path).expanduser().resolve()
                return replace(action, path=str(real)), decide_upload(self._gate.policy, real)
            case act.UploadFiles(paths=paths):
                files = [Path(path).expanduser().resolve() for path in paths]
                verdicts = [decide_upload(self._gate.policy, file) for file in files]
                bad = next((each for each in verdicts if not each.is_allowed), ALLOWED)
                return replace(action, paths=tuple(map(str, files))), bad
        return action, ALLOWED

    def _decide_carrying(self, tabs: Tabs) -> GuardVerdict:
        """Return whether the page in front may get what was typed of secrets elsewhere."""
        urls = [frame.url for frame in tabs.active.page.frames]
        for name in self._typed:
            sites = self._gate.policy.secrets[name].sites
            if not all(is_on(url, sites) or url.startswith("about:") for url in urls):
                return refuse(
                    f"it could carry the secret {name} to another site", f"secrets.{name}.sites"
                )
        return ALLOWED

    def _names_in(self, text: str) -> set[str]:
        """Return the secrets that a text names or carries."""
        return {*find_placeholders(text), *self.secrets.found_in(text)}

    async def _type_secret(self, action: act.Fill, tabs: Tabs) -> str:
        """Put a text with secrets into its field at once, so that no other field can catch it."""
        found = await tabs.active.ask_about(action.mark, "originsOf")
        if "error" in found:
            return str(found["error"])
        origins: Sequence[str] = found["origins"]
        for name in self._names_in(action.text):
            verdict = decide_secret(self._gate.policy, name, origins)
            if not verdict.is_allowed:
                return self._refuse(action, verdict)
        self._typed |= self._names_in(action.text)
        text = self.secrets.revealed(action.text)
        answer = await tabs.active.ask_about(action.mark, "typeSecret", text, origins)
        return str(answer.get("error", ""))

    async def _decide_crossing(self, request: Request) -> GuardVerdict:
        """Return whether the site takes the request from the page's, where a browser would ask."""
        question = PreflightRequest.of(request.url, request.method, request.headers)
        if question is None:
            return ALLOWED
        if question not in self._granted:
            inspector = inspector_with(self._gate.policy.authorities)
            self._granted[question] = await is_granted(question, self._dial, inspector)
        if self._granted[question]:
            return ALLOWED
        return refuse(f"{question.address.origin} does not take it from {question.origin}", "CORS")

    async def _judge(self, route: Route) -> None:
        request, frame = route.request, None
        with suppress(PlaywrightError):  # of a page that is only just being opened, or gone
            frame = request.frame
        is_probe = self._probe is not None and frame is not None and frame.page is self._probe
        policy = self._gate.reach if is_probe else self._gate.policy
        body = (request.post_data_buffer or b"")[:_SEARCHED].decode("utf-8", errors="replace")
        carried = "\n".join([*request.headers.values(), body])
        verdict = self._gate.request(request.url, request.method, carried, policy)
        is_navigation = request.is_navigation_request()
        if verdict.is_allowed and not is_navigation:
            verdict = await self._decide_crossing(request)
        with suppress(PlaywrightError):  # the page may be gone by now, and its request with it
            if verdict.is_allowed:
                await route.fallback()
                return
            what = f"{request.method} {request.url}"
            self._gate.note(what, verdict, "page")
            is_of_whole_tab = is_navigation and (frame is None or frame.parent_frame is None)
            if self._probe is None and is_of_whole_tab:
                self._gate.must_end(f"{what} was refused: {verdict.reason}")
            # A pop-up that goes nowhere is seen to have failed; any other page stays as it is.
            has_page = frame is not None and frame.url not in ("", "about:blank")
            await route.abort("aborted" if is_navigation and has_page else "blockedbyclient")


def browser_flags(guard: Guard) -> tuple[str, ...]:
    """Return what a browser must be started with to be held to this guard. Raises `SetupError`."""
    inspector = _inspector(guard)
    if inspector is None:
        return _FLAGS
    inspector.check()
    return (*_FLAGS, inspector.flag)


def _inspector(guard: Guard) -> TlsInspector | None:
    return inspector_with(guard.policy.authorities) if guard.policy.inspect_tls else None


def match_all_but(folders: Sequence[Path]) -> re.Pattern[str]:
    """Return a pattern of all addresses but plainly written ones of files in these folders, which
    the browser's driver lets pass by itself: a benchmark's page has a dozen of them."""
    own = "|".join(re.escape(f"{folder.as_uri()}/") for folder in folders)
    plain = r"(?![^?#]*\.\.)[\w./-]+(?:[?#]|$)"
    return re.compile(rf"^(?!(?:{own}){plain})" if folders else "")
