"""Training examples of a reward model: labelled episodes, and hard negatives made of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evaluators.reward.negatives import KINDS, add_success_claim, corrupt
from webagent.records import Trajectory

BOASTED = 0.15
"""Share of real episodes shown once more on a page that says all went well, label unchanged."""

NEAR_MISSES = ("hurried", "wrong value", "wrong element", "undone", "other goal")
"""Kinds that look most like successes; drawn first, and found in fewest episodes."""
_NEAR = 4.0


class TrainingExample(NamedTuple):
    """An episode and what is to be said of it."""

    trajectory: Trajectory
    success: bool
    kind: str = ""
    """How it was corrupted; empty for an episode as it was."""


def build_examples(
    trajectories: Iterable[Trajectory],
    success: Mapping[str, float | None],
    negatives: int = 2,
    seed: int = 0,
    kinds: Sequence[str] = tuple(KINDS),
) -> list[TrainingExample]:
    """Return labelled real episodes, and up to `negatives` failures made of each success.

    Episodes without a label, without steps or imagined ones teach nothing. Some are shown once
    more on a boasting page, successes too, so that the boast itself says nothing.
    """
    labelled = [
        (t, label >= 0.5)
        for t in trajectories
        if (label := success.get(t.id)) is not None and t.steps and not t.provenance.imagined
    ]
    others = [t for t, _ in labelled]
    rng = np.random.default_rng(seed)
    alike: defaultdict[str, list[Trajectory]] = defaultdict(list)
    for trajectory, _ in labelled:
        alike[trajectory.task.name].append(trajectory)
    found: list[TrainingExample] = []
    for trajectory, is_good in labelled:
        found.append(TrainingExample(trajectory, is_good))
        if is_good:
            nearby = [*_drawn(others, 8, rng), *_drawn(alike[trajectory.task.name], 4, rng)]
            found.extend(_corrupted(trajectory, nearby, negatives, rng, kinds))
        if rng.random() < BOASTED:
            found.append(TrainingExample(add_success_claim(trajectory, rng), is_good, "boasted"))
    return found


def _corrupted(
    trajectory: Trajectory,
    nearby: Sequence[Trajectory],
    count: int,
    rng: np.random.Generator,
    kinds: Sequence[str],
) -> Iterator[TrainingExample]:
    """Yield at most `count` of the kinds that this success has, in random order."""
    weights = np.array([_NEAR if kind in NEAR_MISSES else 1.0 for kind in kinds])
    for kind in rng.choice(list(kinds), len(kinds), replace=False, p=weights / weights.sum()):
        if not count:
            return
        made = corrupt(trajectory, str(kind), nearby, rng)
        if made is not None:
            count -= 1
            yield TrainingExample(made, False, str(kind))


def _drawn(
    trajectories: Sequence[Trajectory], count: int, rng: np.random.Generator
) -> list[Trajectory]:
    return [trajectories[int(i)] for i in rng.integers(len(trajectories), size=count)]
