"""A world that fails rather than hangs."""

from collections.abc import Awaitable, Mapping
from typing import TypeVar

from tasks.task import Json, Task
from webagent.action import Action
from webagent.errors import WorldError
from webagent.records import Observation
from webagent.rollout.world import World
from webagent.timing import time_limit

Reply = TypeVar("Reply")


class TimedWorld:
    """The given world; a call that takes longer than `seconds` is cancelled, a `WorldError`. While
    a person is asked or at work the time does not count."""

    def __init__(self, world: World, seconds: float) -> None:
        self._world = world
        self._seconds = seconds

    async def reset(self, task: Task) -> Observation:
        """As the world's."""
        return await self._in_time("reset", self._world.reset(task))

    async def step(self, action: Action) -> Observation:
        """As the world's."""
        return await self._in_time("step", self._world.step(action))

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """As the world's."""
        return await self._in_time("evidence", self._world.evidence(task))

    async def close(self) -> None:
        """As the world's."""
        await self._in_time("close", self._world.close())

    async def _in_time(self, verb: str, call: Awaitable[Reply]) -> Reply:
        try:
            async with time_limit(self._seconds):
                return await call
        except TimeoutError as error:
            raise WorldError(f"{verb} did not end within {self._seconds:g} seconds") from error
