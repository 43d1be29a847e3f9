"""A place at which one episode after another is played, whatever happens to its worlds."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Protocol, TypeAlias, runtime_checkable

from tasks.task import Json, Task
from webagent.action import Action
from webagent.errors import WorldError
from webagent.records import Observation
from webagent.rollout.timed import TimedWorld
from webagent.rollout.world import World

OpenWorld: TypeAlias = Callable[[], Awaitable[World]]
"""Makes a world; raises `WorldError` when it cannot."""

_CLOSING_SECONDS = 10.0


@runtime_checkable
class Preparing(Protocol):
    """A world that can get the next task ready while it plays this one."""

    async def prepare(self, task: Task) -> None:
        """The task that will probably be next; returns at once."""
        ...


class Seat:
    """A world that is opened at its first reset; once closed, the next reset opens a fresh one."""

    def __init__(self, open_world: OpenWorld, upcoming: Callable[[], Task | None]) -> None:
        self._open_world = open_world
        self._upcoming = upcoming
        self._world: World | None = None

    async def reset(self, task: Task) -> Observation:
        """Start the task, and tell the world of the upcoming one where it can prepare it."""
        if self._world is None:
            self._world = await self._open_world()
        observation = await self._world.reset(task)
        if isinstance(self._world, Preparing) and (following := self._upcoming()):
            await self._world.prepare(following)
        return observation

    async def step(self, action: Action) -> Observation:
        """As the world's."""
        return await self._there().step(action)

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """As the world's."""
        return await self._there().evidence(task)

    async def close(self) -> None:
        """Close the world, if any; one that cannot even be closed is given up."""
        if self._world is not None:
            world, self._world = self._world, None
            with suppress(WorldError):
                await TimedWorld(world, _CLOSING_SECONDS).close()

    def _there(self) -> World:
        if self._world is None:
            raise WorldError("no world is open; reset comes first")
        return self._world
