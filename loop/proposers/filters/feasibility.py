"""Feasibility: a task that nobody has ever solved is not taken."""

from dataclasses import dataclass

from tasks.proposal import UNTRIED, Refusal


@dataclass(frozen=True, slots=True)
class Solving:
    """What came of solving a task."""

    is_solved: bool
    tries: int = 0
    solution: str = ""
    """Id of the episode that solves it."""
    by: str = ""
    """Who solved it, or who tried: `oracle`, `demonstration`, `exploration`, a policy's name."""
    is_checked: bool = False
    """Whether its own checks said so: they hold for the solution and fail where nothing is done.
    Where not, a judge did, and checks a model wrote beside it are not to be trusted."""
    reason: str = ""
    """In a sentence, as whoever judged it gave it."""
    fooled_by: str = ""
    """What the task's checks hold for although it is no solution, as `doing nothing`."""


def feasibility(proof: Solving | None) -> Refusal | None:
    """Why a task is not known to be feasible; None where it was solved."""
    if proof is None:
        return Refusal("feasibility", UNTRIED)
    if proof.is_solved:
        return None
    if proof.fooled_by:
        return Refusal("validity", f"its checks also hold for {proof.fooled_by}")
    who = proof.by or "nobody"
    times = f"{proof.tries} {'try' if proof.tries == 1 else 'tries'}"
    return Refusal("feasibility", f"not solved in {times} by {who}: {proof.reason}".rstrip(": "))
