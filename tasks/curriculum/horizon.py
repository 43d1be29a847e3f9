"""Horizons: how many steps an episode may take, few in the first rounds and more in later ones."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Horizon:
    """AgentGym-RL's ScalingInter (arXiv 2509.08755): interaction grows while a policy learns.

    There 8, 12 and 15 steps by phases; here a share of what the task allows, in even steps.
    """

    first: float = 0.5
    """Share of a task's steps in the first round."""
    grown: float = 0.6
    """Share of the rounds after which tasks have all their steps."""
    short: int = 5
    """Steps that a task is never held below; tasks that allow no more are left alone."""

    def steps(self, most: int, round: int, rounds: int) -> int:
        """Steps of an episode in a round (from 1) of so many, for a task that allows `most`."""
        turns = max(1.0, self.grown * rounds)
        share = min(1.0, self.first + (1 - self.first) * (round - 1) / turns)
        return min(most, max(self.short, math.ceil(most * share)))


NO_LIMIT = Horizon(first=1.0)
"""All steps from the first round on."""
