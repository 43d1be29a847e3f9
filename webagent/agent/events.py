"""What is reported of a task while it is done, and the two seams it is reported at."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tasks.task import Json, Task
from webagent.action import Action
from webagent.agent.stop import Stop
from webagent.policy.policy import Policy
from webagent.records import Decision, Observation, Trajectory
from webagent.rollout.world import World


@dataclass(frozen=True, slots=True)
class Began:
    """The first page is there."""

    seen: Observation


@dataclass(frozen=True, slots=True)
class Decided:
    """The next action is known, and about to be done."""

    number: int
    """Of the step, from 1."""
    seen: Observation
    """What it was decided on."""
    decision: Decision


@dataclass(frozen=True, slots=True)
class Done:
    """The action was done, or could not be: `seen.outcome` says."""

    number: int
    seen: Observation
    """The page that came of it."""
    seconds: float


Event: TypeAlias = Began | Decided | Done
Listen: TypeAlias = Callable[[Event], object]
"""Called in the event loop; it must not block."""


class ReportingPolicy:
    """The policy; its decisions are reported, and it is not waited for once all is to end."""

    def __init__(self, policy: Policy, stop: Stop, listen: Listen) -> None:
        self._policy, self._stop, self._listen = policy, stop, listen

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Call the policy. Raises `StoppedError`."""
        decision = await self._stop.unless(self._policy.act(trajectory, observation))
        self._listen(Decided(len(trajectory.steps) + 1, observation, decision))
        return decision

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Call the policy. Raises `StoppedError`."""
        return await self._stop.unless(self._policy.propose(trajectory, observation, n))


class ReportingWorld:
    """The world; outcomes of actions are reported, and it is not waited for once all is to end."""

    def __init__(self, world: World, stop: Stop, listen: Listen) -> None:
        self._world, self._stop, self._listen = world, stop, listen
        self._steps = 0

    async def reset(self, task: Task) -> Observation:
        """Call the world. Raises `StoppedError`."""
        seen = await self._stop.unless(self._world.reset(task))
        self._listen(Began(seen))
        return seen

    async def step(self, action: Action) -> Observation:
        """Call the world. Raises `StoppedError`."""
        began = time.monotonic()
        seen = await self._stop.unless(self._world.step(action))
        self._steps += 1
        self._listen(Done(self._steps, seen, time.monotonic() - began))
        return seen

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """Call the world."""
        return await self._world.evidence(task)

    async def close(self) -> None:
        """Call the world."""
        await self._world.close()
