"""Whether an evaluator's values mean what they say: of those at 0.8, four in five are successes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.agreement.intervals import rate_interval, resampled
from evaluators.agreement.measures import Array
from evaluators.agreement.pairs import Pair
from evaluators.statistics import Interval


@dataclass(frozen=True, slots=True)
class Bin:
    """Values that lie near each other, with what became of them."""

    low: float
    high: float
    count: int
    said: float
    """The mean of the values."""
    true: Interval
    """Share of successes among them."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far values are from the outcomes they speak of."""

    brier: Interval
    """Mean squared distance (Brier, Monthly Weather Review 1950): 0 is perfect, a constant 0.5
    has 0.25."""
    ece: Interval
    """Expected calibration error (Naeini et al., AAAI 2015): distance between what bins said and
    what became of them, weighted by their counts."""
    bins: tuple[Bin, ...]
    """The reliability table, empty bins left out."""


def calibration(pairs: Sequence[Pair], bins: int = 10) -> Calibration | None:
    """Brier score, calibration error and reliability table; None where the evaluator never spoke.

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
    return Calibration(near, off, tuple(row for row in rows if row is not None))


def _sums(pairs: Sequence[Pair], bins: int) -> Array:
    """(clusters, 3 * bins + 1): counts, values and successes of each bin, then squared errors."""
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


def _bin(table: Array, place: int, bins: int) -> Bin | None:
    counts, true = table[:, place], table[:, 2 * bins + place]
    share = rate_interval(true, counts)
    if share is None:
        return None
    count = int(counts.sum())
    said = float(table[:, bins + place].sum()) / count
    return Bin(place / bins, (place + 1) / bins, count, said, share)
