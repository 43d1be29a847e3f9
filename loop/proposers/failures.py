"""From failures: tasks that were tried, made easier, harder or sideways.

The self-evolving curriculum of WebRL (Qi et al., ICLR 2025): what was failed seeds new tasks, and
those are kept whose chance of success, by its critic, lies in [0.05, 0.75]. Here solved tasks seed
as well, the chance is the one the curriculum itself counts, and it says which way to go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from loop.proposers.request import Request, common_slots, shared_out
from loop.proposers.scope import Scope
from tasks.task import Task
from tasks.variants import Attempt

Chance = Callable[[Attempt], float]
"""How likely a task is solved the next time, 0 to 1."""

EASIER_UNTIL, HARDER_FROM = 0.25, 0.75
_LEAST_WORTH = 0.05


@dataclass(frozen=True, slots=True)
class Seed:
    """A task that was tried, and how what is made from it is to differ."""

    attempt: Attempt
    chance: float
    direction: str
    """One of `loop.proposers.draft.DIRECTIONS`."""


def expected(attempt: Attempt) -> float:
    """The mean of p ~ Beta(successes + 1, failures + 1), the curriculum's own belief."""
    return (attempt.successes + 1) / (attempt.tries + 2)


def seeds(
    attempts: Sequence[Attempt],
    count: int,
    rng: np.random.Generator,
    chance: Chance = expected,
) -> list[Seed]:
    """`count` of the attempts, those drawn more often of which more is to be learnt, p(1-p), with
    a floor; what is hardly ever solved is to become easier, what nearly always is, harder."""
    tried = [attempt for attempt in attempts if attempt.tries]
    if not tried:
        return []
    chances = np.array([min(max(chance(attempt), 0.0), 1.0) for attempt in tried])
    weights = np.maximum(4 * chances * (1 - chances), _LEAST_WORTH)
    chosen = rng.choice(
        len(tried), min(count, len(tried)), replace=False, p=weights / weights.sum()
    )
    return [
        Seed(tried[int(i)], float(chances[int(i)]), _direction(float(chances[int(i)])))
        for i in chosen
    ]


def from_seeds(
    scope: Scope,
    chosen: Sequence[Seed],
    count: int,
    known: Sequence[Task] = (),
    at_once: int = 4,
) -> list[Request]:
    """Requests that show some tried tasks each with the direction asked for."""
    groups = [chosen[start : start + at_once] for start in range(0, len(chosen), at_once)]
    return [
        Request(
            "failures",
            "failures",
            share,
            common_slots(scope, share, known),
            {"attempts": _told(group)},
            origins=tuple(f"{seed.attempt.task.id}, {_rate(seed)}" for seed in group),
            parents=tuple(seed.attempt.task.id for seed in group),
            directions=tuple(seed.direction for seed in group),
        )
        for group, share in zip(groups, shared_out(count, len(groups)), strict=True)
        if share
    ]


def _direction(chance: float) -> str:
    if chance <= EASIER_UNTIL:
        return "easier"
    return "harder" if chance >= HARDER_FROM else "sideways"


def _rate(seed: Seed) -> str:
    return f"solved {seed.attempt.successes} of {seed.attempt.tries} times"


def _told(chosen: Sequence[Seed]) -> str:
    return "\n\n".join(
        f"{number}. {' '.join(seed.attempt.task.goal.split())}\n"
        f"   {_rate(seed)}; direction: {seed.direction}"
        for number, seed in enumerate(chosen, 1)
    )
