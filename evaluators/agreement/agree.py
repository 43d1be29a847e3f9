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
    rate_clusters,
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
    mean: float
    """The mean of the values."""
    true: Interval
    """Share of successes among them."""


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """How far values are from the outcomes they speak of."""

    brier: Interval
    """Mean squared distance (Brier, Monthly Weather Review 1950): 0 is best; 0.5 has 0.25."""
    ece: Interval
    """Expected calibration error (Naeini et al., AAAI 2015): distance between the means of bins and
    what became of them, weighted by their counts."""
    bins: tuple[CalibrationBin, ...]
    """The reliability table, empty bins left out."""


def measure_calibration(pairs: Sequence[LabelledScore]) -> CalibrationReport | None:
    """Return Brier score, calibration error and reliability table; None without a single value.

    Ten bins are of equal width. Intervals resample tasks.
    """
    spoken = [pair for pair in pairs if pair.value is not None]
    if not spoken:
        return None
    width = 10
    places = {cluster: i for i, cluster in enumerate(dict.fromkeys(p.cluster for p in spoken))}
    # By cluster: counts, values and successes of each bin, then squared errors.
    table = np.zeros((len(places), 3 * width + 1))
    for pair in spoken:
        value = pair.value or 0.0
        row, column = places[pair.cluster], min(int(value * width), width - 1)
        table[row, [column, width + column, 2 * width + column]] += 1, value, pair.truth
        table[row, -1] += (value - pair.truth) ** 2

    def brier(sums: Array) -> Array:
        return np.asarray(sums[..., -1] / sums[..., :width].sum(-1))

    def ece(sums: Array) -> Array:
        counts, values, true = (sums[..., i * width : (i + 1) * width] for i in range(3))
        return np.asarray(np.abs(values - true).sum(-1) / counts.sum(-1))

    def turn(sums: Array) -> Array:
        counts, true = sums[:width], sums[2 * width : 3 * width]
        apart = (1 - np.sqrt(sums[-1:] / counts.sum())) ** 2 * counts.sum()
        return np.concatenate([sums[: 2 * width], counts - true, apart])

    near = resampled(table, brier, (0.0, 1.0), [turn])
    off = resampled(table, ece, (0.0, 1.0), [turn], is_biased=True)
    assert near is not None and off is not None
    rows = []
    for at in range(width):
        share = rate_interval(table[:, 2 * width + at], table[:, at])
        if share is not None:
            count = int(table[:, at].sum())
            mean = float(table[:, width + at].sum()) / count
            rows.append(CalibrationBin(at / width, (at + 1) / width, count, mean, share))
    return CalibrationReport(near, off, tuple(rows))


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


def compute_agreement(pairs: Sequence[LabelledScore]) -> Agreement:
    """Return the figures over these episodes.

    Rates have Wilson's interval, the others a bootstrap's.
    """
    table = count_outcomes(pairs)
    abstained = [pair for pair in pairs if pair.value is None]
    true = sum(pair.truth for pair in abstained)

    def measure_filled(value: float) -> dict[str, Interval | None]:
        filled = [p if p.value is not None else replace(p, value=value) for p in pairs]
        return measure_all(count_outcomes(filled))

    return Agreement(
        episodes=len(pairs),
        tasks=len(table),
        successes=sum(pair.truth for pair in pairs),
        coverage=rate_clusters((pair.cluster, pair.value is not None) for pair in pairs),
        counts=Counts(*(int(count) for count in table.sum(0))),
        abstained=(true, len(abstained) - true),
        measures=measure_all(table),
        as_failure=measure_filled(0.0),
        as_success=measure_filled(1.0),
        calibration=measure_calibration(pairs),
    )


def measure_by_group(pairs: Sequence[LabelledScore], name: str) -> dict[str, Agreement]:
    """Return the figures of each `benchmark`, `agent` or `task` that episodes name."""
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
    """Cohen's, of whoever labelled first and whoever labelled after; None where undefined."""


def measure_ceiling(labels: Iterable[Label]) -> Ceiling:
    """Return agreement over all pairs of labels that two people gave of one episode, for one score.

    Intervals resample tasks where they are named.
    """
    given: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels:
        given[label.episode].append(label)
    found = [pair for theirs in given.values() for pair in combinations(theirs, 2)]
    pairs = [pair for pair in found if all(label.value is not None for label in pair)]
    values = sorted({label.value for pair in pairs for label in pair if label.value is not None})
    kinds, place = len(values), {value: i for i, value in enumerate(values)}
    tasks = [f"{one.benchmark}/{one.task}" if one.task else one.episode for one, _ in pairs]
    rows = {task: i for i, task in enumerate(dict.fromkeys(tasks))}
    # By task, how often each pair of values was given.
    table = np.zeros((len(rows), kinds**2))
    for task, (one, other) in zip(tasks, pairs, strict=True):
        if one.value is not None and other.value is not None:
            table[rows[task], place[one.value] * kinds + place[other.value]] += 1
    same = table.reshape(len(table), kinds, kinds).trace(axis1=1, axis2=2)

    def turn(sums: Array) -> Array:
        """Return the counts had the second always said something else than it did."""
        square = sums.reshape(*sums.shape[:-1], kinds, kinds)
        return np.roll(square, 1, axis=-1).reshape(sums.shape)

    return Ceiling(
        episodes=len({one.episode for one, _ in pairs}),
        pairs=len(pairs),
        unsure=len(found) - len(pairs),
        agreement=rate_interval(same, table.sum(1)),
        kappa=resampled(table, lambda sums: cohen_kappa(sums, kinds), (-1.0, 1.0), [turn]),
    )


@dataclass(frozen=True, slots=True)
class EvaluatorComparison:
    """The first evaluator beside the second."""

    episodes: int
    """On which both spoke."""
    tasks: int
    only_first_right: int
    only_second_right: int
    differences: Measured
    """The first's measure less the second's; both are resampled together."""


def compare(first: Sequence[LabelledScore], second: Sequence[LabelledScore]) -> EvaluatorComparison:
    """Return the differences over the episodes on which both spoke.

    What is left out is in the coverage of each. Intervals resample tasks, both evaluators' values
    of a task together.
    """
    theirs = {pair.episode: pair for pair in second if pair.value is not None}
    ours = [pair for pair in first if pair.value is not None and pair.episode in theirs]
    beside = [theirs[pair.episode] for pair in ours]
    joint = np.concatenate([count_outcomes(ours), count_outcomes(beside)], axis=1)
    right = [((a.value or 0.0) >= PASSES) == a.truth for side in (ours, beside) for a in side]
    one, other = np.array(right[: len(ours)], bool), np.array(right[len(ours) :], bool)
    differences = {}
    for name, measure in MEASURES.items():

        def subtract(sums: Array, measure: Callable[[Array], Array] = measure) -> Array:
            return np.asarray(measure(sums[..., :4]) - measure(sums[..., 4:]))

        differences[name] = resampled(
            joint,
            subtract,
            (-2.0, 2.0) if name == "kappa" else (-1.0, 1.0),
            [
                lambda sums: np.concatenate([flip(sums[..., :4]), sums[..., 4:]], axis=-1),
                lambda sums: np.concatenate([sums[..., :4], flip(sums[..., 4:])], axis=-1),
            ],
        )
    return EvaluatorComparison(
        episodes=len(ours),
        tasks=len(joint),
        only_first_right=int((one & ~other).sum()),
        only_second_right=int((other & ~one).sum()),
        differences=differences,
    )
