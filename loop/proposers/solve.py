"""Having a proposal solved: a policy tries it, and its checks are tried on doing nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.oracles import ORACLES, OraclePolicy
from benchmarks.rules import checks_hold
from evaluators.evaluator import FunctionEvaluator
from loop.proposers.filters import Solving
from loop.proposers.prove_stage import Playing, Stage
from tasks.proposal import Proposal
from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Answer, GiveUp
from webagent.errors import PolicyError
from webagent.policy.policy import Policy, ScriptedPolicy, play_actions
from webagent.records import Decision, Observation, Trajectory

CHECKS = checks_hold()
NOTHING: dict[str, Action] = {"doing nothing": Answer(), "giving up": GiveUp()}


@dataclass(slots=True)
class Solver:
    """Tries proposals on a stage, each from a fresh state, until one try succeeds.

    Where a task has checks, they decide: those that hold although nothing was done, or that cannot
    tell then, are no checks at all. Where it has none that can be trusted, the judge decides; with
    no judge the task counts as unsolved.
    """

    policy: Policy
    name: str
    stage: Stage
    tries: int = 3
    judge: FunctionEvaluator | None = None

    async def __call__(self, proposal: Proposal) -> Solving | None:
        """What came of it; None where the worlds failed at every try. Raises `ModelError`."""
        fault = await self._fault(proposal.task)
        if fault is None:
            return None
        if fault and self.judge is None:
            return Solving(
                False,
                0,
                by=self.name,
                reason=fault,
                fooled_by=fault.removeprefix(_HOLD).strip() if fault.startswith(_HOLD) else "",
            )
        judge = self.judge if fault and self.judge is not None else CHECKS
        reason, tried = "", 0
        for number in range(1, self.tries + 1):
            [episode] = await self._play(proposal.task, [self.policy], f"try {number}")
            if episode is None:
                continue
            tried += 1
            score = await judge(replace(episode, task=proposal.task))
            reason = score.reason
            if score.value is not None and score.value >= 0.5:
                return Solving(True, number, episode.id, self.name, not fault, reason)
        if not tried:
            return None
        return Solving(False, tried, by=self.name, is_checked=not fault, reason=reason)

    async def _fault(self, task: Task) -> str | None:
        """Why a task's checks cannot tell whether it was done; empty where they can, None where the
        worlds failed."""
        if not task.checks:
            return "it has no checks, and there is no judge"
        idle = [ScriptedPolicy(play_actions([action]), name="idle") for action in NOTHING.values()]
        for what, episode in zip(NOTHING, await self._play(task, idle, "idle"), strict=True):
            if episode is None:
                return None
            score = await CHECKS(replace(episode, task=task))
            if score.value is None:
                return f"its checks cannot tell of {what}: {score.reason}"
            if score.value >= 0.5:
                return f"{_HOLD} {what}"
        return ""

    async def _play(
        self, task: Task, policies: Sequence[Policy], what: str
    ) -> list[Trajectory | None]:
        wanted = [Playing(task, policy) for policy in policies]
        return await self.stage.play(wanted, f"solve {task.id} {what}")


class ParentOracles:
    """The oracle of the template that a task was made from: it knows how such a goal is done, where
    that is still said in the template's words."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """As that oracle. Raises `PolicyError` where there is none, or it cannot read the goal."""
        return await self._of(trajectory.task).act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """As that oracle. Raises `PolicyError`."""
        return await self._of(trajectory.task).propose(trajectory, observation, n)

    def _of(self, task: Task) -> OraclePolicy:
        name = (task.parent or task.id).rsplit("/", 1)[-1].split("@", 1)[0]
        if name not in ORACLES:
            raise PolicyError(f"no oracle knows how {name} is done")
        return OraclePolicy(name)


_HOLD = "its checks also hold for"
