"""The guard at work in a browser: what an episode's pages and actions cannot get around."""

import asyncio
import re
import socket
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from playwright.async_api import BrowserContext, Page, Request, Response, Route
from playwright.async_api import Error as PlaywrightError

from tasks.task import Json
from webagent.action import Action, format_action, is_final
from webagent.action import actions as act
from webagent.browser.enforcement.connections import Dialer, DirectDialer
from webagent.browser.enforcement.proxy import (
    GuardProxy,
    PreflightRequest,
    TlsInspector,
    inspector_with,
    is_granted,
)
from webagent.browser.page.connection import world_failures
from webagent.browser.perform import perform
from webagent.browser.tabs import Look, Tabs
from webagent.errors import GuardError, SetupError
from webagent.guard.address import SitePattern, parse_ip
from webagent.guard.decide import (
    ALLOWED,
    Guard,
    GuardRefusal,
    GuardVerdict,
    TransferTracker,
    decide_action,
    decide_download,
    decide_ip,
    decide_outcome,
    decide_press,
    decide_request,
    decide_secret,
    decide_server,
    decide_upload,
    elements_of,
    is_approved,
    is_on,
    refuse,
    texts_of,
    write_question,
)
from webagent.guard.policy import GuardPolicy, open_for_task
from webagent.guard.secret import find_placeholders
from webagent.guard.writes import (
    NOT_SENT,
    SENT_ALREADY,
    PendingWrite,
    SentWrite,
    WriteCheck,
    describe_writes,
    read_fields,
    write_question_about,
)
from webagent.records import Node, Observation

_KEPT = 200
_SAID = 3
_LONGEST = 200
_MOST_QUESTIONS = 3
"""Times that one action is asked about, where the page changes it meanwhile."""


