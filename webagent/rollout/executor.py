"""Many episodes at once: a plan played in order, with retries, a budget and resumption."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tasks.task import Task
from webagent.policy.policy import Policy
from webagent.records import Ending, Trajectory
from webagent.rollout.episode import (
    INTERRUPTED,
    NullRecorder,
    PlannedEpisode,
    Recorder,
    episode_id,
    run_episode,
)
from webagent.rollout.world import OpenWorld, ReopeningWorld, World


class StepBudget:
    """Steps are set aside before an episode and given back, as far as unused, after it."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.spent = 0
        self.is_used_up = False
        """Whether an episode was not played for want of steps."""
        self._reserved = 0
        self._given_back = asyncio.Event()

    def reserve(self, steps: int) -> bool:
        """Set steps aside if so many are free now."""
        if self.limit is not None and self.spent + self._reserved + steps > self.limit:
            return False
        self._reserved += steps
        return True

    async def reserve_in_time(self, steps: int) -> bool:
        """Set steps aside, waiting for what running episodes give back.

        False when none is running and there are still too few.
        """
        while not self.reserve(steps):
            if not self._reserved:
                self.is_used_up = True
                return False
            self._given_back.clear()
            await self._given_back.wait()
        return True

    def settle(self, reserved: int, used: int) -> None:
        """Book what was used of the steps set aside and free the rest."""
        self._reserved -= reserved
        self.spent += used
        self._given_back.set()


_LOSSES = 10
"""Attempts at one episode that may be cut off in one call: what plays it may be what kills it."""


async def collect(  # noqa: PLR0913 - each is a separate decision of the caller
    plan: Sequence[PlannedEpisode],
    policy: Policy,
    open_world: OpenWorld,
    *,
    concurrency: int = 1,
    recorder: Recorder | None = None,
    budget_steps: int | StepBudget | None = None,
    on_episode: Callable[[Trajectory], None] | None = None,
    retries: int = 2,
    step_timeout: float = 60.0,
) -> list[Trajectory]:
    """Play the plan and give its episodes in plan order, infrastructure failures left out.

    At most `concurrency` worlds are open at a time; each plays one episode after another and is
    replaced when it fails. An episode that ends in an infrastructure failure is played again up to
    `retries` times; every attempt is recorded and shown to `on_episode`.

    What the recorder already holds of the plan is loaded, not played; attempts that were cut off
    are closed as `world failed` and played again. So the same call, made again after a kill, goes
    on where the run stopped. `on_episode` sees loaded attempts, too.

    `budget_steps` bounds the real steps of all attempts together, earlier ones included, and is
    never exceeded. Only attempts that a kill cut off, of this process or of the worker that held
    the world, are not held against it, so that what is played is what would have been undisturbed.
    An episode starts only when its full `max_steps` still fit, and the first one that does not ends
    the collection, so no episode is cut short. Near the limit episodes wait for the ones before
    them; which ones are played therefore does not depend on timing. Several calls, each with a part
    of a plan, may share a `StepBudget`.
    """
    recorder = recorder or NullRecorder()
    show = on_episode or (lambda trajectory: None)
    names = [episode_id(planned.task, planned.provenance) for planned in plan]
    if len(set(names)) < len(names):
        raise ValueError("two entries of the plan name one episode; number Provenance.index")
    entries = [_Entry(planned) for planned in plan]
    past: list[Trajectory] = []
    for entry in entries:
        task, provenance = entry.planned.task, entry.planned.provenance
        while known := recorder.load(episode_id(task, provenance, entry.attempts + 1)):
            if known.ending is None:  # it was cut off
                known = replace(known, ending=Ending.WORLD_FAILED, error=INTERRUPTED)
                recorder.finish(known)
            entry.note(known)
            past.append(known)
    for trajectory in past:
        show(trajectory)

    async def play(entry: _Entry, world: World) -> Trajectory:
        trajectory = await run_episode(
            entry.planned.task,
            policy,
            world,
            provenance=entry.planned.provenance,
            attempt=entry.attempts + 1,
            recorder=recorder,
            step_timeout=step_timeout,
        )
        show(trajectory)
        return trajectory

    budget = budget_steps if isinstance(budget_steps, StepBudget) else StepBudget(budget_steps)
    budget.settle(0, sum(_real_steps(each) for each in past if each.error != INTERRUPTED))
    queue = _Queue([entry for entry in entries if not entry.is_settled(retries)], budget, retries)
    players = (_Player(queue, open_world, play) for _ in range(min(concurrency, queue.length)))
    running = [asyncio.ensure_future(player.play_on()) for player in players]
    try:
        await asyncio.gather(*running)
    finally:
        # When one raises, the others are stopped and close their worlds.
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    return [entry.result for entry in entries if entry.result is not None]


