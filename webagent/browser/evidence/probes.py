"""What an episode leaves behind: captured evidence, and its probes, one after the other."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from typing import Any
from urllib.parse import quote, urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from tasks.task import Json, Probe, Task
from webagent.action import Action, format_action
from webagent.action import actions as act
from webagent.browser.devtools import DevTools
from webagent.browser.evidence.probe_page import ProbePage, Uncaptured, collect_pictures
from webagent.browser.page.clock import RealClock, VirtualClock
from webagent.browser.page.tab import Tab
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError

_SLOT = re.compile(r"\{([^{}]*)\}")
_LAST = "last_url"
_SCHEMES = ("http", "https", "file")


def fill_address(
    probe: Probe, last_url: str, found: Mapping[str, Json], names: Iterable[str]
) -> str:
    """Return the probe's address; `found` are the values of earlier probes, `names` those of all.

    What fills the beginning is an address and stays as it is; anywhere else it is a part of one and
    is percent-encoded whole, slashes included. Raises `Uncaptured`.
    """
    known = set(names)

    def fill(slot: re.Match[str]) -> str:
        name = slot[1]
        if name != _LAST and name not in known:
            return slot[0]
        value = last_url if name == _LAST else found.get(name)
        if name != _LAST and name not in found:
            raise Uncaptured(f"it needs the value of probe {name}, which was not captured")
        is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
        if name != _LAST and (not is_text or value == ""):
            raise Uncaptured(f"it needs a text from probe {name}, which found {str(value)[:80]!r}")
        return str(value) if slot.start() == 0 else quote(str(value), safe="")

    url = _SLOT.sub(fill, probe.url).strip()
    scheme = _scheme(url)
    if scheme not in _SCHEMES:
        raise Uncaptured(
            f"{url[:200]!r} is not the address of a page; expected http, https or file"
        )
    if scheme == "file" and _scheme(probe.url) != "file" and not probe.url.startswith("{last_url}"):
        raise Uncaptured(f"a page must not choose which file is opened, here {url[:200]!r}")
    return url


def list_own_addresses(probes: Iterable[Probe]) -> list[str]:
    """Return addresses whose server the probes themselves name, rather than a value from a page."""
    addresses = dict[str, None]()
    for probe in probes:
        head, *rest = _SLOT.split(probe.url)
        _, separator, after = head.partition("://")
        if separator and (not rest or "/" in after):  # else a slot may go on with its server
            addresses[head] = None
    return list(addresses)


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme.lower()
    except ValueError:
        return ""


_CLOSE_SECONDS = 2.0
_LOAD_SECONDS = 6.0
"""A page that loads for longer is stopped and taken as far as it has come."""
_NO_SUCH_PAGE = (404, 410)
"""These answers say what the task wants to know: that nothing is there."""


@asynccontextmanager
async def open_probe_page(
    tabs: Tabs, url: str, own_addresses: Iterable[str], init: str
) -> AsyncIterator[ProbePage]:
    """Yield the page at an address, in a tab that is closed afterwards; its time is the wall
    clock's.

    The guard lets the tab get to `list_own_addresses`' servers. Raises `Uncaptured` where the page
    cannot be opened, `WorldError` when it breaks.
    """
    page = await tabs.blank_page()
    try:
        guarding: AbstractContextManager[list[str]] = nullcontext([])
        if tabs.guard:
            guarding = tabs.guard.probing(page, own_addresses)
        with guarding as refusals:
            yield await _load(page, tabs.devtools, url, refusals, init)
    finally:
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await page.close()


async def _load(
    page: Page, devtools: DevTools | None, url: str, refusals: list[str], init: str
) -> ProbePage:
    """Open the address in the page by the wall clock. Raises `Uncaptured`."""
    clock = RealClock()
    tab = await Tab.open(page, clock.script + init, is_blank=True, devtools=devtools)
    await clock.follow(tab)
    frame = (await tab.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    statuses: list[int] = []

    def hear(event: dict[str, Any]) -> None:
        if event.get("type") == "Document" and event.get("frameId") == frame:
            statuses.append(event["response"]["status"])

    tab.on("Network.responseReceived", hear)
    failure = await tab.goto(url)
    if failure and refusals:
        raise Uncaptured(f"the guard refused {url}: {refusals[-1]}")
    if failure:
        raise Uncaptured(failure)
    with suppress(TimeoutError):
        async with asyncio.timeout(_LOAD_SECONDS):
            await clock.load(tab)
    if tab.loading:
        await tab.stop_loading()
    await clock.settle(tab, 0)
    if statuses and statuses[-1] >= 400 and statuses[-1] not in _NO_SUCH_PAGE:
        raise Uncaptured(f"{url} was answered with status {statuses[-1]}")
    return ProbePage(tab, stands_still=False)


PROBE_SECONDS = 15.0
ALL_SECONDS = 30.0
"""Half of what a world usually has for its evidence."""
_ALIVE_SECONDS = 3.0
_TAKES = ("value", "source", "pictures")


class ProbeRun:
    """One run through the probes of a task; what was found and what was not."""

    def __init__(
        self, task: Task, tabs: Tabs, keep_image: Callable[[bytes], str] | None = None
    ) -> None:
        self.found: dict[str, Json] = {}
        self.uncaptured: dict[str, Json] = {}
        """Name to reason."""
        self._task = task
        self._tabs = tabs
        self._keep_image = keep_image
        front = (tab for tab in (tabs.active, tabs.first) if not tab.is_closed)
        self._front = next(front, None)
        """The tab in front, else the first that is open."""
        self._visits = AsyncExitStack()
        self._visited: tuple[str, ProbePage] | None = None
        self._closed: dict[str, str] = {}

    async def run(self) -> None:
        """Run all probes within `ALL_SECONDS`. Raises `WorldError` when the browser is gone."""
        end = time.monotonic() + ALL_SECONDS
        async with self._visits:
            for probe in self._task.probes:
                seconds = min(PROBE_SECONDS, end - time.monotonic())
                try:
                    if seconds <= 0:
                        raise Uncaptured(f"earlier probes took all of {ALL_SECONDS:g} s")
                    async with asyncio.timeout(seconds):
                        self.found[probe.name] = await self._find(probe)
                except Uncaptured as reason:
                    self.uncaptured[probe.name] = str(reason)
                except TimeoutError:
                    self.uncaptured[probe.name] = f"no answer within {seconds:.3g} s"
                except WorldError as error:
                    try:
                        async with asyncio.timeout(_ALIVE_SECONDS):
                            await self._tabs.context.cookies("http://localhost")
                    except (PlaywrightError, TimeoutError) as gone:
                        raise error from gone
                    self.uncaptured[probe.name] = str(error)

    async def _find(self, probe: Probe) -> Json:
        if probe.takes not in _TAKES:
            raise Uncaptured(f"a probe takes {', '.join(_TAKES)}, found {probe.takes!r}")
        async with self._sight(probe) as sight:
            for script in probe.prepare:
                await sight.prepare(script)
                clock = self._tabs.clock if sight.stands_still else RealClock()
                await clock.settle(sight.tab, self._task.settle_ms)
            if probe.takes == "source":
                return await sight.source()
            if probe.takes == "value":
                return await sight.value(probe.script)
            if self._keep_image is None:
                raise Uncaptured("there is no store to keep pictures in")
            return await collect_pictures(sight, probe.script, self._keep_image)

    @asynccontextmanager
    async def _sight(self, probe: Probe) -> AsyncIterator[ProbePage]:
        """Yield the page of a probe, shared by probes of one address that do not prepare it."""
        if not probe.url:
            if self._front is None:
                raise Uncaptured("the agent left no tab open")
            await self._leave()
            notes = self._front.take_notes()
            try:
                async with self._front.dialogs.let_go():
                    yield ProbePage(self._front, isinstance(self._tabs.clock, VirtualClock))
            finally:
                self._front.notes = notes  # what a probe causes is not the outcome of an action
            return
        last = self._front.url if self._front else ""
        url = fill_address(probe, last, self.found, [each.name for each in self._task.probes])
        if self._visited is None or self._visited[0] != url or probe.prepare:
            await self._leave()
            if url in self._closed:
                raise Uncaptured(self._closed[url])
            self._closed[url] = f"{url} gave no answer to the probe before"
            opening = open_probe_page(
                self._tabs, url, list_own_addresses(self._task.probes), self._task.hooks.init
            )
            try:
                sight = await self._visits.enter_async_context(opening)
            except Uncaptured as reason:
                self._closed[url] = str(reason)
                raise
            del self._closed[url]
            self._visited = (url, sight)
        try:
            yield self._visited[1]
        except (Uncaptured, WorldError, TimeoutError, asyncio.CancelledError):
            self._visited = None
            raise
        if probe.prepare:
            await self._leave()

    async def _leave(self) -> None:
        self._visited = None
        await self._visits.aclose()


MOST_ELEMENTS = 1000
"""With more of them the record counts as incomplete."""
_AFTER_SECONDS = 1.0
_KEYS = (act.KeyboardType, act.KeyboardInsertText, act.KeyboardDown, act.KeyboardUp)
_SETTING = (
    *(act.Fill, act.Clear, act.SelectOption, act.SelectOptions),
    *(act.KeyboardType, act.KeyboardInsertText),
)
"""What gives an element another value and leaves its page in place."""


class ActedElements:
    """Notes of one episode; `look` before each action, `keep` what it was done to."""

    def __init__(self) -> None:
        self.entries: list[Json] = []
        """In order; see `make_entry` for what each holds."""
        self.missed = ""
        """Why the notes are incomplete; empty while they are not."""
        self._step = -1

    async def look(self, action: Action, tabs: Tabs) -> list[dict[str, Json]]:
        """Return the elements the action is meant for. Raises `WorldError`."""
        self._step += 1
        tab = tabs.active

        async def ask_about(mark: int) -> dict[str, Json] | None:
            facts = await tab.ask_about(mark, "acted")
            return facts if isinstance(facts, dict) and "error" not in facts else None

        found: list[dict[str, Json] | None] = []
        match action:
            case act.DragAndDrop(source=source, target=target):
                found = [await ask_about(source), await ask_about(target)]
            case act.MouseDrag(x=x, y=y, to_x=to_x, to_y=to_y):
                found = [await tab.ask("actedAt", *point) for point in ((x, y), (to_x, to_y))]
            case _ if mark := getattr(action, "mark", 0):
                found = [await ask_about(mark)]
            case _ if hasattr(action, "x") and hasattr(action, "y"):
                found = [await tab.ask("actedAt", action.x, action.y)]
            case _ if isinstance(action, (act.Press, *_KEYS)):
                found = [await tab.ask("actedInFocus")]
        name = format_action(action).partition("(")[0]
        url = tab.url
        return [make_entry(self._step, name, url, each) for each in found if each]

    def keep(self, entries: list[dict[str, Json]]) -> None:
        """Keep the entries of elements that the action was done to."""
        if len(self.entries) + len(entries) > MOST_ELEMENTS:
            self.missed = f"more than {MOST_ELEMENTS} elements were acted on"
        else:
            self.entries.extend(entries)

    async def keep_with_value(
        self, entries: list[dict[str, Json]], action: Action, tabs: Tabs
    ) -> None:
        """As `keep`; where the action set a value, that is noted beside the one before."""
        if entries and isinstance(action, _SETTING):
            entries[-1]["value_before"] = entries[-1]["value"]
            mark = getattr(action, "mark", 0)
            value: Json = None
            if not tabs.active.loading and not tabs.active.is_closed:
                with suppress(TimeoutError, WorldError):
                    async with asyncio.timeout(_AFTER_SECONDS):
                        value = await tabs.active.ask_about(mark, "actedValue")
            entries[-1]["value"] = value
        self.keep(entries)


def make_entry(step: int, action: str, url: str, facts: dict[str, Json]) -> dict[str, Json]:
    """Return one note: index of the step, name of the action, address of the page, and of the
    element `frame` (address of its own document, null in the page itself), `tag`, `selector`,
    `xpath`, `text`, `value`, `attributes` and `outline` (what lies around it, as HTML without
    texts)."""
    return {"step": step, "action": action, "url": url, **facts}


KNOWN_RECORDS = ("network", "elements")


async def capture_evidence(
    task: Task, tabs: Tabs, acted: ActedElements | None, keep_image: Callable[[bytes], str] | None
) -> dict[str, Json]:
    """Return the task's records and what its probes find, by name; under `uncaptured`, if anything
    is, why a name is not there. Raises `WorldError` when the browser is gone."""
    found: dict[str, Json] = {}
    uncaptured: dict[str, Json] = {}
    for name in task.records:
        try:
            found[name] = await _record(name, tabs, acted)
        except Uncaptured as reason:
            uncaptured[name] = str(reason)
    network = tabs.recording.network if tabs.recording else None
    if task.probes:
        probes = ProbeRun(task, tabs, keep_image)
        with network.paused() if network else nullcontext():
            await probes.run()
        found, uncaptured = found | probes.found, uncaptured | probes.uncaptured
    return {**found, "uncaptured": uncaptured} if uncaptured else found


async def _record(name: str, tabs: Tabs, acted: ActedElements | None) -> list[Json]:
    if name == "network" and tabs.recording and tabs.recording.network:
        log = tabs.recording.network
        events = await log.events(tabs.context)
        if log.missed:
            raise Uncaptured(f"the log is cut: {log.missed}")
        return events
    if name == "elements" and acted is not None:
        if acted.missed:
            raise Uncaptured(acted.missed)
        return list(acted.entries)
    if name in KNOWN_RECORDS:
        raise Uncaptured("it was not recorded: the task did not request it at its start")
    raise Uncaptured(f"a browser has no such record; it has {', '.join(KNOWN_RECORDS)}")
