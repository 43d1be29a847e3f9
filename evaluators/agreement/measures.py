"""Precision, recall and their like, from counts, for one table of counts or many at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluators.agreement.pairs import Pair

Array: TypeAlias = NDArray[np.float64]
PASSES = 0.5
"""Value at and above which an evaluator passes an episode."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How often an evaluator was right and wrong, where it spoke."""

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int


def outcome(pair: Pair, threshold: float = PASSES) -> int | None:
    """The place of an episode in `Counts`; None where the evaluator abstained."""
    if pair.value is None:
        return None
    passes = pair.value >= threshold
    return (0 if pair.truth else 1) if passes else (2 if pair.truth else 3)


def tables(pairs: Sequence[Pair], threshold: float = PASSES) -> Array:
    """(clusters, 4) counts of each task, or of each episode where tasks are not named."""
    places = {cluster: i for i, cluster in enumerate(dict.fromkeys(p.cluster for p in pairs))}
    table = np.zeros((len(places), 4))
    for pair in pairs:
        column = outcome(pair, threshold)
        if column is not None:
            table[places[pair.cluster], column] += 1
    return table


def turned(table: Array) -> Array:
    """The counts had the evaluator always said the opposite."""
    return table[..., [2, 3, 0, 1]]


def ratio(part: Array, whole: Array) -> Array:
    """Part by part; nan where the whole is nothing."""
    found = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def precision(table: Array) -> Array:
    """Of what passed, how much was a success."""
    return ratio(table[..., 0], table[..., 0] + table[..., 1])


def recall(table: Array) -> Array:
    """Of the successes, how many passed."""
    return ratio(table[..., 0], table[..., 0] + table[..., 2])


def f1(table: Array) -> Array:
    """The harmonic mean of precision and recall."""
    return ratio(2 * table[..., 0], 2 * table[..., 0] + table[..., 1] + table[..., 2])


def false_positive_rate(table: Array) -> Array:
    """Of the failures, how many passed."""
    return ratio(table[..., 1], table[..., 1] + table[..., 3])


def accuracy(table: Array) -> Array:
    """How many were told rightly."""
    return ratio(table[..., 0] + table[..., 3], table.sum(-1))


def kappa(table: Array) -> Array:
    """Agreement beyond what chance gives: Cohen (Educational and Psychological Measurement 1960).

    nan where both always say the same one thing, so that chance alone would have them agree.
    """
    total = table.sum(-1)
    passed, true = table[..., 0] + table[..., 1], table[..., 0] + table[..., 2]
    chance = ratio(passed * true + (total - passed) * (total - true), total**2)
    beyond = ratio(table[..., 0] + table[..., 3], total) - chance
    return ratio(beyond, np.where(chance < 1 - 1e-12, 1 - chance, 0.0))


MEASURES: Mapping[str, Callable[[Array], Array]] = MappingProxyType(
    {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "false_positive_rate": false_positive_rate,
        "accuracy": accuracy,
        "kappa": kappa,
    }
)
RATES: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = MappingProxyType(
    {
        "precision": ((0,), (0, 1)),
        "recall": ((0,), (0, 2)),
        "false_positive_rate": ((1,), (1, 3)),
        "accuracy": ((0, 3), (0, 1, 2, 3)),
    }
)
"""Measures that are one count out of another: which columns make the part and the whole."""
