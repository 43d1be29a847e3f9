"""95 % intervals of measures over episodes of which several may belong to one task."""

from collections.abc import Callable, Sequence

import numpy as np

from evaluators.agreement.measures import Array
from evaluators.statistics import Interval, wilson

_CELLS = 4_000_000
"""Most weights drawn at once: 32 MB."""
_Z = 1.96


def rate_interval(parts: Array, wholes: Array) -> Interval | None:
    """The share of the whole with Wilson's interval; None where there is nothing to share.

    `parts` and `wholes` are (clusters,) counts. Where a task has several episodes these tell less
    than as many of different tasks: the number of episodes is divided by the design effect, the
    variance between tasks over that of independent episodes, and the quantile is Student's for as
    many tasks (Korn and Graubard, Survey Methodology 1998). Where all or none are counted there is
    no variance to see, and a task counts as one episode.
    """
    held = wholes > 0
    parts, wholes = parts[held], wholes[held]
    n, clusters = float(wholes.sum()), len(wholes)
    if not n:
        return None
    rate = float(parts.sum()) / n
    if clusters == n:
        return Interval(rate, *wilson(float(parts.sum()), clusters))
    effective, quantile = float(clusters), _Z
    if 0 < rate < 1 and clusters > 1:
        spread = clusters / (clusters - 1) * float(((parts - rate * wholes) ** 2).sum()) / n**2
        effective = n / max(1.0, spread / (rate * (1 - rate) / n))
        freedom = clusters - 1
        first = (_Z**3 + _Z) / 4
        second = (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96
        third = (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384
        quantile = _Z + first / freedom + second / freedom**2 + third / freedom**3
    whole = max(1, int(effective))
    return Interval(rate, *wilson(rate * whole, whole, quantile))


def resampled(
    table: Array,
    statistic: Callable[[Array], Array],
    span: tuple[float, float],
    turned: Sequence[Callable[[Array], Array]] = (),
    *,
    is_biased: bool = False,
) -> Interval | None:
    """A statistic of the summed rows with a bootstrap interval over rows, one for each task.

    `statistic` takes (..., columns) sums and gives nan where it is not defined. The interval is the
    percentile one; for a statistic that resampling pushes up, such as a sum of absolute values, the
    basic one (Davison and Hinkley, "Bootstrap Methods", 1997, section 5.2) held to `span`. One task
    alone says nothing of others: its interval is the span. None where the statistic of the whole is
    not defined. The same arguments give the same interval.

    Where every resample gives the same, as for an evaluator without a single error, that is no
    certainty: the interval then reaches to where the statistic would be with z² more tasks whose
    rows are `turned` the other way, in each of these ways. For a rate that is Wilson's interval.
    """
    value = float(statistic(table.sum(0))) if len(table) else float("nan")
    if np.isnan(value):
        return None
    if len(table) == 1:
        return Interval(value, *span)
    drawn = draws(table, statistic)
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return Interval(value, *span)
    if turned and np.ptp(drawn) < 1e-12:
        whole, row = table.sum(0), table.mean(0)
        ends = [float(statistic(whole + _Z**2 * turn(row))) for turn in turned]
        ends = [end for end in ends if not np.isnan(end)]
        return Interval(value, min([value, *ends]), max([value, *ends]))
    low, high = map(float, np.percentile(drawn, (2.5, 97.5)))
    if is_biased:
        low, high = 2 * value - high, 2 * value - low
    return Interval(value, max(span[0], min(low, value)), min(span[1], max(high, value)))


def draws(table: Array, statistic: Callable[[Array], Array], resamples: int = 2000) -> Array:
    """The statistic of each resample, in which rows are drawn with replacement."""
    rng, rows = np.random.default_rng(0), len(table)
    most = max(1, _CELLS // rows)
    found = []
    for start in range(0, resamples, most):
        size = min(most, resamples - start)
        chosen = rng.integers(rows, size=(size, rows)) + rows * np.arange(size)[:, None]
        weights = np.bincount(chosen.ravel(), minlength=size * rows).reshape(size, rows)
        found.append(statistic(weights @ table))
    return np.concatenate(found)
