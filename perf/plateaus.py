"""How often the warning of a plateau comes before one, and how often before none.

    python perf/plateaus.py COURSES [FIRST]

Simulated learners of six kinds go through twelve rounds of 80 to 480 steps. What follows
a round is flat when the next three add less than two points to the true success; a course is on its
plateau from the round on after which it stays flat.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
# tests.fakes is installed nowhere: this checkout must be found first.
sys.path.insert(0, str(ROOT))

from evaluators.statistics import wilson  # noqa: E402
from tasks.curriculum import plateau_warning  # noqa: E402
from tests.fakes.learner import ROUNDS, Course, population_of  # noqa: E402

AHEAD, POINTS = 3, 0.02
STEPS = (80, 160, 240, 480)


@dataclass
class Counts:
    """Over all courses."""

    warned: int = 0
    false: int = 0
    rising: int = 0
    """Rounds after which success rose."""
    plateaus: int = 0
    seen: int = 0
    """Plateaus warned of before their second round."""


def main() -> None:
    """Print the rates with Wilson 95 % intervals."""
    courses = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    counts = Counts()
    for seed in range(first, first + courses):
        truth, warned = play(seed)
        count(counts, truth, warned)
    print(f"{courses} courses of {ROUNDS} rounds, from {first}")
    tell("false among warnings", counts.false, counts.warned)
    tell("warned though success rose", counts.false, counts.rising)
    tell("plateaus warned of in time", counts.seen, counts.plateaus)


def play(seed: int) -> tuple[list[float], list[bool]]:
    """True success after each round, from 0 on, and whether the next was warned of."""
    steps = int(np.random.default_rng([7, seed]).choice(STEPS))
    course = Course(population_of(seed), np.random.default_rng([2, seed]), steps=steps)
    truth, warned = [course.population.success], [False]
    for now in range(1, ROUNDS + 1):
        course.go(now)
        truth.append(course.population.success)
        warned.append(bool(plateau_warning(course.monitors)))
    return truth, warned


def count(counts: Counts, truth: Sequence[float], warned: Sequence[bool]) -> None:
    """Add a course; its last round has nothing after it."""
    places = range(2, ROUNDS - 1)
    flat = {place: is_flat(truth, place) for place in places}
    counts.warned += sum(warned[place] for place in places)
    counts.false += sum(warned[place] and not flat[place] for place in places)
    counts.rising += sum(not flat[place] for place in places)
    start = next((p for p in places if all(flat[later] for later in range(p, ROUNDS - 1))), None)
    if start is not None and start < ROUNDS - 2:
        counts.plateaus += 1
        counts.seen += any(warned[start - 1 : start + 2])


def is_flat(truth: Sequence[float], place: int) -> bool:
    """Whether what follows a round adds next to nothing."""
    end = min(place + AHEAD, ROUNDS)
    return truth[end] - truth[place] < POINTS * (end - place) / AHEAD


def tell(what: str, part: int, whole: int) -> None:
    """A rate with its interval."""
    low, high = wilson(part, max(1, whole))
    print(f"{what}: {part} of {whole}, {part / max(1, whole):.1%} ({low:.1%} to {high:.1%})")


if __name__ == "__main__":
    main()
