"""Which requests of a tab are on their way, as far as an action can be waiting for them."""

import asyncio
import time
from contextlib import suppress
from typing import Any

from webagent.browser.page.tab import Tab

_ENDLESS = ("EventSource", "WebSocket", "Ping", "Media", "Prefetch", "CSPViolationReport")
_ELSEWHERE = ("Document",)
"""Pages are known by their loading; of a frame's end its own process hears, not its page."""
_LOCAL = ("data:", "blob:")
_LONGEST_URL = 100


class Requests:
    """Counts the requests of one tab; each is waited for only for so long after it began."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._began: dict[str, tuple[float, str]] = {}
        self._changed = asyncio.Event()

    @classmethod
    async def of(cls, tab: Tab, patience: float) -> "Requests":
        """Count from now on; `patience` is in seconds. Raises `WorldError`."""
        requests = cls(patience)
        tab.on("Network.requestWillBeSent", requests._begin)
        for event in ("loadingFinished", "loadingFailed", "requestServedFromCache"):
            tab.on(f"Network.{event}", requests._end)
        await tab.send("Network.enable", maxTotalBufferSize=0, maxResourceBufferSize=0)
        return requests

    def pending(self) -> str:
        """The address of the oldest request that is worth waiting for; empty when there is none."""
        latest = time.monotonic() - self._patience
        return next((url for began, url in self._began.values() if began > latest), "")

    async def change(self, tab: Tab, seconds: float) -> None:
        """Wait until a request begins or ends, for so long at most. Raises `WorldError`."""
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, min(seconds, self._patience))):
                await tab.alive(self._changed.wait())

    def _begin(self, event: dict[str, Any]) -> None:
        url = event["request"]["url"]
        if event.get("type") not in _ENDLESS + _ELSEWHERE and not url.startswith(_LOCAL):
            self._began[event["requestId"]] = (time.monotonic(), url[:_LONGEST_URL])
        self._changed.set()

    def _end(self, event: dict[str, Any]) -> None:
        self._began.pop(event["requestId"], None)
        self._changed.set()
