"""Work that goes on while nobody waits for it."""

import asyncio
from collections.abc import Coroutine
from typing import Any


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
