"""Telling where a person goes by the browser's own means from where a page goes by itself."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from webagent.browser.page.tab import Tab
from webagent.errors import WorldError

BY_PAGE_SECONDS = 0.7
"""A page that goes somewhere so soon after something was done in it goes because of that."""
_COMMITTED_SECONDS = 5.0
_LEARNT_SECONDS = 0.2
_TRIES = 5

Gone = Callable[[str, str], None]
"""Told `went` with the address, `back` or `forward`."""


class Travels:
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
