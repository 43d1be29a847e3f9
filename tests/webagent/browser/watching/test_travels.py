"""Where a tab is in its history is learnt also where the browser would not say at first."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from webagent.browser.page.tab import Tab
from webagent.browser.watching import NavigationWatch
from webagent.errors import WorldError

FRAME = "main"


class Shy:
    """A tab that refuses its history the first time after each arrival."""

    def __init__(self) -> None:
        self.frame = FRAME
        self.place = 2
        self.is_shy = False
        self.answers = 0
        self._listeners: dict[str, Callable[[dict[str, Any]], None]] = {}

    def on(self, event: str, listener: Callable[[dict[str, Any]], None]) -> None:
        self._listeners[event] = listener

    async def send(self, method: str) -> dict[str, Any]:
        assert method == "Page.getNavigationHistory"
        if self.is_shy:
            self.is_shy = False
            raise WorldError("the browser failed: Not attached to an active page")
        self.answers += 1
        return {"currentIndex": self.place}

    def go(self, place: int, kind: str) -> None:
        """Comes to another place of the history."""
        event = {"frameId": FRAME, "navigationType": kind, "url": f"/{place}"}
        self._listeners["Page.frameStartedNavigating"](event)
        self.place, self.is_shy = place, True
        self._listeners["Page.frameNavigated"]({"frame": {"id": FRAME}})


async def test_the_way_back_is_told_where_the_history_is_refused_at_first() -> None:
    told: list[tuple[str, str]] = []
    tab = Shy()
    travels = NavigationWatch(
        cast(Tab, tab), lambda kind, url: told.append((kind, url)), lambda: 0.0
    )
    await travels.begin()
    for place, kind in ((3, "differentDocument"), (2, "historyDifferentDocument")):
        answers, heard = tab.answers, len(told)
        tab.go(place, kind)
        async with asyncio.timeout(10):
            while tab.answers == answers or len(told) == heard:
                await asyncio.sleep(0.01)
    assert told == [("went", "/3"), ("back", "/2")]
