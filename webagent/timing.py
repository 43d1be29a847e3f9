"""Time limits that do not count while a person is at work."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

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
    """A person is at work: all limits around this stand still."""
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
