"""How sure a measured success rate is: intervals for one rate, for repeats, for a difference."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Outcomes: TypeAlias = Mapping[tuple[int, str, int], float]
"""What an arm measured: (repeat, task, seed) to a value in [0, 1]."""

Array: TypeAlias = NDArray[np.float64]
Cells: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows and columns of a table, to be broadcast."""

_CHUNK = 2_000_000
"""Most episodes drawn at once, so that large comparisons stay within 100 MB."""


class Interval(NamedTuple):
    """A value with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(successes: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return the score interval for a rate, which stays in [0, 1] and holds at 0 and n successes.

    Wilson, "Probable inference, the law of succession, and statistical inference" (JASA 1927).
    It treats the n episodes as independent, so it speaks of the agents that were measured and not
    of what another repeat would have given. (0, 1) when nothing was measured.
    """
    if not n:
        return 0.0, 1.0
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} episodes are impossible")
    rate = successes / n
    scale = 1 + z * z / n
    middle = (rate + z * z / (2 * n)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, min(rate, middle - half)), min(1.0, max(rate, middle + half))


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean over repeats with Student's t interval (Student, Biometrika 1908).

    One repeat says nothing about the next: its interval is unbounded. Raises `ValueError` for none.
    """
    if not values:
        raise ValueError("no repeats to average")
    mean, freedom = float(np.mean(values)), len(values) - 1
    if not freedom:
        return Interval(mean, -math.inf, math.inf)
    half = student_quantile(freedom) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Interval(mean, mean - half, mean + half)


@cache
def student_quantile(freedom: int) -> float:
    """Return the .975 quantile of Student's t for these degrees of freedom.

    By bisection of the finite series of its distribution in the angle atan(t / sqrt(freedom))
    (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4).
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        sine, cosine = math.sin(angle), math.cos(angle)
        odd = freedom % 2
        term = sine * cosine if odd else sine
        total = term if freedom > 1 else 0.0
        for k in range(2 + odd, freedom, 2):
            term *= cosine * cosine * (k - 1) / k
            total += term
        within = 2 / math.pi * (angle + total) if odd else total
        low, high = (angle, high) if within < 0.95 else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def cluster_interval(
    groups: Sequence[Sequence[float]], *, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the mean of groups' means, with a 95 % interval that speaks of other such groups.

    Tasks of one template stand or fall together, so whole groups are drawn, as many as there are;
    what lies within one is part of the spread between them (Davison and Hinkley, "Bootstrap
    Methods", 1997, section 3.8). Where all groups agree there is no spread to draw from, and the
    interval is Wilson's over the groups; one group is no sample of others. The same values give
    the same interval. Raises `ValueError` for no groups, or an empty one.
    """
    if not groups or not all(groups):
        raise ValueError("an average over groups needs non-empty groups")
    means = np.array([np.mean(group) for group in groups], dtype=np.float64)
    value = float(means.mean())
    if np.ptp(means) == 0.0:
        return Interval(value, *wilson(value * len(means), len(means)))
    drawn = draw_resamples(means[:, None], lambda sums: sums[..., 0] / len(means), resamples, seed)
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Interval(value, float(low), float(high))


def draw_resamples(
    table: Array, statistic: Callable[[Array], Array], resamples: int = 2000, seed: int = 0
) -> Array:
    """Return the statistic of the summed rows of each resample, rows drawn with replacement.

    `statistic` takes (..., columns) sums.
    """
    rng, rows = np.random.default_rng(seed), len(table)
    found = []
    for size in _chunks(resamples, rows):
        chosen = rng.integers(rows, size=(size, rows)) + rows * np.arange(size)[:, None]
        weights = np.bincount(chosen.ravel(), minlength=size * rows).reshape(size, rows)
        found.append(statistic(weights @ table))
    return np.concatenate(found)


def difference(
    a: Outcomes, b: Outcomes, *, fixed_tasks: bool = False, resamples: int = 2000, seed: int = 0
) -> Interval | None:
    """Return how much higher a's rate is than b's, with a 95 % percentile bootstrap interval.

    As it is, the interval speaks of tasks like these: repeats and tasks are crossed, so each is
    resampled on its own (Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 2007).
    The luck of single episodes is then part of the spread between tasks; drawing episodes as well
    would count it again (Davison and Hinkley, "Bootstrap Methods", 1997, section 3.8). With
    `fixed_tasks` it speaks of these very tasks: repeats are resampled, then the episodes of every
    task (stratified, as in Agarwal et al., "Deep RL at the edge of the statistical precipice",
    NeurIPS 2021), which keeps a few repeats that happen to agree from promising too much.

    One repeat less is drawn than there are, so that the variance between few is unbiased (Rao and
    Wu, JASA 1988). A single repeat says nothing of what another would give.

    Where the arms share episodes (repeat, task and seed) only those count and both arms are drawn
    together; where they share none each is drawn by itself. Where successes and failures leave no
    spread to draw from, as after six failures of either arm, the interval is as wide as what was
    not seen may still be frequent. None when either has no episodes. The same arguments give the
    same interval.
    """
    shared = a.keys() & b.keys()
    if shared:
        a = {key: a[key] for key in shared}
        b = {key: b[key] for key in shared}
    if not a or not b:
        return None
    keys = [*a, *b]
    repeats = sorted({repeat for repeat, _, _ in keys})
    tasks = sorted({task for _, task, _ in keys})
    one, other = _table(a, repeats, tasks), _table(b, repeats, tasks)
    rng = np.random.default_rng(seed)
    draw = _resample_episodes if fixed_tasks else _resample_tasks
    size = max(one.values.size, other.values.size)
    chunks = [draw(one, other, n, rng, bool(shared)) for n in _chunks(resamples, size)]
    drawn = np.concatenate(chunks)
    low, high = np.nanpercentile(drawn, (2.5, 97.5))
    value = float(one.sums.sum() / one.counts.sum() - other.sums.sum() / other.counts.sum())
    if low == high and {*a.values(), *b.values()} <= {0.0, 1.0}:
        half = _bound_unseen(a, b, fixed_tasks=fixed_tasks, is_paired=bool(shared))
        low, high = max(-1.0, value - half), min(1.0, value + half)
    return Interval(value, float(low), float(high))


def _bound_unseen(a: Outcomes, b: Outcomes, *, fixed_tasks: bool, is_paired: bool) -> float:
    """Return half the width of the interval of a difference whose resamples all agree.

    What none of n tasks (with `fixed_tasks`: episodes) has shown may still happen as often as
    Wilson's upper end of 0 in n says; the ends of unpaired arms add up in squares (Newcombe,
    "Interval estimation for the difference between independent proportions", Statistics in
    Medicine 1998).
    """
    ends = [
        wilson(0, len(arm) if fixed_tasks else len({task for _, task, _ in arm}))[1]
        for arm in (a, b)
    ]
    return ends[0] if is_paired else math.hypot(*ends)


class _Table(NamedTuple):
    """An arm's episodes by repeat and task; places beyond a cell's count are unused."""

    values: Array
    """Repeats by tasks by places."""
    counts: NDArray[np.int64]
    """Repeats by tasks."""

    @property
    def width(self) -> int:
        return int(self.values.shape[2])

    @property
    def sums(self) -> Array:
        return np.asarray(self.values.sum(axis=2))


def _table(outcomes: Outcomes, repeats: Sequence[int], tasks: Sequence[str]) -> _Table:
    cells: dict[tuple[int, str], list[float]] = {}
    for repeat, task, seed in sorted(outcomes):
        cells.setdefault((repeat, task), []).append(outcomes[repeat, task, seed])
    values = np.zeros((len(repeats), len(tasks), max(map(len, cells.values()))))
    counts = np.zeros(values.shape[:2], dtype=np.int64)
    for row, repeat in enumerate(repeats):
        for column, task in enumerate(tasks):
            cell = cells.get((repeat, task), [])
            values[row, column, : len(cell)] = cell
            counts[row, column] = len(cell)
    return _Table(values, counts)


def _resample_tasks(
    one: _Table, other: _Table, count: int, rng: np.random.Generator, paired: bool
) -> Array:
    """Return differences over resampled repeats and tasks; unpaired arms are paired anew."""
    repeats, tasks = _resample_repeats(one, count, rng), one.counts.shape[1]
    columns = rng.integers(tasks, size=(count, tasks))
    cells = repeats[:, :, None], columns[:, None, :]
    again = (
        cells if paired else (_resample_repeats(one, count, rng)[:, :, None], columns[:, None, :])
    )
    return _rate(one.sums[cells], one.counts[cells]) - _rate(other.sums[again], other.counts[again])


def _resample_episodes(
    one: _Table, other: _Table, count: int, rng: np.random.Generator, paired: bool
) -> Array:
    """Return differences over drawn repeats, all tasks, and drawn episodes of each."""
    every = np.arange(one.counts.shape[1])[None, None, :]
    cells = _resample_repeats(one, count, rng)[:, :, None], every
    again = cells if paired else (_resample_repeats(one, count, rng)[:, :, None], every)
    luck = rng.random((*np.broadcast_shapes(*(part.shape for part in cells)), one.width))
    other_luck = luck if paired else rng.random((*luck.shape[:3], other.width))
    return _rate(*_sum_resampled(one, cells, luck)) - _rate(
        *_sum_resampled(other, again, other_luck)
    )


def _resample_repeats(table: _Table, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    repeats = table.counts.shape[0]
    return rng.integers(repeats, size=(count, max(1, repeats - 1)))


def _sum_resampled(table: _Table, cells: Cells, luck: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return sums and counts of the cells, with as many episodes drawn from each as it has."""
    counts = table.counts[cells]
    places = (luck * counts[..., None]).astype(np.int64)
    values = table.values[cells[0][..., None], cells[1][..., None], places]
    is_used = np.arange(table.width) < counts[..., None]
    return np.where(is_used, values, 0.0).sum(axis=3), counts


def _rate(sums: Array, counts: NDArray[np.int64]) -> Array:
    """Return the rate of each resample; nan where it holds no episode."""
    totals = counts.sum(axis=(1, 2))
    rates = np.full(len(totals), np.nan)
    np.divide(sums.sum(axis=(1, 2)), totals, out=rates, where=totals > 0)
    return rates


def _chunks(resamples: int, size: int) -> Iterable[int]:
    """Return numbers of resamples that add up, each small enough for the memory."""
    most = max(1, _CHUNK // max(1, size))
    return [min(most, resamples - start) for start in range(0, resamples, most)]
