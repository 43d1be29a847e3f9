"""Telling where a person goes by the browser's own means from where a page goes by itself."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from webagent.browser.page.tab import Tab
from webagent.errors import WorldError

BY_PAGE_SECONDS = 0.7
"""A page that goes somewhere so soon after something was done in it goes because of that."""
_COMMITTED_SECONDS = 5.0
_AGAIN_SECONDS = 0.05

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
        self._place = 0
        self._work: set[asyncio.Task[None]] = set()
        tab.on("Page.frameRequestedNavigation", self._requested)
        tab.on("Page.frameStartedNavigating", self._started)

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
            self._start(self._moved())
        elif kind.startswith("history"):
            self._start(self._tell_history(event["url"]))
        else:
            self._gone("went", event["url"])
            self._start(self._moved())

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _tell_history(self, url: str) -> None:
        before = self._place
        await self._moved()
        step = {-1: "back", 1: "forward"}.get(self._place - before, "went")
        self._gone(step, url)

    async def _moved(self) -> None:
        """Wait until the history says where the tab is by now; not for long."""
        before, deadline = self._place, time.monotonic() + _COMMITTED_SECONDS
        try:
            while self._place == before and time.monotonic() < deadline:
                await self.begin()
                await asyncio.sleep(_AGAIN_SECONDS)
        except WorldError:
            return
