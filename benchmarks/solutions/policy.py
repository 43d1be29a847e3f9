"""Oracles as a policy, so that demonstrations are played like any other episode."""

from collections.abc import Sequence

from benchmarks.solutions.registry import ORACLES
from benchmarks.solutions.view import View
from webagent.action import format_action
from webagent.errors import PolicyError, unknown_name
from webagent.records import Candidate, Decision, Observation, Trajectory


class OraclePolicy:
    """Plays one task as its oracle does. Raises `SetupError` for a task without one."""

    def __init__(self, task: str) -> None:
        if task not in ORACLES:
            raise unknown_name("oracle", task, ORACLES)
        self._task = task
        self._choose = ORACLES[task]

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The oracle's action. Raises `PolicyError` when it sees nothing to do."""
        try:
            action = self._choose(View.of(trajectory, observation))
        except (LookupError, StopIteration, ValueError) as error:
            raise PolicyError(f"the oracle of {self._task} is lost here: {error!r}") from error
        return Decision(action, source="demonstration")

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """The one action an oracle knows, with log-probability zero."""
        decision = await self.act(trajectory, observation)
        candidate = Candidate(format_action(decision.action), log_prob=0.0)
        return [Decision(decision.action, source="demonstration", candidates=(candidate,))][:n]
