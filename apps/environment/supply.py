"""One warm browser for all environments of a process under one guard, on a thread of its own.

Gymnasium calls one environment after another and waits; the browser side is asynchronous.
"""

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from benchmarks.miniwob import tasks as miniwob
from webagent.browser import Browser
from webagent.guard import Guard

_Result = TypeVar("_Result")


class Supply:
    """The browser and the event loop that environments of this process share."""

    _shared: ClassVar[dict[Path | None, "Supply"]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, policy: Path | None = None) -> None:
        guard = Guard.read(policy).opening(miniwob.pages().parent) if policy else None
        self._policy = policy
        self._process = os.getpid()
        self._users = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.browser = Browser(guard=guard)

    @classmethod
    def lease(cls, guard: str | Path | None = None) -> "Supply":
        """The supply of this process whose episodes are held to this policy file, if any; give it
        back with `release`. A forked child gets its own. Raises `SetupError` for a bad policy."""
        policy = Path(guard).resolve() if guard else None
        with cls._lock:
            supply = cls._shared.get(policy)
            if supply is None or supply._process != os.getpid():
                supply = cls._shared[policy] = cls(policy)
                atexit.register(supply._end)
            supply._users += 1
            return supply

    def release(self) -> None:
        """One user less; the last one closes the browser."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._end()

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Wait for work on the browser's thread; stopped with it on Ctrl-C."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _end(self) -> None:
        if self._process != os.getpid() or self._loop.is_closed():
            return
        if Supply._shared.get(self._policy) is self:
            del Supply._shared[self._policy]
        self.run(self._wind_up())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        atexit.unregister(self._end)

    async def _wind_up(self) -> None:
        """End the browser, then the episodes of environments that were never closed."""
        await self.browser.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
