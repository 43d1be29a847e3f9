"""How many times as many steps even draws need as the curriculum, on simulated learners.

    python perf/curricula.py [--seeds 24] [--focus 1.5] [--unsolved 0.15] [--patience 8]

To the lower of the successes that both reach at the end, on the mean over the seeds. The learners
are tests/fakes/learner.py's, which also says what each assumes. It is no proof of what real tasks
do; it shows which settings go wrong where.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
# tests.fakes is installed nowhere: this checkout must be found first.
sys.path.insert(0, str(ROOT))

from tasks.curriculum import Rules  # noqa: E402
from tests.fakes import learner as fake  # noqa: E402

Make = Callable[[int], fake.Population]
LEARNERS: dict[str, tuple[Make, int, int]] = {
    "rising a little with each success": (fake.all_within_reach, 12, 240),
    "half never shown": (fake.half_never_shown, 5, 240),
    "a first success teaches most": (fake.sudden, 4, 250),
    "curves with ceilings": (fake.curved, 4, 250),
    "curves with ceilings, longer": (fake.curved, 8, 250),
}


def course(
    make: Make, seed: int, is_even: bool, size: tuple[int, int], asked: argparse.Namespace
) -> list[float]:
    """Success after each round, from before the first on."""
    rounds, steps = size
    going = fake.Course(make(seed), np.random.default_rng(seed), is_even, steps)
    going.curriculum = replace(
        going.curriculum,
        focus=asked.focus,
        even_share=asked.even,
        unsolved_share=asked.unsolved,
        rules=Rules(patience=asked.patience),
    )
    found = [going.population.success]
    for now in range(1, rounds + 1):
        going.go(now)
        found.append(going.population.success)
    return found


def main() -> None:
    """Print a line for each kind of learner."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--focus", type=float, default=1.5)
    parser.add_argument("--even", type=float, default=0.1)
    parser.add_argument("--unsolved", type=float, default=0.15)
    parser.add_argument("--patience", type=int, default=8)
    asked = parser.parse_args()
    for name, (make, rounds, steps) in LEARNERS.items():
        size = rounds, steps
        ours, even = (
            np.array([course(make, s, is_even, size, asked) for s in range(asked.seeds)])
            for is_even in (False, True)
        )
        ahead = ours[:, -1] - even[:, -1]
        off = 1.96 * ahead.std(ddof=1) / len(ahead) ** 0.5
        print(
            f"{name:36} {_times(ours.mean(0), even.mean(0)):.2f} times;"
            f" from {100 * ours[:, 0].mean():.1f} % to {100 * ours[:, -1].mean():.1f} %,"
            f" even draws {100 * even[:, -1].mean():.1f} %;"
            f" ahead by {100 * ahead.mean():.1f} ± {100 * off:.1f} points",
            flush=True,
        )


def _times(ours: np.ndarray, even: np.ndarray) -> float:
    """Even draws' steps for one of ours, to what both reach."""
    level, rounds = min(ours[-1], even[-1]), np.arange(len(ours))
    needed = [np.interp(level, np.maximum.accumulate(curve), rounds) for curve in (even, ours)]
    return float(needed[0] / needed[1])


if __name__ == "__main__":
    main()
