"""The stage that proofs are played on: worlds, a recorder, and what it has cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tasks.task import Task
from webagent.policy.policy import Policy
from webagent.records import Decision, Observation, Provenance, Trajectory
from webagent.rollout import OpenWorld, PlannedEpisode, Recorder, collect


@dataclass(frozen=True, slots=True)
class Playing:
    """One episode that is wanted: a task and who plays it."""

    task: Task
    policy: Policy


@dataclass(slots=True)
class Stage:
    """Where episodes are played. The same calls with the same recorder are loaded, not played."""

    open_world: OpenWorld
    recorder: Recorder | None = None
    provenance: Provenance = field(default_factory=Provenance)
    concurrency: int = 1
    step_timeout: float = 60.0
    on_episode: Callable[[Trajectory], None] | None = None
    steps: int = 0
    """Real steps taken so far, those of failed worlds included."""
    episodes: int = 0
    error: str = ""
    """Of the last episode that the worlds failed at."""

    async def play(self, wanted: Sequence[Playing], phase: str) -> list[Trajectory | None]:
        """The episodes in order, None for one that the worlds failed at for good.

        `phase` tells the calls of one stage apart; each needs one of its own.
        """
        provenance = replace(self.provenance, phase=phase)
        plan = [
            PlannedEpisode(each.task, replace(provenance, index=index))
            for index, each in enumerate(wanted)
        ]
        played = await collect(
            plan,
            _EachItsOwn([each.policy for each in wanted]),
            self.open_world,
            concurrency=self.concurrency,
            recorder=self.recorder,
            on_episode=self._count,
            step_timeout=self.step_timeout,
        )
        found = {episode.provenance.index: episode for episode in played}
        return [found.get(index) for index in range(len(plan))]

    def _count(self, episode: Trajectory) -> None:
        self.steps += len(episode.steps)
        self.episodes += 1
        self.error = episode.error or self.error
        if self.on_episode is not None:
            self.on_episode(episode)


@dataclass(frozen=True, slots=True)
class _EachItsOwn:
    """Gives every episode of a plan the policy of its place."""

    policies: Sequence[Policy]

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        policy = self.policies[trajectory.provenance.index]
        return await policy.act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        policy = self.policies[trajectory.provenance.index]
        return await policy.propose(trajectory, observation, n)
