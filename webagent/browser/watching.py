"""Watching a person use the browser: what they saw, and what they did about it."""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_hex
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from webagent.browser.devtools import ProtocolSession
from webagent.browser.page.connection import ISOLATED_WORLD, describe_dialog, world_failures
from webagent.browser.page.tab import Tab
from webagent.browser.world import BrowserWorld, observe_dialog
from webagent.errors import WorldError
from webagent.observation import read_view
from webagent.records import Observation
from webagent.timing import Background

__all__ = ["SessionWatch", "UserEvent"]


@dataclass(frozen=True, slots=True)
class UserEvent:
    """A part of what a person does: several of them may make up one action."""

    what: str
    """In a document: `down`, `up`, `double`, `dropped`, `key`, `typing` (about to), `typed`,
    `chosen`, `ticked`, `files`, `scrolled`. In the browser: `dialog` (answered), `went` (to an
    address), `back`, `forward`, `tab` (another one came to the front), `opened`, `closed`."""
    seen: Observation
    """What the person had before them, as far as it is known."""
    is_fresh: bool = True
    """Whether that is how it was just then; else it is from before what was done last."""
    mark: int = 0
    """Of the element that was meant; 0 where it has none."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Particulars, by the names in user_events.js; of a `dialog` `accepted` and `text`, of `went`
    the `url`, of `tab` the `index`, of `files` their `paths`."""
    rested: Observation | None = None
    """The page as it had come to rest after what was done before, where `seen` is later."""


_BINDING = f"webagent{token_hex(8)}"
"""Only our own world can call it; a page that knew its name could not either."""

BY_PAGE_SECONDS = 0.7
"""A page that goes somewhere so soon after an event in it goes because of that event."""
REST_SECONDS = 0.12
"""How long nothing must have happened before the page is looked at."""
_COMMITTED_SECONDS = 5.0
_HISTORY_SECONDS = 0.2
_HISTORY_TRIES = 5
_ROUND_SECONDS = 10.0
"""The page is looked at again so often although nothing happened: it may change by itself."""
_CLOSING_SECONDS = 0.3
"""A window that is closed closes its pages one after the other, within so long."""
_MOST_FAILURES = 3
_BEGINNINGS = ("down", "key", "typing")
"""Events that come with the page as it was before them."""


async def listen_to(tab: Tab, handle: Callable[[str, Mapping[str, Any]], None]) -> None:
    """Call `handle` with each event that a person causes in a document of the tab, and its details.

    The details are those of user_events.js, with `mark` as the episode has it. The browser's own
    windows, for files and for drags, open for the person again. Raises `WorldError`.
    """

    async def follow(session: ProtocolSession) -> None:
        def receive(event: Mapping[str, Any]) -> None:
            if event["name"] != _BINDING:
                return
            context, details = event["executionContextId"], json.loads(event["payload"])
            if "mark" in details:
                details["mark"] = tab.mark_in(session, context, details["mark"])
            hovered = [tab.mark_in(session, context, each) for each in details.get("hovered", ())]
            details |= {"hovered": hovered, "session": session, "context": context}
            handle(details.pop("what"), details)

        session.on("Runtime.bindingCalled", receive)
        named = {"name": _BINDING, "executionContextName": ISOLATED_WORLD}
        await session.send("Runtime.addBinding", named)
        begin = {
            "source": f"webagent.reportUserEvents({json.dumps(_BINDING)})",
            "worldName": ISOLATED_WORLD,
            "runImmediately": True,
        }
        await session.send("Page.addScriptToEvaluateOnNewDocument", begin)

    await tab.send("Input.setInterceptDrags", enabled=False)
    await tab.send("Page.setInterceptFileChooserDialog", enabled=False)
    async with world_failures():
        await tab.follow_sessions(follow)


async def read_file_paths(context: int, session: ProtocolSession, key: int) -> list[str]:
    """Return where the files lie that were put into a field; none once its document is gone."""
    wanted = {"expression": f"webagent.chosenFiles({key})", "contextId": context}
    paths = []
    with suppress(PlaywrightError):
        listed = (await session.send("Runtime.evaluate", wanted))["result"]["objectId"]
        shown = {"objectId": listed, "ownProperties": True}
        for each in (await session.send("Runtime.getProperties", shown))["result"]:
            if each["name"].isdigit():
                file = {"objectId": each["value"]["objectId"]}
                paths.append(str((await session.send("DOM.getFileInfo", file))["path"]))
    return paths


