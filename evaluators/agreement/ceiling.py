"""How far people agree with each other: no evaluator can be asked for more."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evaluators.agreement.intervals import rate_interval, resampled
from evaluators.agreement.measures import Array, ratio
from evaluators.labels import Label
from evaluators.statistics import Interval


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Agreement among annotators on what several of them labelled."""

    episodes: int
    """That two or more annotators were sure about."""
    pairs: int
    """Of labels on one episode."""
    unsure: int
    """Pairs beside those in which somebody was not sure."""
    agreement: Interval | None
    """Share of pairs that say the very same."""
    kappa: Interval | None
    """Cohen's, of whoever labelled first and whoever labelled after; None where it is not
    defined."""


def ceiling(labels: Iterable[Label]) -> Ceiling:
    """Agreement over all pairs of labels that two people gave of one episode, for one score.

    Intervals resample tasks where they are named.
    """
    given: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels:
        given[label.episode].append(label)
    found = [pair for theirs in given.values() for pair in combinations(theirs, 2)]
    pairs = [pair for pair in found if all(label.value is not None for label in pair)]
    table, kinds = _table(pairs)
    same = table.reshape(len(table), kinds, kinds).trace(axis1=1, axis2=2)
    return Ceiling(
        episodes=len({one.episode for one, _ in pairs}),
        pairs=len(pairs),
        unsure=len(found) - len(pairs),
        agreement=rate_interval(same, table.sum(1)),
        kappa=resampled(
            table, lambda sums: _kappa(sums, kinds), (-1.0, 1.0), [lambda row: _turned(row, kinds)]
        ),
    )


def _table(pairs: Sequence[tuple[Label, Label]]) -> tuple[Array, int]:
    """(tasks, kinds * kinds) counts of what the first and the second said, and how many kinds."""
    kinds = sorted({label.value for pair in pairs for label in pair if label.value is not None})
    place = {value: i for i, value in enumerate(kinds)}
    tasks = [f"{one.benchmark}/{one.task}" if one.task else one.episode for one, _ in pairs]
    rows = {task: i for i, task in enumerate(dict.fromkeys(tasks))}
    table = np.zeros((len(rows), len(kinds) ** 2))
    for task, (one, other) in zip(tasks, pairs, strict=True):
        if one.value is not None and other.value is not None:
            table[rows[task], place[one.value] * len(kinds) + place[other.value]] += 1
    return table, len(kinds)


def _kappa(sums: Array, kinds: int) -> Array:
    square = sums.reshape(*sums.shape[:-1], kinds, kinds)
    total = sums.sum(-1)
    chance = ratio((square.sum(-1) * square.sum(-2)).sum(-1), total**2)
    same = ratio(square.trace(axis1=-2, axis2=-1), total)
    return ratio(same - chance, np.where(chance < 1 - 1e-12, 1 - chance, 0.0))


def _turned(sums: Array, kinds: int) -> Array:
    """The counts had the second always said something else than it did."""
    return np.roll(sums.reshape(*sums.shape[:-1], kinds, kinds), 1, axis=-1).reshape(sums.shape)
