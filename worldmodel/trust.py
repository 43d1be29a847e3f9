"""Trust: whether the world model's belief in success has been right on real episodes held back."""

from collections.abc import Sequence
from typing import Protocol

from webagent.records import Trajectory
from worldmodel.model import Outcome, Situation
from worldmodel.transitions import Transition

HELD_BACK = 7
"""One real episode in so many is never trained on, so that belief can be checked against it."""


class Foresees(Protocol):
    """What says how actions will turn out; the world model does."""

    def outcomes(self, situations: Sequence[Situation]) -> list[Outcome]:
        """Return one outcome for each situation."""
        ...


def is_held_back(trajectory: Trajectory) -> bool:
    """Return whether the episode is kept for checking; fixed by its id."""
    return int(trajectory.id[:8], 16) % HELD_BACK == 0


def precision_of_belief(
    world: Foresees, transitions: Sequence[Transition], belief: float
) -> tuple[float, int]:
    """Return how often real last steps that the model gave P(success) >= `belief` did succeed.

    Returns that share and how many there were; 0 when it believed in none.
    """
    ended = [t for t in transitions if t.after.over]
    outcomes = world.outcomes([Situation(t.before, t.steps, t.action) for t in ended])
    believed = [
        t for t, o in zip(ended, outcomes, strict=True) if o.succeeds >= belief and o.ends >= 0.5
    ]
    right = sum(t.succeeded for t in believed)
    return (right / len(believed) if believed else 0.0), len(believed)