class NavigationWatch:
    """The navigations of one tab by a person: addresses typed, back and forward, reloads."""

    def __init__(
        self, tab: Tab, report: Callable[[str, str], None], last_event: Callable[[], float]
    ) -> None:
        """`report` is called with `went`, `back` or `forward` and the address; `last_event` returns
        when something last happened in a page, by the monotonic clock."""
        self._tab = tab
        self._report = report
        self._last_event = last_event
        self._is_asked_by_page = False
        self._is_compared = False
        self._place = 0
        self._background = Background()
        self._committed = asyncio.Event()
        """Set and replaced whenever the tab has come to another page or place."""

        def note_request(event: dict[str, Any]) -> None:
            if event["frameId"] == tab.frame:
                self._is_asked_by_page = True

        tab.on("Page.frameRequestedNavigation", note_request)
        tab.on("Page.frameStartedNavigating", self._note_start)
        tab.on("Page.frameNavigated", lambda event: self._note_arrival(event["frame"]["id"]))
        tab.on("Page.navigatedWithinDocument", lambda event: self._note_arrival(event["frameId"]))

    async def begin(self) -> None:
        """Read where in its history the tab is. Raises `WorldError`."""
        self._place = (await self._tab.send("Page.getNavigationHistory"))["currentIndex"]

    def _note_start(self, event: dict[str, Any]) -> None:
        if event["frameId"] != self._tab.frame:
            return
        is_by_page, self._is_asked_by_page = self._is_asked_by_page, False
        kind = event.get("navigationType", "")
        is_so_soon = time.monotonic() - self._last_event() < BY_PAGE_SECONDS
        if kind == "sameDocument" or is_by_page or is_so_soon:
            return
        if kind.startswith("history"):
            self._background.start(self._report_history(event["url"], self._committed))
        else:
            self._report("went", event["url"])

    def _note_arrival(self, frame: str) -> None:
        """Read the new place in the history, unless a comparison is about to read it."""
        if frame == self._tab.frame:
            committed, self._committed = self._committed, asyncio.Event()
            committed.set()
            if not self._is_compared:
                self._background.start(self._read_place())

    async def _report_history(self, url: str, committed: asyncio.Event) -> None:
        before, self._is_compared = self._place, True
        with suppress(TimeoutError):
            async with asyncio.timeout(_COMMITTED_SECONDS):
                await committed.wait()
        self._is_compared = False
        await self._read_place()
        self._report({-1: "back", 1: "forward"}.get(self._place - before, "went"), url)

    async def _read_place(self) -> None:
        """Ask again where the browser refuses, as while one page gives way to another."""
        for _ in range(_HISTORY_TRIES):
            with suppress(WorldError, TimeoutError):
                async with asyncio.timeout(_HISTORY_SECONDS):
                    return await self.begin()
            await asyncio.sleep(_HISTORY_SECONDS / 4)


