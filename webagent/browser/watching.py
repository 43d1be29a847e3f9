"""Watching a person use the browser: what they saw, and what they did about it."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from webagent.browser.page.connection import describe_dialog, world_failures
from webagent.browser.page.scripts import ISOLATED_WORLD
from webagent.browser.page.tab import Tab
from webagent.browser.world import BrowserWorld, observe_dialog
from webagent.errors import WorldError
from webagent.observation import PageView, read_view
from webagent.records import Observation

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
    said: Mapping[str, Any] = field(default_factory=dict)
    """Particulars, by the names in witness.js; of a `dialog` `accepted` and `text`, of `went` the
    `url`, of `tab` the `index`, of `files` their `paths`."""
    rested: Observation | None = None
    """The page as it had come to rest after what was done before, where `seen` is later."""


Hear = Callable[[str, Mapping[str, Any]], None]
"""Told what was done, and its particulars: those of witness.js, `mark` as the episode has it."""

_BINDING = f"webagent{token_hex(8)}"
"""Only our own world can call it; a page that knew its name could not either."""


async def listen_to(tab: Tab, hear: Hear) -> None:
    """From here on `hear` is told of what is done by hand in the tab, in whatever document.

    The browser's own windows, for files and for drags, go to the person again. Raises `WorldError`.
    """

    async def follow(session: CDPSession) -> None:
        session.on("Runtime.bindingCalled", lambda event: _called(tab, session, event, hear))
        named = {"name": _BINDING, "executionContextName": ISOLATED_WORLD}
        await session.send("Runtime.addBinding", named)
        begin = {
            "source": f"webagent.witness({json.dumps(_BINDING)})",
            "worldName": ISOLATED_WORLD,
            "runImmediately": True,
        }
        await session.send("Page.addScriptToEvaluateOnNewDocument", begin)

    await tab.send("Input.setInterceptDrags", enabled=False)
    await tab.send("Page.setInterceptFileChooserDialog", enabled=False)
    async with world_failures():
        await tab.follow_sessions(follow)


async def read_file_paths(tab: Tab, context: int, session: CDPSession, key: int) -> list[str]:
    """Where the files lie that were put into a field; none once its document is gone."""
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


def _called(tab: Tab, session: CDPSession, event: Mapping[str, Any], hear: Hear) -> None:
    if event["name"] != _BINDING:
        return
    context = event["executionContextId"]
    said = json.loads(event["payload"])
    marks = {name: tab.mark_in(session, context, said[name]) for name in ("mark",) if name in said}
    hovered = [tab.mark_in(session, context, each) for each in said.get("hovered", ())]
    where = {"session": session, "context": context}
    hear(said.pop("what"), {**said, **marks, "hovered": hovered, **where})


BY_PAGE_SECONDS = 0.7
"""A page that goes somewhere so soon after something was done in it goes because of that."""
_COMMITTED_SECONDS = 5.0
_LEARNT_SECONDS = 0.2
_TRIES = 5

Gone = Callable[[str, str], None]
"""Told `went` with the address, `back` or `forward`."""


class NavigationWatch:
    """The way of one tab: addresses typed, pages gone back and forward, pages loaded anew."""

    def __init__(self, tab: Tab, gone: Gone, last_deed: Callable[[], float]) -> None:
        """`last_deed` says when something was last done in a page, by the monotonic clock."""
        self._tab = tab
        self._gone = gone
        self._last_deed = last_deed
        self._is_asked_by_page = False
        self._is_compared = False
        self._place = 0
        self._work: set[asyncio.Task[None]] = set()
        self._committed = asyncio.Event()
        """Set and replaced whenever the tab has come to another page or place."""
        tab.on("Page.frameRequestedNavigation", self._requested)
        tab.on("Page.frameStartedNavigating", self._started)
        tab.on("Page.frameNavigated", lambda event: self._arrived(event["frame"]["id"]))
        tab.on("Page.navigatedWithinDocument", lambda event: self._arrived(event["frameId"]))

    async def begin(self) -> None:
        """Learn where in its history the tab is. Raises `WorldError`."""
        self._place = (await self._tab.send("Page.getNavigationHistory"))["currentIndex"]

    def _requested(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._tab.frame:
            self._is_asked_by_page = True

    def _started(self, event: dict[str, Any]) -> None:
        if event["frameId"] != self._tab.frame:
            return
        is_by_page, self._is_asked_by_page = self._is_asked_by_page, False
        kind = event.get("navigationType", "")
        is_so_soon = time.monotonic() - self._last_deed() < BY_PAGE_SECONDS
        if kind == "sameDocument" or is_by_page or is_so_soon:
            return
        if kind.startswith("history"):
            self._start(self._tell_history(event["url"], self._committed))
        else:
            self._gone("went", event["url"])

    def _arrived(self, frame: str) -> None:
        """The history has another place, which is learnt, but for whoever waits to compare."""
        if frame == self._tab.frame:
            committed, self._committed = self._committed, asyncio.Event()
            committed.set()
            if not self._is_compared:
                self._start(self._learn())

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _tell_history(self, url: str, committed: asyncio.Event) -> None:
        before, self._is_compared = self._place, True
        with suppress(TimeoutError):
            async with asyncio.timeout(_COMMITTED_SECONDS):
                await committed.wait()
        self._is_compared = False
        await self._learn()
        self._gone({-1: "back", 1: "forward"}.get(self._place - before, "went"), url)

    async def _learn(self) -> None:
        """Asks again where the browser does not say, as while one page gives way to another."""
        for _ in range(_TRIES):
            with suppress(WorldError, TimeoutError):
                async with asyncio.timeout(_LEARNT_SECONDS):
                    return await self.begin()
            await asyncio.sleep(_LEARNT_SECONDS / 4)


REST_SECONDS = 0.12
"""How long nothing must have been done before the page is looked at."""
_ROUND_SECONDS = 10.0
_CLOSING_SECONDS = 0.3
_MOST_FAILURES = 3
_BEGINNINGS = ("down", "key", "typing")
"""What is told with the page as it was before."""


class SessionWatch:
    """One person at the pages of one world, from a first look until all pages are closed."""

    def __init__(
        self, world: BrowserWorld, first: Observation, hear: Callable[[UserEvent], None]
    ) -> None:
        self.seen = first
        """The page as it was last looked at."""
        self.ended = asyncio.Event()
        """Set once there is no page left, or the browser is gone."""
        self.is_resting = asyncio.Event()
        """Set while the page has been looked at since the last that was done."""
        self._world = world
        self._tabs = world.tabs()
        self._hear = hear
        self._rested = first
        self._is_stale = False
        self._deeds = 0
        self._deed_at = 0.0
        self._touched_at = 0.0
        """When something was last done in a page, not by the browser's own means."""
        self._stirred = asyncio.Event()
        self._watched: dict[Tab, NavigationWatch] = {}
        self._pages: set[Page] = set()
        self._work: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """From here on what is done in the pages is heard."""
        context = self._tabs.context
        context.on("page", self._page_opened)
        context.on("close", lambda _: self._end())
        self._tabs.hold_dialogs()
        await self._watch_new_tabs()

    async def run(self) -> None:
        """Watch until the end, once it has begun. Raises `WorldError` where the browser fails
        before that."""
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
            self._stirred.clear()
            deeds = self._deeds
            seen = await self._look()
            await self._watch_new_tabs()
            if deeds == self._deeds:
                before, self.seen = self.seen, seen
                if self._is_stale:
                    if not seen.outcome and replace(seen, outcome=before.outcome) == before:
                        self.seen = replace(seen, outcome="no effect")
                    self._rested = self.seen
                self._is_stale = False
                if not self._stirred.is_set():
                    self.is_resting.set()
            if not self._stirred.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(_ROUND_SECONDS):
                        await self._stirred.wait()
            while time.monotonic() - self._deed_at < REST_SECONDS:
                await asyncio.sleep(REST_SECONDS - (time.monotonic() - self._deed_at) + 0.001)

    async def _look(self) -> Observation:
        """The page at rest; asked again where the browser fails once. Raises `WorldError`."""
        for _ in range(_MOST_FAILURES - 1):
            try:
                return await self._world.look()
            except WorldError:
                await asyncio.sleep(REST_SECONDS)
        return await self._world.look()

    async def _watch_new_tabs(self) -> None:
        for tab in self._tabs.all:
            if tab not in self._watched:
                travels = NavigationWatch(tab, self._gone(tab), lambda: self._touched_at)
                self._watched[tab] = travels
                tab.on("Page.javascriptDialogOpening", self._dialog_opened)
                tab.on("Page.javascriptDialogClosed", self._dialog_closed)
                self._pages.add(tab.page)
                tab.page.on("close", self._page_closed)
                with suppress(WorldError):
                    await listen_to(tab, self._told_in(tab))
                    await travels.begin()

    def _told_in(self, tab: Tab) -> Callable[[str, Mapping[str, Any]], None]:
        def told(what: str, said: Mapping[str, Any]) -> None:
            if what == "changed":
                self._stir()
                return
            self._come_to_front(tab)
            seen, is_fresh = self._seen_with(said.get("page"))
            particulars = {name: value for name, value in said.items() if name != "page"}
            rested = self._rested if seen is not self._rested else None
            mark = int(said.get("mark", 0))
            if what == "files":
                self._start(
                    self._tell_files(tab, UserEvent(what, seen, is_fresh, mark, particulars))
                )
            else:
                self._tell(UserEvent(what, seen, is_fresh, mark, particulars, rested))
            self._deed(seen if what in _BEGINNINGS else None)
            self._touched_at = self._deed_at

        return told

    def _seen_with(self, page: object) -> tuple[Observation, bool]:
        """What was before the person, and whether it was so just then."""
        if not isinstance(page, str):
            return self.seen, not self._is_stale
        return self._as_observation(read_view(page)), True

    def _as_observation(self, view: PageView) -> Observation:
        known = self.seen
        is_same = view.url == known.url
        return replace(
            known,
            url=view.url,
            title=view.title,
            nodes=view.nodes,
            tabs=tuple(
                view.title if place == known.active_tab else title
                for place, title in enumerate(known.tabs)
            ),
            focus=view.focus,
            scroll=view.scroll,
            outcome="" if self._is_stale else known.outcome,
            screenshot=known.screenshot if is_same else "",
            captured=known.captured if is_same else "",
        )

    async def _tell_files(self, tab: Tab, told: UserEvent) -> None:
        said = told.said
        paths = await read_file_paths(tab, said["context"], said["session"], said["key"])
        self._tell(replace(told, said={**said, "paths": paths}))

    def _come_to_front(self, tab: Tab) -> None:
        if tab is self._tabs.active or tab not in self._tabs.all:
            return
        index = self._tabs.all.index(tab)
        self._tell(UserEvent("tab", self.seen, not self._is_stale, said={"index": index}))
        self._start(self._focus(index))
        self._deed(replace(self.seen, active_tab=index, nodes=(), focus=0, screenshot=""))

    async def _focus(self, index: int) -> None:
        with suppress(WorldError):
            await self._tabs.focus(index)

    def _gone(self, tab: Tab) -> Callable[[str, str], None]:
        def gone(what: str, url: str) -> None:
            if url.startswith(("chrome:", "about:")):
                return
            self._come_to_front(tab)
            self._tell(UserEvent(what, self.seen, not self._is_stale, said={"url": url}))
            self._deed(None)

        return gone

    def _dialog_opened(self, event: dict[str, Any]) -> None:
        said = describe_dialog(event["type"], event["message"], event.get("defaultPrompt", ""))
        self._deed(observe_dialog(self.seen, said))
        self._is_stale = False

    def _dialog_closed(self, event: dict[str, Any]) -> None:
        said = {"accepted": bool(event["result"]), "text": str(event.get("userInput", ""))}
        self._tell(UserEvent("dialog", self.seen, said=said))
        self._deed(None)

    def _page_opened(self, page: Page) -> None:
        if not self._is_by_page():
            self._start(self._tell_opened(page, self.seen, not self._is_stale))
        self._deed(None)

    async def _tell_opened(self, page: Page, seen: Observation, is_fresh: bool) -> None:
        with suppress(PlaywrightError):
            if await page.opener() is None:
                self._tell(UserEvent("opened", seen, is_fresh))

    def _is_by_page(self) -> bool:
        """Whether what happens now is what comes of something that was done in a page."""
        return time.monotonic() - self._touched_at < BY_PAGE_SECONDS

    def _page_closed(self, page: Page) -> None:
        """A page that was closed by hand; the last one, or several at once, are the end."""
        if self.ended.is_set():
            return
        places = [tab.page for tab in self._tabs.all]
        if all(each.is_closed() for each in self._pages):
            self._end()
        elif page in places and not self._is_by_page():
            self._start(self._tell_closed(places.index(page), self._tabs.active_index, self.seen))
        else:
            self._deed(None)

    async def _tell_closed(self, index: int, active: int, seen: Observation) -> None:
        await asyncio.sleep(_CLOSING_SECONDS)
        if all(each.is_closed() for each in self._pages):
            self._end()
            return
        if index != active:
            self._tell(UserEvent("tab", seen, said={"index": index}))
        self._tell(UserEvent("closed", seen))
        self._deed(None)

    def _tell(self, told: UserEvent) -> None:
        if not self.ended.is_set():
            self._hear(told)

    def _deed(self, seen: Observation | None) -> None:
        """Something was done; `seen` is what was before the person then, where that is news."""
        if seen is not None:
            self.seen = seen
        self._deeds += 1
        self._deed_at = time.monotonic()
        self._is_stale = True
        self._stir()

    def _stir(self) -> None:
        self.is_resting.clear()
        self._stirred.set()

    def _end(self) -> None:
        self.ended.set()
        self._stir()

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)
