"""Workers of a run, each with its share of the worlds; a lost worker is replaced."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from itertools import count
from typing import Any

from loop.executors.worker import KeepPicture, Worker, WorkerLostError, describe_versions
from tasks.task import Json, Task
from webagent.action import Action
from webagent.browser.world import ViewerPictures
from webagent.errors import SetupError, WebAgentError
from webagent.observation.variants import ObservationVariant
from webagent.records import Observation
from webagent.rollout import INTERRUPTED, OpenWorld, World
from webagent.timing import uncounted

logger = logging.getLogger(__name__)

_PATIENCE = 600.0
"""Seconds to wait where every worker is lost, before the run ends."""
_START_SECONDS = 300.0
"""That a worker may take to begin, waiting for room included."""
_PAUSE = 10.0
"""Seconds after which a worker that could not be started is tried again."""


class RemoteWorld:
    """A world that a worker holds."""

    def __init__(self, pool: "WorkerPool", worker: Worker, number: int, keep: KeepPicture) -> None:
        self.worker = worker
        self._pool, self._number, self._keep = pool, number, keep

    async def reset(self, task: Task) -> Observation:
        """As the world's. Raises `WorldError`, as all of these."""
        seen: Observation = await self.call("reset", task)
        return seen

    async def step(self, action: Action) -> Observation:
        """As the world's."""
        seen: Observation = await self.call("step", action)
        return seen

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """As the world's."""
        found: Mapping[str, Json] = await self.call("evidence", task)
        return found

    async def prepare(self, task: Task) -> None:
        """As the world's, where it can."""
        await self.call("prepare", task)

    async def close(self) -> None:
        """Have it closed, and give its place to another one."""
        if self._pool.forget(self):
            with suppress(WorkerLostError):
                await self.call("close")

    async def call(self, verb: str, *given: Any) -> Any:
        """Return what comes of a call. Where the worker is lost another one is started, and the
        attempt counts as one that a kill cut off: it is played again as it would have been."""
        try:
            reply = await self.worker.call(self._number, verb, *given)
        except WorkerLostError as error:
            self._pool.replace(self.worker, error)
            raise WorkerLostError(INTERRUPTED) from error
        for picture in reply.pictures:
            self._keep(picture)
        if reply.error is not None:
            raise reply.error
        return reply.value


class WorkerPool:
    """So many workers, each with its share of the worlds; one that is lost is replaced."""

    def __init__(self, start: Callable[[int], Awaitable[Worker]], workers: int) -> None:
        self._start = start
        self._numbers = count()
        self._places = [asyncio.ensure_future(self._begin()) for _ in range(workers)]
        self._worlds: dict[RemoteWorld, Worker] = {}

    @classmethod
    @asynccontextmanager
    async def open(
        cls, start: Callable[[int], Awaitable[Worker]], workers: int
    ) -> AsyncIterator["WorkerPool"]:
        """Yield the workers once all are there. Raises what one of them says it cannot."""
        pool = cls(start, workers)
        try:
            await asyncio.gather(*pool._places)
            yield pool
        finally:
            for place in pool._places:
                place.cancel()
            there = await asyncio.gather(*pool._places, return_exceptions=True)
            ends = [each.end() for each in there if not isinstance(each, BaseException)]
            await asyncio.gather(*ends)

    def worlds(
        self, keep: KeepPicture, shown: KeepPicture | None, variant: ObservationVariant | None
    ) -> OpenWorld:
        """Return what opens worlds, each in the worker that has fewest. What pictures go to that
        only people look at is limited for each world by itself."""
        most = shown.left if isinstance(shown, ViewerPictures) else None

        async def open_world() -> World:
            if not any(place.done() for place in self._places):
                with uncounted():
                    done, _ = await asyncio.wait(
                        self._places, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED
                    )
                if not done:
                    raise SetupError(
                        f"every worker is lost, and none came back within {_PATIENCE:g} s; finished"
                        " steps are safe, and the run goes on with --resume once there are workers"
                    )
            there = [place.result() for place in self._places if place.done()]
            held = list(self._worlds.values())
            worker = min(there, key=held.count)
            world = RemoteWorld(self, worker, next(self._numbers), keep)
            self._worlds[world] = worker
            with ExitStack() as undo:
                undo.callback(self.forget, world)
                await world.call("open", shown is not None, most, variant)
                undo.pop_all()
            return world

        return open_world

    def forget(self, world: RemoteWorld) -> bool:
        """Give the world's place to another one; return whether it had it still."""
        return self._worlds.pop(world, None) is not None

    def replace(self, worker: Worker, reason: WorkerLostError) -> None:
        """Start another one in the place of a lost worker, once."""

        async def begin_again() -> Worker:
            while True:
                try:
                    return await self._begin()
                except WebAgentError as error:
                    logger.warning("%s; it is tried again in %g s", error, _PAUSE)
                    await asyncio.sleep(_PAUSE)

        for index, place in enumerate(self._places):
            if place.done() and not place.cancelled() and place.result() is worker:
                playing = sum(each is worker for each in self._worlds.values())
                logger.warning(
                    "%s is lost (%s); its %d episodes are played again elsewhere, and another one"
                    " is started",
                    *(worker.name, reason, playing),
                )
                self._places[index] = asyncio.ensure_future(begin_again())

    async def _begin(self) -> Worker:
        async with AsyncExitStack() as undo:
            worker = await self._start(next(self._numbers))
            undo.push_async_callback(worker.end)
            try:
                async with asyncio.timeout(_START_SECONDS):
                    reply = await worker.call(-1, "start")
            except TimeoutError as error:
                raise SetupError(
                    f"{worker.name} did not begin within {_START_SECONDS:g} s; is there no room?"
                    " `ray status` says who has a cluster's CPUs"
                ) from error
            except WorkerLostError as error:
                raise SetupError(f"{worker.name} cannot begin: {error}") from error
            if reply.error is not None:
                raise SetupError(f"{worker.name} cannot play: {reply.error}") from reply.error
            node, versions = reply.value
            if versions != describe_versions():
                raise SetupError(
                    f"{worker.name} is on {node}, which runs {versions}, and this machine"
                    f" {describe_versions()}; install the same on both"
                )
            undo.pop_all()
        return worker