class SessionWatch:
    """One person at the pages of one world, from a first look until all pages are closed."""

    def __init__(
        self, world: BrowserWorld, first: Observation, handle: Callable[[UserEvent], None]
    ) -> None:
        self.seen = first
        """The page as it was last looked at."""
        self.ended = asyncio.Event()
        """Set once there is no page left, or the browser is gone."""
        self.is_resting = asyncio.Event()
        """Set while the page has been looked at since the last event."""
        self._world = world
        self._tabs = world.tabs()
        self._handle = handle
        self._rested = first
        self._is_stale = False
        self._events = 0
        self._event_at = 0.0
        self._in_page_at = 0.0
        """When something was last done in a page, not by the browser's own means."""
        self._changed = asyncio.Event()
        self._watched: dict[Tab, NavigationWatch] = {}
        self._pages: set[Page] = set()
        self._work: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """Report what is done in the pages from here on."""
        context = self._tabs.context

        def handle_page_opened(page: Page) -> None:
            async def report(event: UserEvent) -> None:
                with suppress(PlaywrightError):
                    if await page.opener() is None:
                        self._report(event)

            if not self._is_by_page():
                self._start(report(UserEvent("opened", self.seen, not self._is_stale)))
            self._note_event()

        context.on("page", handle_page_opened)
        context.on("close", lambda _: self._end())
        await self._tabs.hold_dialogs()
        await self._watch_new_tabs()

    async def run(self) -> None:
        """Watch until the end. Raises `WorldError` where the browser fails before it."""
        looking = asyncio.ensure_future(self._keep_looking())
        ending = asyncio.ensure_future(self.ended.wait())
        try:
            await asyncio.wait({looking, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not self.ended.is_set():
                await asyncio.sleep(_CLOSING_SECONDS)
            if not self.ended.is_set():
                looking.result()
        finally:
            for task in (looking, ending, *self._work):
                task.cancel()
            with suppress(asyncio.CancelledError, WorldError):
                await looking

    async def _keep_looking(self) -> None:
        while True:
            await self._watch_new_tabs()
            self._changed.clear()
            events = self._events
            seen = None
            for _ in range(_MOST_FAILURES - 1):  # the browser may fail once
                with suppress(WorldError):
                    seen = await self._world.look()
                    break
                await asyncio.sleep(REST_SECONDS)
            seen = seen or await self._world.look()
            await self._watch_new_tabs()
            if events == self._events:
                before, self.seen = self.seen, seen
                if self._is_stale:
                    if not seen.outcome and replace(seen, outcome=before.outcome) == before:
                        self.seen = replace(seen, outcome="no effect")
                    self._rested = self.seen
                self._is_stale = False
                if not self._changed.is_set():
                    self.is_resting.set()
            if not self._changed.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(_ROUND_SECONDS):
                        await self._changed.wait()
            while time.monotonic() - self._event_at < REST_SECONDS:
                await asyncio.sleep(REST_SECONDS - (time.monotonic() - self._event_at) + 0.001)

    async def _watch_new_tabs(self) -> None:
        def report_dialog(event: dict[str, Any]) -> None:
            default = event.get("defaultPrompt", "")
            dialog = describe_dialog(event["type"], event["message"], default)
            self._note_event(observe_dialog(self.seen, dialog))
            self._is_stale = False

        def report_answer(event: dict[str, Any]) -> None:
            details = {"accepted": bool(event["result"]), "text": str(event.get("userInput", ""))}
            self._report(UserEvent("dialog", self.seen, details=details))
            self._note_event()

        def report_navigation(tab: Tab, what: str, url: str) -> None:
            if not url.startswith(("chrome:", "about:")):
                self._come_to_front(tab)
                self._report(UserEvent(what, self.seen, not self._is_stale, details={"url": url}))
                self._note_event()

        for tab in self._tabs.all:
            if tab not in self._watched:
                self._watched[tab] = navigations = NavigationWatch(
                    tab, partial(report_navigation, tab), lambda: self._in_page_at
                )
                tab.on("Page.javascriptDialogOpening", report_dialog)
                tab.on("Page.javascriptDialogClosed", report_answer)
                self._pages.add(tab.page)
                tab.page.on("close", self._handle_page_closed)
                with suppress(WorldError):
                    await listen_to(tab, partial(self._handle_document_event, tab))
                    await navigations.begin()

    def _handle_document_event(self, tab: Tab, what: str, details: Mapping[str, Any]) -> None:
        async def report_files(event: UserEvent) -> None:
            found = event.details
            paths = await read_file_paths(found["context"], found["session"], found["key"])
            self._report(replace(event, details={**found, "paths": paths}))

        if what == "changed":
            self._note_change()
            return
        self._come_to_front(tab)
        page, seen, is_fresh = details.get("page"), self.seen, not self._is_stale
        if isinstance(page, str):
            # What a document has shown of itself since the last observation.
            view, known = read_view(page), self.seen
            is_same, front = view.url == known.url, known.active_tab
            titles = (view.title if i == front else title for i, title in enumerate(known.tabs))
            seen = replace(
                known,
                url=view.url,
                title=view.title,
                nodes=view.nodes,
                tabs=tuple(titles),
                focus=view.focus,
                scroll=view.scroll,
                outcome="" if self._is_stale else known.outcome,
                screenshot=known.screenshot if is_same else "",
                captured=known.captured if is_same else "",
            )
            is_fresh = True
        facts = {name: value for name, value in details.items() if name != "page"}
        mark = int(details.get("mark", 0))
        if what == "files":
            self._start(report_files(UserEvent(what, seen, is_fresh, mark, facts)))
        else:
            rested = self._rested if seen is not self._rested else None
            self._report(UserEvent(what, seen, is_fresh, mark, facts, rested))
        self._note_event(seen if what in _BEGINNINGS else None)
        self._in_page_at = self._event_at

    def _come_to_front(self, tab: Tab) -> None:
        if tab is self._tabs.active or tab not in self._tabs.all:
            return

        async def focus() -> None:
            with suppress(WorldError):
                await self._tabs.focus(index)

        index = self._tabs.all.index(tab)
        self._report(UserEvent("tab", self.seen, not self._is_stale, details={"index": index}))
        self._start(focus())
        self._note_event(replace(self.seen, active_tab=index, nodes=(), focus=0, screenshot=""))

    def _is_by_page(self) -> bool:
        """Return whether what happens now comes of something that was done in a page."""
        return time.monotonic() - self._in_page_at < BY_PAGE_SECONDS

    def _handle_page_closed(self, page: Page) -> None:
        """Report a page that was closed by hand; the last one, or several at once, are the end."""

        async def report(index: int, active: int, seen: Observation) -> None:
            await asyncio.sleep(_CLOSING_SECONDS)
            if all(each.is_closed() for each in self._pages):
                self._end()
                return
            if index != active:
                self._report(UserEvent("tab", seen, details={"index": index}))
            self._report(UserEvent("closed", seen))
            self._note_event()

        if self.ended.is_set():
            return
        places = [tab.page for tab in self._tabs.all]
        if all(each.is_closed() for each in self._pages):
            self._end()
        elif page in places and not self._is_by_page():
            self._start(report(places.index(page), self._tabs.active_index, self.seen))
        else:
            self._note_event()

    def _report(self, event: UserEvent) -> None:
        if not self.ended.is_set():
            self._handle(event)

    def _note_event(self, seen: Observation | None = None) -> None:
        """Note that something was done; `seen` is what the person saw then, if that is news."""
        if seen is not None:
            self.seen = seen
        self._events += 1
        self._event_at = time.monotonic()
        self._is_stale = True
        self._note_change()

    def _note_change(self) -> None:
        self.is_resting.clear()
        self._changed.set()

    def _end(self) -> None:
        self.ended.set()
        self._note_change()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)