class EpisodeGate:
    """The policy of one episode with the refusals so far. It opens nothing until `begin`."""

    def __init__(self, guard: Guard) -> None:
        self.policy = GuardPolicy()
        """The limits, with what the task names opened."""
        self.reach = self.policy
        """What the proxy holds connections to: the limits, while probes look with theirs opened."""
        self._refused_probes: list[str] | None = None
        self.step = 0
        self.typed: set[str] = set()
        """Secrets whose values pages were given."""
        self._guard = guard
        self._refusals: list[GuardRefusal] = []
        self._count = 0
        self._unreported: Counter[str] = Counter()
        self._final = ""

    def begin(self, start_url: str, site: str = "") -> GuardVerdict:
        """Open what the policy and the task name; return whether the task's own page is open.
        Rules on the `site` hold for the server of that page."""
        self.policy = self.reach = open_for_task(self._guard.policy, start_url, site)
        return decide_request(self.policy, start_url)

    def open_also(self, url: str) -> GuardVerdict:
        """Open one more page that the task names; return whether it is open then."""
        self.policy = self.reach = open_for_task(self.policy, url)
        return decide_request(self.policy, url)

    @contextmanager
    def probing(self, addresses: Iterable[str]) -> Iterator[list[str]]:
        """Meanwhile the proxy also reaches the servers of these addresses, each as a task's own.
        Refusals are listed apart: the agent has no part in them."""
        refusals: list[str] = []
        self._refused_probes = refusals
        for address in addresses:
            with suppress(SetupError):
                wider = open_for_task(self.reach, address)
                known = len(self.reach.sites)
                new = tuple(replace(rule, web_sockets=False) for rule in wider.sites[known:])
                self.reach = replace(wider, sites=(*wider.sites[:known], *new))
        try:
            yield refusals
        finally:
            self._refused_probes, self.reach = None, self.policy

    def request(
        self,
        url: str,
        method: str,
        text: str = "",
        body: bytes | None = b"",
        policy: GuardPolicy | None = None,
    ) -> GuardVerdict:
        """Return whether a request may pass, with its fields as text and its body; None stands for
        one that cannot be searched for secrets. It is held to `policy` where one is given, else to
        what the proxy reaches."""
        verdict = decide_request(policy or self.reach, url, method)
        if verdict.is_allowed:
            verdict = self._decide_strict(lambda site: is_on(url, (site,)))
        if not verdict.is_allowed:
            return verdict
        verdict = self._decide_carried(url, self._guard.secrets.found_in(f"{url}\n{text}"))
        if verdict.is_allowed and (body or (body is None and self.typed)):
            return self.message(url, body)
        return verdict

    def message(self, url: str, body: bytes | None) -> GuardVerdict:
        """Return whether this may be sent there; None stands for what cannot be searched."""
        verdict = self._decide_strict(lambda site: is_on(url, (site,)))
        if not verdict.is_allowed:
            return verdict
        if body is not None:
            return self._decide_carried(url, self._guard.secrets.found_in_bytes(body))
        if self.policy.unsearchable == "allow" or not self.is_searched(url):
            return ALLOWED
        return refuse("it cannot be searched for secrets", "unsearchable")

    def is_searched(self, url: str) -> bool:
        """Return whether there are secrets that must not go to this address."""
        return any(not is_on(url, secret.sites) for secret in self.policy.secrets.values())

    def _decide_carried(self, url: str, names: Iterable[str]) -> GuardVerdict:
        for name in names:
            if not is_on(url, self.policy.secrets[name].sites):
                rule = f"secrets.{name}.sites"
                return refuse(f"it carries the secret {name} to another site", rule)
        return ALLOWED

    def server(self, host: str, port: int, schemes: tuple[str, ...]) -> GuardVerdict:
        """Return whether a connection may be made of which only host and port can be read."""
        verdict = self._decide_strict(lambda site: site.has_host(host, port, schemes))
        return decide_server(self.reach, host, port, schemes) if verdict.is_allowed else verdict

    def _decide_strict(self, is_site: Callable[[SitePattern], bool]) -> GuardVerdict:
        """Return whether what is reached belongs to the site of every strict secret so far."""
        for name in self.typed:
            secret = self.policy.secrets[name]
            if secret.strict and not any(map(is_site, secret.sites)):
                return refuse(f"it is another site than the typed secret {name}'s", "strict")
        return ALLOWED

    def ip(self, host: str, port: int, ip: str) -> GuardVerdict:
        """Return whether the host may be reached at this address and port."""
        address = parse_ip(ip)
        if address is None:
            return refuse(f"{host} has no IP address", "addresses")
        return decide_ip(self.reach, host, port, address)

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return IP addresses of a host, the policy's own first. Raises `OSError`."""
        if host in self.policy.hosts:
            return [self.policy.hosts[host]]
        if self._guard.resolve is not None:
            return await self._guard.resolve(host, port)
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))

    def note(self, what: str, verdict: GuardVerdict, where: str = "proxy") -> None:
        """Keep a refusal, and say it with the next observation."""
        reason = self._guard.secrets.masked(verdict.reason)
        if self._refused_probes is not None:
            self._refused_probes.append(reason)
            return
        self.keep(what, verdict, where)
        self._unreported[reason] += 1

    def keep(self, what: str, verdict: GuardVerdict, where: str) -> None:
        """Keep a refusal that is said elsewhere."""
        self._count += 1
        if len(self._refusals) < _KEPT:
            masked = self._guard.secrets.masked
            what, reason = masked(what)[:_LONGEST], masked(verdict.reason)[:_LONGEST]
            self._refusals.append(GuardRefusal(what, reason, verdict.rule, where, self.step))

    def must_end(self, reason: str) -> None:
        """End the episode with the next observation, where the policy wants that."""
        if self.policy.on_refusal == "end":
            self._final = self._guard.secrets.masked(reason)

    def take_notes(self) -> list[str]:
        """Return what was refused since the last call. Raises `GuardError` to end the episode."""
        final, self._final = self._final, ""
        unreported, self._unreported = self._unreported, Counter()
        if final:
            raise GuardError(final)
        notes = [
            f"refused: {reason}" if count == 1 else f"refused {count} requests: {reason}"
            for reason, count in sorted(unreported.items())
        ]
        more = len(notes) - _SAID
        return notes if more <= 0 else [*notes[:_SAID], f"{more} more refusals"]

    def evidence(self) -> Mapping[str, Json]:
        """Return, for the evidence, how many refusals, and what the first of them were."""
        return {
            "refused": self._count,
            "refusals": [refusal.to_json() for refusal in self._refusals],
        }


