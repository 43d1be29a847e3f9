"""One evaluator against human labels, two against each other, and humans against each other."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from evaluators.agreement.measures import (
    MEASURES,
    PASSES,
    RATES,
    Array,
    Counts,
    LabelledScore,
    cohen_kappa,
    count_outcomes,
    flip,
    rate_interval,
    resampled,
)
from evaluators.labels import Label
from evaluators.statistics import Interval


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Values that lie near each other, with what became of them."""

    low: float
    high: float
    count: int
    said: float
    """The mean of the values."""
    true: Interval
    """Share of successes among them."""


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """How far values are from the outcomes they speak of."""

    brier: Interval
    """Mean squared distance (Brier, Monthly Weather Review 1950): 0 is perfect, a constant 0.5
    has 0.25."""
    ece: Interval
    """Expected calibration error (Naeini et al., AAAI 2015): distance between what bins said and
    what became of them, weighted by their counts."""
    bins: tuple[CalibrationBin, ...]
    """The reliability table, empty bins left out."""


def measure_calibration(pairs: Sequence[LabelledScore], bins: int = 10) -> CalibrationReport | None:
    """Return Brier score, calibration error and reliability table; None where the evaluator never
    spoke.

    Bins are of equal width. Intervals resample tasks.
    """
    spoken = [pair for pair in pairs if pair.value is not None]
    if not spoken:
        return None
    table, width = _sums(spoken, bins), bins

    def brier(sums: Array) -> Array:
        return np.asarray(sums[..., -1] / sums[..., :width].sum(-1))

    def ece(sums: Array) -> Array:
        counts, said, true = (sums[..., i * width : (i + 1) * width] for i in range(3))
        return np.asarray(np.abs(said - true).sum(-1) / counts.sum(-1))

    def turned(sums: Array) -> Array:
        counts, true = sums[:width], sums[2 * width : 3 * width]
        apart = (1 - np.sqrt(sums[-1:] / counts.sum())) ** 2 * counts.sum()
        return np.concatenate([sums[: 2 * width], counts - true, apart])

    near = resampled(table, brier, (0.0, 1.0), [turned])
    off = resampled(table, ece, (0.0, 1.0), [turned], is_biased=True)
    assert near is not None and off is not None
    rows = [_bin(table, place, width) for place in range(width)]
    return CalibrationReport(near, off, tuple(row for row in rows if row is not None))


def _sums(pairs: Sequence[LabelledScore], bins: int) -> Array:
    """Return (clusters, 3 * bins + 1): counts, values and successes of each bin, then squared
    errors."""
    places = {cluster: i for i, cluster in enumerate(dict.fromkeys(p.cluster for p in pairs))}
    table = np.zeros((len(places), 3 * bins + 1))
    for pair in pairs:
        value = pair.value or 0.0
        row, column = places[pair.cluster], min(int(value * bins), bins - 1)
        table[row, column] += 1
        table[row, bins + column] += value
        table[row, 2 * bins + column] += pair.truth
        table[row, -1] += (value - pair.truth) ** 2
    return table


def _bin(table: Array, place: int, bins: int) -> CalibrationBin | None:
    counts, true = table[:, place], table[:, 2 * bins + place]
    share = rate_interval(true, counts)
    if share is None:
        return None
    count = int(counts.sum())
    said = float(table[:, bins + place].sum()) / count
    return CalibrationBin(place / bins, (place + 1) / bins, count, said, share)


Measured = Mapping[str, Interval | None]
"""By the names of `MEASURES`; None where a measure is not defined, as precision without a pass."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How an evaluator stands to the labels of the episodes it was asked about."""

    episodes: int
    tasks: int
    """Resampled as wholes; as many as episodes where each has its own."""
    successes: int
    """Episodes that people call successes."""
    coverage: Interval | None
    """Share of episodes on which it did not abstain."""
    counts: Counts
    """Where it did not abstain, as all that follows but the bounds."""
    abstained: tuple[int, int]
    """On successes, on failures."""
    measures: Measured
    as_failure: Measured
    """Every measure were abstentions failures."""
    as_success: Measured
    """Every measure were abstentions successes."""
    calibration: CalibrationReport | None


def compute_agreement(pairs: Sequence[LabelledScore], threshold: float = PASSES) -> Agreement:
    """Return the figures over these episodes. Rates have Wilson's interval, the others a
    bootstrap's."""
    table = count_outcomes(pairs, threshold)
    silent = [pair for pair in pairs if pair.value is None]
    true = sum(pair.truth for pair in silent)
    counted = Counts(*(int(count) for count in table.sum(0)))
    return Agreement(
        episodes=len(pairs),
        tasks=len(table),
        successes=sum(pair.truth for pair in pairs),
        coverage=_coverage(pairs),
        counts=counted,
        abstained=(true, len(silent) - true),
        measures=measure_all(table),
        as_failure=measure_all(count_outcomes(_filled(pairs, 0.0), threshold)),
        as_success=measure_all(count_outcomes(_filled(pairs, 1.0), threshold)),
        calibration=measure_calibration(pairs),
    )


