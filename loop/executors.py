"""Executors: where the worlds of a run are played: in this process, in others, on a cluster."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    suppress,
)
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import count
from pathlib import Path
from platform import python_version
from traceback import format_exception
from typing import Any, Literal, Protocol, TypeAlias

from benchmarks.sites.hosting import Hosting
from tasks.task import Json, Task
from webagent.action import Action
from webagent.browser import Browser
from webagent.browser.sessions.login import Logins
from webagent.browser.sessions.profile import Profile
from webagent.browser.world import ViewerPictures
from webagent.errors import SetupError, UsageError, WebAgentError, WorldError
from webagent.guard import Guard
from webagent.observation.variants import ObservationVariant
from webagent.records import Observation
from webagent.rollout import INTERRUPTED, OpenWorld, PreparingWorld, World
from webagent.store.database import MemoryImages
from webagent.timing import uncounted

logger = logging.getLogger(__name__)

ExecutorName: TypeAlias = Literal["process", "ray"]
KeepPicture: TypeAlias = Callable[[bytes], str]
_PATIENCE = 600.0
"""Seconds to wait where every worker is lost, before the run ends."""
_START_SECONDS = 300.0
"""That a worker may take to begin, waiting for room included."""
_PAUSE = 10.0
"""Seconds after which a worker that could not be started is tried again."""


class OpenWorlds(Protocol):
    """Makes what opens worlds of one kind."""

    def __call__(
        self, keep: KeepPicture, shown: KeepPicture | None, variant: ObservationVariant | None, /
    ) -> OpenWorld:
        """`keep` is for pictures that probes take, `shown` for screenshots, if any are taken."""


class WorldSetup(Protocol):
    """All that a process needs to open worlds; it can be sent to another machine."""

    def open(self) -> AbstractAsyncContextManager[OpenWorlds]:
        """Start what the worlds are played in. Raises `SetupError`."""


@dataclass(frozen=True, slots=True)
class BrowserSetup:
    """Worlds in a browser, with the sites of these tasks."""

    tasks: tuple[Task, ...]
    """One of each, so that their sites are ready before the first episode."""
    concurrency: int
    sites: tuple[Path, ...] = ()
    logins: Path | None = None
    guard: Guard | None = None
    har: Path | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[OpenWorlds]:
        """Start a browser, and yield what opens worlds in it. Raises `SetupError`."""
        hosted = Hosting(self.concurrency, self.sites, Logins(self.logins))
        profile = Profile(har_replay=self.har)
        async with hosted as hosting, Browser(guard=self.guard, pages=self.concurrency) as browser:
            await hosting.prepare(self.tasks)

            def open_worlds(
                keep: KeepPicture, shown: KeepPicture | None, variant: ObservationVariant | None
            ) -> OpenWorld:
                opening = partial(browser.world, shown, profile, variant, keep_picture=keep)
                return hosting.worlds(partial(opening, logins=hosting.logins))

            yield open_worlds


@asynccontextmanager
async def open_executor(
    setup: WorldSetup, executor: ExecutorName = "process", workers: int = 1
) -> AsyncIterator[OpenWorlds]:
    """Yield what opens worlds where the executor says; one `process` is this one.

    When the block ends the workers close their worlds and go. Raises `SetupError`.
    """
    async with AsyncExitStack() as ends:
        if executor == "ray":
            from loop.ray_workers import connect

            start = await ends.enter_async_context(connect(workers))
        elif workers == 1:
            yield await ends.enter_async_context(setup.open())
            return
        else:
            from loop.process_workers import ProcessWorker

            start = ProcessWorker.start
        pool = WorkerPool.open(partial(start, setup), workers)
        yield (await ends.enter_async_context(pool)).worlds


def check_workers(workers: int) -> None:
    """Raise `UsageError` where there would be none."""
    if workers < 1:
        raise UsageError(f"--workers {workers}: must be at least 1")


def format_executor(executor: ExecutorName, workers: int) -> str:
    """Return the flags with which a run is gone on with as it is played now; with a space before
    them where there are any."""
    flags = f" --executor {executor}" * (executor != "process")
    return flags + f" --workers {workers}" * (workers > 1)


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """What came of a call."""

    value: Any = None
    error: BaseException | None = None
    pictures: tuple[bytes, ...] = ()
    """That were taken meanwhile; what came refers to them by their content."""


class WorkerLostError(WorldError):
    """A worker ended under the episodes that it played."""


class Worker(Protocol):
    """The near end of a process, here or elsewhere, that holds a `WorldHost`."""

    name: str
    """Which one, and where."""

    async def call(self, world: int, verb: str, *given: Any) -> WorkerReply:
        """Pass the call on. Raises `WorkerLostError`."""

    async def end(self) -> None:
        """Have it close its worlds and go. Safe where it is gone."""


Start: TypeAlias = Callable[[WorldSetup, int], Awaitable[Worker]]
"""Starts a worker of this number. Raises `SetupError`, `WorkerLostError`."""


def describe_versions() -> str:
    """Return the versions that have to be the same wherever a run is played."""
    return f"Python {python_version()} with webagent-loop {version('webagent-loop')}"


class WorldHost:
    """A worker's far end: holds worlds by number, and answers the calls to them."""

    def __init__(self, setup: WorldSetup) -> None:
        self._setup = setup
        self._ends = AsyncExitStack()
        self._open_worlds: OpenWorlds | None = None
        self._worlds: dict[int, World] = {}
        self._pictures: dict[int, list[bytes]] = {}
        self._busy: dict[int, asyncio.Task[Any]] = {}

    async def answer(self, world: int, verb: str, *given: Any) -> WorkerReply:
        """Do what the verb says, and return what comes of it; nothing is raised."""
        if verb == "close" and world in self._busy:
            self._busy.pop(world).cancel()
        doing = asyncio.ensure_future(self._do(world, verb, given))
        if verb != "close":
            self._busy[world] = doing
        came: Any = (await asyncio.gather(doing, return_exceptions=True))[0]
        if self._busy.get(world) is doing:
            del self._busy[world]
        taken = tuple(self._pictures.pop(world, ()))
        if not isinstance(came, BaseException):
            return WorkerReply(came, pictures=taken)
        if isinstance(came, OSError):  # such as a full disk: of this machine alone
            came = WorldError(f"the machine {socket.gethostname()} cannot go on: {came}")
        elif not isinstance(came, WebAgentError):
            came = RuntimeError("a defect in a worker\n" + "".join(format_exception(came)))
        return WorkerReply(error=came, pictures=taken)

    async def close(self) -> None:
        """Close the worlds and what they are played in."""
        for world in list(self._worlds):
            await self.answer(world, "close")
        await self._ends.aclose()

    async def _do(self, number: int, verb: str, given: Sequence[Any]) -> Any:
        if verb == "start":
            self._open_worlds = await self._ends.enter_async_context(self._setup.open())
            return socket.gethostname(), describe_versions()
        elif verb == "open" and self._open_worlds is not None:
            self._worlds[number] = await self._open(number, self._open_worlds, *given)
        elif verb == "close":
            if (leaving := self._worlds.pop(number, None)) is not None:
                await leaving.close()
        elif verb != "prepare" or isinstance(self._worlds[number], PreparingWorld):
            return await getattr(self._worlds[number], verb)(*given)
        return None

    async def _open(
        self,
        number: int,
        open_worlds: OpenWorlds,
        is_shown: bool,
        most: int | None,
        variant: ObservationVariant | None,
    ) -> World:
        keep: KeepPicture = partial(self._keep, number)
        shown = keep if most is None else ViewerPictures(keep, most)
        return await open_worlds(keep, shown if is_shown else None, variant)()

    def _keep(self, number: int, picture: bytes) -> str:
        self._pictures.setdefault(number, []).append(picture)
        return MemoryImages().add(picture)


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
        for index, place in enumerate(self._places):
            if place.done() and not place.cancelled() and place.result() is worker:
                playing = sum(each is worker for each in self._worlds.values())
                logger.warning(
                    "%s is lost (%s); its %d episodes are played again elsewhere, and another one"
                    " is started",
                    *(worker.name, reason, playing),
                )
                self._places[index] = asyncio.ensure_future(self._begin_again())

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

    async def _begin_again(self) -> Worker:
        while True:
            try:
                return await self._begin()
            except WebAgentError as error:
                logger.warning("%s; it is tried again in %g s", error, _PAUSE)
                await asyncio.sleep(_PAUSE)