_PRESSING = re.compile(r"enter|return|space$|spacebar| $", re.IGNORECASE)
"""Keys that press what has the focus."""
CONFIRM = "confirm"
"""The rule of what is held back because nobody approved of it."""
_SEARCHED = 1_000_000
"""Bytes of a body that is searched for secrets."""
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
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

    def __init__(self, guard: Guard, dial: Dialer | None, insecure: Collection[str]) -> None:
        self._guard = guard
        self._insecure = insecure
        self.secrets = guard.secrets
        self._gate = EpisodeGate(guard)
        self._dial = dial or DirectDialer(self._gate)
        self._proxy = GuardProxy(self._gate, self._dial, _inspector(guard), insecure)
        self._granted: dict[PreflightRequest, bool] = {}
        self._start = ALLOWED
        self._transfers = TransferTracker()
        self._probe: Page | None = None
        self._violations = 0
        self._check = WriteCheck()
        self._sent: dict[Request, SentWrite] = {}
        self.context_options: dict[str, Any] = {}
        """For `new_context`: every request of the context goes through our proxy."""

    @classmethod
    async def open(
        cls, guard: Guard, dial: Dialer | None = None, insecure: Collection[str] = ()
    ) -> "Enforcer":
        """Return a guard whose proxy listens, by `dial` or directly; close it after the context.
        Certificates of `insecure` hosts are not checked."""
        enforcer = cls(guard, dial, insecure)
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

        def note_answer(response: Response) -> None:
            if response.request in self._sent:
                self._sent[response.request].status = response.status

        context.on("response", note_answer)

    def begin(self, start_url: str, site: str = "") -> bool:
        """Apply the task's limits; return whether its first page may be opened at all."""
        self._start = self._gate.begin(start_url, site)
        return self._start.is_allowed

    def check_start(self) -> None:
        """Raise `GuardError` where the task's first page is not open."""
        if not self._start.is_allowed:
            raise GuardError(f"the guard blocks the task's own page: {self._start.reason}")

    def open_further(self, url: str) -> None:
        """Open another start page to the task. Raises `GuardError` where the policy closes it."""
        verdict = self._gate.open_also(url)
        if not verdict.is_allowed:
            raise GuardError(f"the guard blocks a further start page: {verdict.reason}")

    async def perform(
        self, action: Action, tabs: Tabs, seen: Observation, look: Look | None = None
    ) -> str:
        """Do the action, or return the reason why it may not be done. Raises `GuardError`."""
        self._gate.step += 1
        self._check.note(action, seen)
        for each in self._sent.values():
            each.landed = each.landed or seen.url
        action, verdict = await self._decide(action, tabs, seen, look)
        if not verdict.is_allowed:
            return self._refuse(action, verdict)
        if isinstance(action, act.Fill) and self._names_in(action.text):
            found = await tabs.active.ask_about(action.mark, "originsOf")
            if "error" in found:
                return str(found["error"])
            origins: Sequence[str] = found["origins"]
            for name in self._names_in(action.text):
                verdict = decide_secret(self._gate.policy, name, origins)
                if not verdict.is_allowed:
                    return self._refuse(action, verdict)
            self._gate.typed |= self._names_in(action.text)
            text = self.secrets.revealed(action.text)
            answer = await tabs.active.ask_about(action.mark, "typeSecret", text, origins)
            return str(answer.get("error", ""))
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

    def sent_writes(self) -> list[SentWrite]:
        """Return what pages sent that may have changed something, where that is confirmed."""
        return list(self._sent.values())

    def evidence(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """Return the episode's evidence without secrets, and under `guard` what was refused, and
        where changes are confirmed what was sent."""
        found: dict[str, Json] = {**self._gate.evidence()}
        if self._gate.policy.confirm != "off":
            found |= describe_writes(self.sent_writes(), self._check.list_unused())
        masked = self.secrets.masked_json({**values, "guard": found})
        return cast(dict[str, Json], masked)

    async def _decide(
        self, action: Action, tabs: Tabs, seen: Observation, look: Look | None
    ) -> tuple[Action, GuardVerdict]:
        """Return the action as it would be done, and whether it may be."""
        policy = self._gate.policy
        verdict = decide_action(policy, action, seen)
        if policy.actions and (node := await _find_pressed(action, tabs, seen)):
            verdict = decide_press(policy, verdict, seen.url, node)
        if verdict.outcome == "ask":
            verdict = await self._ask(action, seen, verdict, look)
        if verdict.is_allowed:
            action, verdict = self._decide_files(action)
        if self._transfers.may_carry(action) and verdict.is_allowed:
            urls = [frame.url for frame in tabs.active.page.frames]
            for name in self._gate.typed:
                sites = policy.secrets[name].sites
                if not all(is_on(url, sites) or url.startswith("about:") for url in urls):
                    reason = f"it could carry the secret {name} to another site"
                    verdict = refuse(reason, f"secrets.{name}.sites")
        if verdict.is_allowed and not (isinstance(action, act.Fill) or is_final(action)):
            # Values of secrets are typed by fill only, wherever the agent has them from.
            names = (name for text in texts_of(action) for name in self.secrets.found_in(text))
            if name := next(names, ""):
                verdict = refuse(f"it carries the secret {name}", "secrets")
        return action, verdict

    async def _ask(
        self, action: Action, seen: Observation, verdict: GuardVerdict, look: Look | None
    ) -> GuardVerdict:
        """Return what a person says of an action, who is asked anew where the page has changed
        meanwhile what was asked about."""
        policy, rule = self._gate.policy, verdict.rule

        def describe(page: Observation) -> tuple[object, ...]:
            reached = elements_of(action, page)
            return page.url, [(n.mark, n.role, n.name, n.value, n.kind) for n in reached]

        for _ in range(_MOST_QUESTIONS):
            question = write_question(action, seen, verdict.reason)
            if not await is_approved(self._guard.approver, question, policy.ask_seconds):
                return refuse(f"nobody approved of it ({verdict.reason})", rule)
            now = await look() if look else seen
            if describe(seen) == describe(now):
                return ALLOWED
            seen, verdict = now, decide_action(policy, action, now)
            if verdict.outcome != "ask":
                return verdict
        return refuse("the page changes whenever it is asked about", rule)

    def _refuse(self, action: Action, verdict: GuardVerdict) -> str:
        self._gate.keep(format_action(action), verdict, "action")
        self._end_if_too_many()
        message = f"refused: {verdict.reason}"
        if self._gate.policy.on_refusal == "end":
            raise GuardError(self.secrets.masked(f"{format_action(action)} was {message}"))
        return message

    def _end_if_too_many(self) -> None:
        """Count a violation of the agent's. Raises `GuardError` beyond the policy's bound."""
        self._violations += 1
        most = self._gate.policy.max_refusals
        if most is not None and self._violations > most:
            raise GuardError(
                f"{self._violations} actions were refused or broke a contract, and the policy's"
                f" max_refusals is {most}"
            )

    def check_outcome(self, action: Action, seen: Observation, led_to: Observation) -> str:
        """Return which contracts an action that was done has broken; empty for none. Raises
        `GuardError` where that ends the episode."""
        broken = decide_outcome(self._gate.policy, action, seen, led_to)
        for verdict in broken:
            self._gate.keep(format_action(action), verdict, "action")
            self._end_if_too_many()
        message = "; ".join(f"broke a contract: {verdict.reason}" for verdict in broken)
        if broken and self._gate.policy.on_refusal == "end":
            raise GuardError(self.secrets.masked(f"{format_action(action)} {message}"))
        return message

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

    def _names_in(self, text: str) -> set[str]:
        """Return the secrets that a text names or carries."""
        return {*find_placeholders(text), *self.secrets.found_in(text)}

    async def _decide_crossing(self, request: Request) -> GuardVerdict:
        """Return whether the site takes the request from the page's, where a browser would ask."""
        question = PreflightRequest.of(request.url, request.method, request.headers)
        if question is None:
            return ALLOWED
        if question not in self._granted:
            inspector = inspector_with(self._gate.policy.authorities)
            self._granted[question] = await is_granted(
                question, self._dial, inspector, self._insecure
            )
        if self._granted[question]:
            return ALLOWED
        return refuse(f"{question.address.origin} does not take it from {question.origin}", "CORS")

    async def _confirm(self, request: Request, body: bytes | None) -> GuardVerdict:
        """Return whether a request that may change something is sent: it fits the goal, or a person
        says so."""
        policy = self._gate.policy
        if policy.confirm == "off" or not self._gate.step:
            return ALLOWED
        fields = read_fields(body, request.headers.get("content-type", ""))
        write = PendingWrite(request.method, request.url, fields)
        entries = tuple(self._check.sent_entries(write))
        reason = self._check.object_to(write)
        sent = SentWrite(self._gate.step, write, entries, self._check.page)
        if ((entries and fields) or request.is_navigation_request()) and any(
            (each.step, each.write) == (sent.step, write) for each in self._sent.values()
        ):
            reason = SENT_ALREADY
        if reason or policy.confirm == "all":
            question = write_question_about(write, reason)
            if not await is_approved(self._guard.approver, question, policy.ask_seconds):
                return refuse(f"{NOT_SENT}: {reason or 'nobody approved of it'}", CONFIRM)
        self._sent[request] = sent
        if self._guard.on_write:
            self._guard.on_write(request.method, request.url)
        return ALLOWED

    async def _judge(self, route: Route) -> None:
        request, frame = route.request, None
        with suppress(PlaywrightError):  # of a page that is only just being opened, or gone
            frame = request.frame
        is_probe = self._probe is not None and frame is not None and frame.page is self._probe
        policy = self._gate.reach if is_probe else self._gate.policy
        body = request.post_data_buffer
        if body is None and (
            request.method in _WITHOUT_BODY
            or (self._guard.policy.inspect_tls or not request.url.startswith("https:"))
        ):
            body = b""
        if body and (len(body) > _SEARCHED or "content-encoding" in request.headers):
            body = None
        fields = "\n".join(request.headers.values())
        verdict = self._gate.request(request.url, request.method, fields, body, policy)
        is_navigation = request.is_navigation_request()
        if verdict.is_allowed and not is_navigation:
            verdict = await self._decide_crossing(request)
        if verdict.is_allowed and request.method not in _WITHOUT_BODY and not is_probe:
            verdict = await self._confirm(request, body)
        with suppress(PlaywrightError):  # the page may be gone by now, and its request with it
            if verdict.is_allowed:
                await route.fallback()
                return
            what = f"{request.method} {request.url}"
            # What was held back the agent itself had filled in.
            self._gate.note(what, verdict, "action" if verdict.rule == CONFIRM else "page")
            is_of_whole_tab = is_navigation and (frame is None or frame.parent_frame is None)
            if self._probe is None and is_of_whole_tab:
                self._gate.must_end(f"{what} was refused: {verdict.reason}")
            # A pop-up that goes nowhere is seen to have failed; any other page stays as it is.
            has_page = frame is not None and frame.url not in ("", "about:blank")
            await route.abort("aborted" if is_navigation and has_page else "blockedbyclient")


async def _find_pressed(action: Action, tabs: Tabs, seen: Observation) -> Node | None:
    """Return what an action presses that it does not name: the button that sends a form, by Enter
    in one of its fields; the control whose label lies at the point."""
    match action:
        case act.Press(key=key) | act.KeyboardDown(key=key) if pressing := _PRESSING.search(key):
            mark = getattr(action, "mark", 0) or seen.focus
            is_enter = pressing[0].lower() in ("enter", "return")
            found = await tabs.active.ask_about(mark, "pressedWith", None, is_enter)
        case act.KeyboardType(text=text) if "\n" in text or "\r" in text:
            found = await tabs.active.ask_about(seen.focus, "pressedWith", None, True)
        case act.MouseClick(x=x, y=y) | act.MouseDoubleClick(x=x, y=y) | act.MouseDown(x=x, y=y):
            found = await tabs.active.ask("pressedWith", 0, [x, y])
        case _:
            return None
    if not found or "error" in found:
        return None
    return Node(0, found["role"], found["name"], found["value"], kind=found["kind"])


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
