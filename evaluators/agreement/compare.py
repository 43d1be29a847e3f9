"""Two evaluators on the same episodes: how much better the one is, pair by pair."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.agreement.agree import Measured
from evaluators.agreement.intervals import resampled
from evaluators.agreement.measures import MEASURES, PASSES, Array, tables, turned
from evaluators.agreement.pairs import Pair


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first evaluator beside the second."""

    episodes: int
    """On which both spoke."""
    tasks: int
    only_first_right: int
    only_second_right: int
    differences: Measured
    """The first's measure less the second's; both are drawn together."""


def compare(first: Sequence[Pair], second: Sequence[Pair], threshold: float = PASSES) -> Comparison:
    """The differences over the episodes on which both spoke; the rest says nothing of who is right.

    What is left out is in the coverage of each. Intervals resample tasks, both evaluators' values
    of a task together.
    """
    theirs = {pair.episode: pair for pair in second if pair.value is not None}
    ours = [pair for pair in first if pair.value is not None and pair.episode in theirs]
    beside = [theirs[pair.episode] for pair in ours]
    joint = np.concatenate([tables(ours, threshold), tables(beside, threshold)], axis=1)
    right = [((a.value or 0.0) >= threshold) == a.truth for side in (ours, beside) for a in side]
    one, other = np.array(right[: len(ours)], bool), np.array(right[len(ours) :], bool)
    return Comparison(
        episodes=len(ours),
        tasks=len(joint),
        only_first_right=int((one & ~other).sum()),
        only_second_right=int((other & ~one).sum()),
        differences={
            name: resampled(
                joint,
                _difference(measure),
                (-2.0, 2.0) if name == "kappa" else (-1.0, 1.0),
                _TURNED,
            )
            for name, measure in MEASURES.items()
        },
    )


def _first_turned(sums: Array) -> Array:
    return np.concatenate([turned(sums[..., :4]), sums[..., 4:]], axis=-1)


def _second_turned(sums: Array) -> Array:
    return np.concatenate([sums[..., :4], turned(sums[..., 4:])], axis=-1)


_TURNED = (_first_turned, _second_turned)


def _difference(measure: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda sums: np.asarray(measure(sums[..., :4]) - measure(sums[..., 4:]))
