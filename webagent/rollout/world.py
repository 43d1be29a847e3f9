"""The place where an episode is played: its protocol, its time limit, a new one after a failure."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from tasks.task import Json, Task
from webagent.action import Action
from webagent.errors import WorldError
from webagent.records import Observation
from webagent.timing import time_limit


class World(Protocol):
    """Anything an episode can be played in: a browser, a recording, a dream."""

    async def reset(self, task: Task) -> Observation:
        """Start the task from a fresh state. Raises `WorldError`."""

    async def step(self, action: Action) -> Observation:
        """Do the action. What cannot be done is said in `Observation.outcome`.

        Raises `WorldError` when the world broke, `GuardError` when a limit forbids the action.
        """

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """Return what the task's checks need, captured before the page closes."""

    async def close(self) -> None:
        """Give back everything held. Safe to call twice."""


Reply = TypeVar("Reply")


async def call_in_time(verb: str, call: Awaitable[Reply], seconds: float) -> Reply:
    """Return what a call to a world gives; one that takes longer is cancelled, a `WorldError`.
    While a person is asked or at work the time does not count."""
    try:
        async with time_limit(seconds):
            return await call
    except TimeoutError as error:
        raise WorldError(f"{verb} did not end within {seconds:g} seconds") from error


OpenWorld: TypeAlias = Callable[[], Awaitable[World]]
"""Makes a world; raises `WorldError` when it cannot."""

_CLOSING_SECONDS = 10.0


@runtime_checkable
class PreparingWorld(Protocol):
    """A world that can get the next task ready while it plays this one."""

    async def prepare(self, task: Task) -> None:
        """Prepare the task that will probably be next; return at once."""


@runtime_checkable
class VisibleWorld(Protocol):
    """A world whose page can be looked at."""

    async def screenshot(self) -> bytes:
        """Return the page as a PNG. Raises `WorldError`."""


class ReopeningWorld:
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
        if isinstance(self._world, PreparingWorld) and (following := self._upcoming()):
            await self._world.prepare(following)
        return observation

    async def step(self, action: Action) -> Observation:
        """Call the world."""
        return await self._there().step(action)

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """Call the world."""
        return await self._there().evidence(task)

    async def close(self) -> None:
        """Close the world, if any; one that cannot even be closed is given up."""
        if self._world is not None:
            world, self._world = self._world, None
            with suppress(WorldError):
                await call_in_time("close", world.close(), _CLOSING_SECONDS)

    def _there(self) -> World:
        if self._world is None:
            raise WorldError("no world is open; reset comes first")
        return self._world