def measure_by_group(pairs: Sequence[LabelledScore], name: str) -> dict[str, Agreement]:
    """Return the figures of each group, as `benchmark`, `agent` or `task`; episodes without it are
    left out."""
    grouped: defaultdict[str, list[LabelledScore]] = defaultdict(list)
    for pair in pairs:
        if name in pair.groups:
            grouped[pair.groups[name]].append(pair)
    return {group: compute_agreement(theirs) for group, theirs in sorted(grouped.items())}


def measure_all(table: Array) -> dict[str, Interval | None]:
    """Return every measure of (clusters, 4) counts with its interval."""
    found: dict[str, Interval | None] = {}
    for name, measure in MEASURES.items():
        if name in RATES:
            part, whole = (table[:, list(columns)].sum(1) for columns in RATES[name])
            found[name] = rate_interval(part, whole)
        else:
            bottom = -1.0 if name == "kappa" else 0.0
            used = table[table.sum(1) > 0]
            found[name] = resampled(used, measure, (bottom, 1.0), [flip])
    return found


def _coverage(pairs: Sequence[LabelledScore]) -> Interval | None:
    whole: defaultdict[str, int] = defaultdict(int)
    part: defaultdict[str, int] = defaultdict(int)
    for pair in pairs:
        whole[pair.cluster] += 1
        part[pair.cluster] += pair.value is not None
    parts = np.array([part[cluster] for cluster in whole], dtype=np.float64)
    return rate_interval(parts, np.array([*whole.values()], dtype=np.float64))


def _filled(pairs: Sequence[LabelledScore], value: float) -> list[LabelledScore]:
    return [pair if pair.value is not None else replace(pair, value=value) for pair in pairs]


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


def measure_ceiling(labels: Iterable[Label]) -> Ceiling:
    """Return agreement over all pairs of labels that two people gave of one episode, for one score.

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
            table,
            lambda sums: cohen_kappa(sums, kinds),
            (-1.0, 1.0),
            [lambda row: _turned(row, kinds)],
        ),
    )


def _table(pairs: Sequence[tuple[Label, Label]]) -> tuple[Array, int]:
    """Return (tasks, kinds * kinds) counts of what the first and the second said, and how many
    kinds."""
    kinds = sorted({label.value for pair in pairs for label in pair if label.value is not None})
    place = {value: i for i, value in enumerate(kinds)}
    tasks = [f"{one.benchmark}/{one.task}" if one.task else one.episode for one, _ in pairs]
    rows = {task: i for i, task in enumerate(dict.fromkeys(tasks))}
    table = np.zeros((len(rows), len(kinds) ** 2))
    for task, (one, other) in zip(tasks, pairs, strict=True):
        if one.value is not None and other.value is not None:
            table[rows[task], place[one.value] * len(kinds) + place[other.value]] += 1
    return table, len(kinds)


def _turned(sums: Array, kinds: int) -> Array:
    """Return the counts had the second always said something else than it did."""
    return np.roll(sums.reshape(*sums.shape[:-1], kinds, kinds), 1, axis=-1).reshape(sums.shape)


@dataclass(frozen=True, slots=True)
class EvaluatorComparison:
    """The first evaluator beside the second."""

    episodes: int
    """On which both spoke."""
    tasks: int
    only_first_right: int
    only_second_right: int
    differences: Measured
    """The first's measure less the second's; both are drawn together."""


def compare(
    first: Sequence[LabelledScore], second: Sequence[LabelledScore], threshold: float = PASSES
) -> EvaluatorComparison:
    """Return the differences over the episodes on which both spoke; the rest says nothing of who is
    right.

    What is left out is in the coverage of each. Intervals resample tasks, both evaluators' values
    of a task together.
    """
    theirs = {pair.episode: pair for pair in second if pair.value is not None}
    ours = [pair for pair in first if pair.value is not None and pair.episode in theirs]
    beside = [theirs[pair.episode] for pair in ours]
    joint = np.concatenate(
        [count_outcomes(ours, threshold), count_outcomes(beside, threshold)], axis=1
    )
    right = [((a.value or 0.0) >= threshold) == a.truth for side in (ours, beside) for a in side]
    one, other = np.array(right[: len(ours)], bool), np.array(right[len(ours) :], bool)
    return EvaluatorComparison(
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
    return np.concatenate([flip(sums[..., :4]), sums[..., 4:]], axis=-1)


def _second_turned(sums: Array) -> Array:
    return np.concatenate([sums[..., :4], flip(sums[..., 4:])], axis=-1)


_TURNED = (_first_turned, _second_turned)


def _difference(measure: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda sums: np.asarray(measure(sums[..., :4]) - measure(sums[..., 4:]))
