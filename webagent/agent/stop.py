"""An end to a task from outside: by a clock, a budget or a person."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

from webagent.errors import StoppedError
from webagent.models.spending import Ledger

Result = TypeVar("Result")
_LOOK_SECONDS = 0.2


class Stop:
    """Ends whatever is done under it, once and for all: `stop.end("why")`.

    What was under way is cancelled, and the task's record is closed with the ending `stopped`.
    """

    def __init__(self) -> None:
        self.reason = ""
        """Why it was ended; empty while it was not."""
        self._ended = asyncio.Event()
        self._holds = 0
        self._held_seconds = 0.0

    @property
    def is_set(self) -> bool:
        """Return whether it was ended."""
        return self._ended.is_set()

    def end(self, reason: str) -> None:
        """End it; the first reason stands. To be called in the event loop of the task."""
        self.reason = self.reason or reason or "stopped"
        self._ended.set()

    async def unless(self, work: Awaitable[Result]) -> Result:
        """Return what the work gives. Where the end comes first it is cancelled: `StoppedError`."""
        doing = asyncio.ensure_future(work)
        ending = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({doing, ending}, return_when=asyncio.FIRST_COMPLETED)
            if self.is_set:
                raise StoppedError(self.reason)
            return await doing
        finally:
            for each in (doing, ending):
                each.cancel()
            await asyncio.gather(doing, ending, return_exceptions=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Stop the clock of `within` while a person is at work."""
        self._holds += 1
        began = time.monotonic()
        try:
            yield
        finally:
            self._holds -= 1
            if not self._holds:
                self._held_seconds += time.monotonic() - began

    @asynccontextmanager
    async def within(self, ledger: Ledger, seconds: float | None) -> AsyncIterator[None]:
        """End the task where the ledger closes, or after so many seconds that nobody held."""

        async def watch_ledger() -> None:
            await ledger.closed.wait()
            self.end(ledger.reason)

        async def watch_clock(seconds: float) -> None:
            began, held = time.monotonic(), self._held_seconds
            while time.monotonic() - began - (self._held_seconds - held) < seconds or self._holds:
                await asyncio.sleep(min(_LOOK_SECONDS, seconds))
            self.end(f"its time is up: {seconds:.4g} seconds")

        watching = [asyncio.ensure_future(watch_ledger())]
        if seconds is not None:
            watching.append(asyncio.ensure_future(watch_clock(seconds)))
        try:
            yield
        finally:
            for each in watching:
                each.cancel()
            await asyncio.gather(*watching, return_exceptions=True)
