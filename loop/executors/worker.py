"""A worker: holds worlds in another process, here or on a cluster, and answers calls to them."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version
from platform import python_version
from traceback import format_exception
from typing import Any, Protocol, TypeAlias

from webagent.browser.world import ViewerPictures
from webagent.errors import WebAgentError, WorldError
from webagent.observation.variants import ObservationVariant
from webagent.rollout import OpenWorld, PreparingWorld, World
from webagent.store.database import MemoryImages

KeepPicture: TypeAlias = Callable[[bytes], str]


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

            def keep(picture: bytes) -> str:
                self._pictures.setdefault(number, []).append(picture)
                return MemoryImages().add(picture)

            is_shown, most, variant = given
            shown = keep if most is None else ViewerPictures(keep, most)
            open_world = self._open_worlds(keep, shown if is_shown else None, variant)
            self._worlds[number] = await open_world()
        elif verb == "close":
            if (leaving := self._worlds.pop(number, None)) is not None:
                await leaving.close()
        elif verb != "prepare" or isinstance(self._worlds[number], PreparingWorld):
            return await getattr(self._worlds[number], verb)(*given)
        return None
