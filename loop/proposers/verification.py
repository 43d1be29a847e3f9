"""Solving proposals: tries by a policy, and checks that tell a solution from doing nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.rules import checks_hold
from evaluators.evaluator import FunctionEvaluator
from loop.proposers.records import SolveResult
from tasks.task import Task, TaskProposal
from webagent.action import Action
from webagent.action.actions import Answer, GiveUp
from webagent.policy.policy import Policy, ScriptedPolicy, play_actions
from webagent.records import Decision, Observation, Provenance, Trajectory
from webagent.rollout import OpenWorld, PlannedEpisode, Recorder, collect


@dataclass(frozen=True, slots=True)
class PlannedPlay:
    """One episode that is wanted: a task and who plays it."""

    task: Task
    policy: Policy


@dataclass(frozen=True, slots=True)
class EpisodePlayer:
    """Where episodes are played. The same calls with the same recorder are loaded, not played."""

    open_world: OpenWorld
    recorder: Recorder | None = None
    provenance: Provenance = field(default_factory=Provenance)
    concurrency: int = 1
    on_episode: Callable[[Trajectory], None] | None = None

    async def play(self, wanted: Sequence[PlannedPlay], phase: str) -> list[Trajectory | None]:
        """Return the episodes in order, None for one that the worlds failed at for good.

        `phase` tells the calls of one player apart; each needs one of its own.
        """
        provenance = replace(self.provenance, phase=phase)
        plan = [
            PlannedEpisode(each.task, replace(provenance, index=index))
            for index, each in enumerate(wanted)
        ]
        played = await collect(
            plan,
            _PolicyByIndex([each.policy for each in wanted]),
            self.open_world,
            concurrency=self.concurrency,
            recorder=self.recorder,
            on_episode=self.on_episode,
        )
        found = {episode.provenance.index: episode for episode in played}
        return [found.get(index) for index in range(len(plan))]


@dataclass(frozen=True, slots=True)
class _PolicyByIndex:
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


_SCORE_CHECKS = checks_hold()
_IDLE: Mapping[str, Action] = {"doing nothing": Answer(), "giving up": GiveUp()}
"""What is no solution of any task."""


@dataclass(slots=True)
class ProposalSolver:
    """Tries proposals with a player, each from a fresh state, until one try succeeds.

    Where a task has checks, they decide: those that hold although nothing was done, or that cannot
    tell then, are no checks at all. Where it has none that can be trusted, the judge decides; with
    no judge the task counts as unsolved.
    """

    policy: Policy
    name: str
    player: EpisodePlayer
    tries: int = 3
    judge: FunctionEvaluator | None = None

    async def __call__(self, proposal: TaskProposal) -> SolveResult | None:
        """Return what came of it; None where the worlds failed every time. Raises `ModelError`."""
        task = proposal.task
        found = await self._find_fault(proposal)
        if found is None:
            return None
        fault, fooled_by = found
        if fault and self.judge is None:
            return SolveResult(False, by=self.name, reason=fault, fooled_by=fooled_by)
        judge = self.judge if fault and self.judge is not None else _SCORE_CHECKS
        reason, tried = "", 0
        for number in range(1, self.tries + 1):
            play = PlannedPlay(task, self.policy)
            [episode] = await self.player.play([play], f"solve {task.id} try {number}")
            if episode is None:
                continue
            tried += 1
            score = await judge(replace(episode, task=task))
            reason = score.reason
            if score.value is not None and score.value >= 0.5:
                return SolveResult(True, number, episode.id, self.name, not fault, reason)
        if not tried:
            return None
        return SolveResult(False, tried, by=self.name, is_checked=not fault, reason=reason)

    async def _find_fault(self, proposal: TaskProposal) -> tuple[str, str] | None:
        """Return why a task's checks cannot tell whether it was done, and what they wrongly take.

        Both are empty where the checks can tell; None where the worlds failed.
        """
        task = proposal.task
        if not task.checks:
            return "it has no checks, and there is no judge", ""
        plays = [PlannedPlay(task, ScriptedPolicy(play_actions([each]))) for each in _IDLE.values()]
        episodes = await self.player.play(plays, f"solve {task.id} idle")
        for what, episode in zip(_IDLE, episodes, strict=True):
            if episode is None:
                return None
            score = await _SCORE_CHECKS(replace(episode, task=task))
            if score.value is None:
                return f"its checks cannot tell of {what}: {score.reason}", ""
            if score.value >= 0.5:
                return f"its checks also hold for {what}", what
        return "", ""
