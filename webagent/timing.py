"""Time limits that stand still while a person is at work, and work that nobody waits for."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any

_limits: ContextVar[tuple[asyncio.Timeout, ...]] = ContextVar("limits", default=())


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[None]:
    """As `asyncio.timeout`; what passes within `uncounted` comes on top. Raises `TimeoutError`."""
    async with asyncio.timeout(seconds) as limit:
        outer = _limits.set((*_limits.get(), limit))
        try:
            yield
        finally:
            _limits.reset(outer)


@contextmanager
def uncounted() -> Iterator[None]:
    """Stop all time limits around this, as while a person is at work or a place is waited for."""
    loop = asyncio.get_running_loop()
    ends = {limit: end for limit in _limits.get() if (end := limit.when()) is not None}
    for limit in ends:
        limit.reschedule(None)
    began = loop.time()
    try:
        yield
    finally:
        for limit, end in ends.items():
            limit.reschedule(end + loop.time() - began)


class Background:
    """Runs work to its end; the work itself sees to its failures."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin the work, and return at once."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def finish(self) -> None:
        """Wait until all of it is done, and what it began meanwhile."""
        while self._running:
            await asyncio.gather(*self._running)
