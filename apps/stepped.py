"""Play an episode step by step from outside, in whatever world it is opened in."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from tasks.task import Task
from webagent.action import Action
from webagent.errors import PolicyError, WorldError
from webagent.records import Decision, Ending, Observation, Trajectory
from webagent.rollout import World, run_episode

_TRIES = 3
Place = TypeVar("Place", bound=World)


class SteppedEpisode:
    """`run_episode` turned inside out: the caller of `step` is its policy.

    So endings, limits, time-outs and evidence are those of every other episode.
    """

    def __init__(self, task: Task, world: World) -> None:
        self._pages: asyncio.Queue[Observation] = asyncio.Queue()
        self._decisions: asyncio.Queue[Decision] = asyncio.Queue()
        self._running = asyncio.create_task(run_episode(task, self, world))

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Hand the page to the caller of `step` and return the decision given there."""
        self._pages.put_nowait(observation)
        return await self._decisions.get()

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> list[Decision]:
        """Raises `PolicyError`: outside there is one action at a time."""
        raise PolicyError("an episode that is stepped from outside has no policy of its own")

    async def next(self) -> Observation | Trajectory:
        """Return the page that waits for an action, or the finished episode."""
        waiting = asyncio.create_task(self._pages.get())
        await asyncio.wait({waiting, self._running}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        waiting.cancel()
        return await self._running

    async def step(self, action: Action, source: str) -> Observation | Trajectory:
        """Do the action; return what `next` does."""
        self._decisions.put_nowait(Decision(action, source=source))
        return await self.next()

    async def leave(self) -> None:
        """Stop wherever it is."""
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)


class EpisodeRunner(Generic[Place]):
    """Begins episodes and hands on what is to be done in them."""

    def __init__(self, open_world: Callable[[], Awaitable[Place]]) -> None:
        self._open_world = open_world
        self._world: Place | None = None
        self._episode: SteppedEpisode | None = None

    @property
    def world(self) -> Place:
        """Where the episode is, or was last, played. Raises `WorldError` when there is none."""
        if self._world is None:
            raise WorldError("there is no page to look at; call reset first")
        return self._world

    async def begin(self, task: Task) -> Observation:
        """Start the task on a fresh page. Raises `WorldError` when every try fails."""
        await self._leave()
        reason = ""
        for _ in range(_TRIES):
            self._world = self._world or await self._open_world()
            self._episode = SteppedEpisode(task, self._world)
            first = await self._episode.next()
            if isinstance(first, Observation):
                return first
            reason = first.error
            await self._give_up_world()
        raise WorldError(f"{task.id} did not start in {_TRIES} tries: {reason}")

    async def act(self, action: Action, source: str = "environment") -> Observation | Trajectory:
        """Do the action; return the next page, or the whole episode where that was its end.

        Raises `RuntimeError` when no episode is in progress.
        """
        if self._episode is None:
            raise RuntimeError("no episode is in progress; call reset first")
        result = await self._episode.step(action, source)
        if isinstance(result, Trajectory):
            self._episode = None
            if result.ending is Ending.WORLD_FAILED:
                await self._give_up_world()
        return result

    async def close(self) -> None:
        """Leave the browser; it stays open for others."""
        await self._leave()
        await self._give_up_world()

    async def _leave(self) -> None:
        if self._episode is not None:
            await self._episode.leave()
            self._episode = None

    async def _give_up_world(self) -> None:
        world, self._world = self._world, None
        if world is not None:
            await world.close()
