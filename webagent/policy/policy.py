"""The seam between an episode and whatever chooses its actions."""

from collections.abc import Sequence
from typing import Protocol

from webagent.records import Decision, Observation, Trajectory


class Policy(Protocol):
    """Anything that can act: a model, a script, look-ahead around either."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The next action.

        Raises `PolicyError` when there is none, `ModelError` when the model fails.
        """
        ...

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """At most n different actions, best first, each with its log-probability."""
        ...