@dataclass(slots=True, eq=False)
class _Entry:
    """A planned episode with what has become of it so far."""

    planned: PlannedEpisode
    attempts: int = 0
    failures: int = 0
    losses: int = 0
    """Attempts that were cut off in this call."""
    is_hopeless: bool = False
    """Whether another attempt would end like the last."""
    result: Trajectory | None = None

    @property
    def real_steps(self) -> int:
        """Return the most steps one attempt can take on real pages."""
        planned = self.planned
        return 0 if planned.provenance.imagined else planned.task.max_steps

    def note(self, trajectory: Trajectory) -> None:
        """Book one attempt; being cut off is nobody's failure."""
        self.attempts += 1
        if trajectory.ending is None or not trajectory.ending.is_infrastructure:
            self.result = trajectory
        elif trajectory.error != INTERRUPTED:
            self.failures += 1
            self.is_hopeless = trajectory.ending is Ending.CAPTCHA

    def is_settled(self, retries: int) -> bool:
        return self.result is not None or self.failures > retries or self.is_hopeless


class _Queue:
    """Hands out the entries in order, each with its steps set aside."""

    def __init__(self, entries: list[_Entry], budget: StepBudget, retries: int) -> None:
        self.length = len(entries)
        self._waiting = deque(entries)
        self._budget = budget
        self._retries = retries
        self._turn = asyncio.Lock()

    async def take(self) -> _Entry | None:
        """Return the next entry once its steps are free; None when plan or budget is used up."""
        async with self._turn:
            if not self._waiting:
                return None
            if await self._budget.reserve_in_time(self._waiting[0].real_steps):
                return self._waiting.popleft()
            self._waiting.clear()
            return None

    def take_now(self) -> _Entry | None:
        """Return the next entry, if its steps are free and nobody is waiting for it."""
        if self._turn.locked() or not self._waiting:
            return None
        if not self._budget.reserve(self._waiting[0].real_steps):
            return None
        return self._waiting.popleft()

    def give_back(self, entry: _Entry, trajectory: Trajectory) -> bool:
        """Book an attempt; return whether the entry is played again, its steps reserved."""
        entry.note(trajectory)
        is_cut_off = trajectory.error == INTERRUPTED
        entry.losses += is_cut_off
        entry.is_hopeless |= entry.losses >= _LOSSES
        self._budget.settle(entry.real_steps, 0 if is_cut_off else _real_steps(trajectory))
        return not entry.is_settled(self._retries) and self._budget.reserve(entry.real_steps)


class _Player:
    """Takes entries and plays them in its world until none are left."""

    def __init__(
        self,
        queue: _Queue,
        open_world: OpenWorld,
        play: Callable[[_Entry, World], Awaitable[Trajectory]],
    ) -> None:
        self._queue = queue
        self._following: _Entry | None = None

        def settle_upcoming() -> Task | None:
            """Settle what this player plays next, so that the right page is prepared."""
            self._following = self._following or queue.take_now()
            return self._following.planned.task if self._following else None

        self._world = ReopeningWorld(open_world, settle_upcoming)
        self._play = play

    async def play_on(self) -> None:
        try:
            while entry := self._following or await self._queue.take():
                self._following = None
                is_unsettled = True
                while is_unsettled:
                    trajectory = await self._play(entry, self._world)
                    if trajectory.ending is Ending.WORLD_FAILED:
                        await self._world.close()
                    is_unsettled = self._queue.give_back(entry, trajectory)
        finally:
            await self._world.close()


def _real_steps(trajectory: Trajectory) -> int:
    return 0 if trajectory.provenance.imagined else len(trajectory.steps)


Request = TypeVar("Request")
Result = TypeVar("Result")


class Batcher(Generic[Request, Result]):
    """Gathers the requests of one event-loop turn and hands them to one function.

    `answer` gives as many results as it gets requests, in the same order. It runs inline: while it
    computes, the loop stands still and the next batch gathers behind it. What it raises is raised
    to every requester of the batch. A cancelled request is left out if its batch has not been
    answered yet, and never disturbs the others.
    """

    def __init__(self, answer: Callable[[list[Request]], Sequence[Result]]) -> None:
        self._answer = answer
        self._open: _Batch[Request, Result] | None = None

    async def __call__(self, request: Request) -> Result:
        """Return the function's result for this request."""
        batch = self._open
        if batch is None or batch.is_closed:
            batch = self._open = _Batch(self._answer)
        return await batch.result_of(request)


class _Batch(Generic[Request, Result]):
    """One call of the function, a turn of the loop after the first request came in."""

    def __init__(self, answer: Callable[[list[Request]], Sequence[Result]]) -> None:
        self.is_closed = False
        self.requests: list[Request] = []
        self._waiters: list[asyncio.Future[dict[int, Result]]] = []
        self._answer = answer
        self._answered = asyncio.ensure_future(self._run())

    async def result_of(self, request: Request) -> Result:
        place, waiter = len(self.requests), asyncio.shield(self._answered)
        self.requests.append(request)
        self._waiters.append(waiter)
        return (await waiter)[place]

    async def _run(self) -> dict[int, Result]:
        await asyncio.sleep(0)
        self.is_closed = True
        wanted = [place for place, waiter in enumerate(self._waiters) if not waiter.done()]
        if not wanted:
            return {}
        results = self._answer([self.requests[place] for place in wanted])
        return dict(zip(wanted, results, strict=True))
