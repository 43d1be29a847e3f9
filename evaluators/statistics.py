"""How certain a success rate is: intervals for one rate, for repeats, for a difference; and how
well probabilities are calibrated."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from random import Random
from statistics import fmean, quantiles, stdev
from typing import NamedTuple, TypeAlias

Outcomes: TypeAlias = Mapping[tuple[int, str, int], float]
"""What an arm measured: (repeat, task, seed) to a value in [0, 1]."""

_BINS = 10


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
    mean, freedom = fmean(values), len(values) - 1
    if not freedom:
        return Interval(mean, -math.inf, math.inf)
    half = student_quantile(freedom) * stdev(values) / math.sqrt(len(values))
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


def cluster_interval(groups: Sequence[Sequence[float]], *, resamples: int = 2000) -> Interval:
    """Return the mean of groups' means, with a 95 % interval that speaks of other such groups.

    Tasks of one template stand or fall together, so whole groups are sampled, as many as there are;
    what lies within one is part of the spread between them (Davison and Hinkley, "Bootstrap
    Methods", 1997, section 3.8). Where all groups agree there is no spread to draw from, and the
    interval is Wilson's over the groups; one group is no sample of others. The same values give
    the same interval. Raises `ValueError` for no groups, or an empty one.
    """
    if not groups or not all(groups):
        raise ValueError("an average over groups needs non-empty groups")
    means = [fmean(group) for group in groups]
    value, rng = fmean(means), Random(0)
    if len(set(means)) == 1:
        return Interval(value, *wilson(value * len(means), len(means)))
    sampled = [fmean(rng.choices(means, k=len(means))) for _ in range(resamples)]
    return Interval(value, *percentiles(sampled))


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the middle 95 % of the values, read between them by straight lines."""
    if len(values) == 1:
        return values[0], values[0]
    ends = quantiles(values, n=40, method="inclusive")
    return ends[0], ends[-1]


def difference(
    a: Outcomes, b: Outcomes, *, resamples: int = 2000, seed: int = 0
) -> Interval | None:
    """Return how much higher a's rate is than b's, with a 95 % percentile bootstrap interval.

    The interval speaks of tasks like these: repeats and tasks are crossed, so each is resampled on
    its own (Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 2007). The luck of
    single episodes is then part of the spread between tasks; drawing episodes as well would count
    it again (Davison and Hinkley, "Bootstrap Methods", 1997, section 3.8).

    One repeat less is sampled than there are, so that the variance between few is unbiased (Rao and
    Wu, JASA 1988). A single repeat says nothing of what another would give.

    Where the arms share episodes (repeat, task and seed) only those count and both arms are sampled
    together; where they share none each is sampled by itself, and the interval is no narrower than
    that of two independent rates (Newcombe, "Interval estimation for the difference between
    independent proportions", Statistics in Medicine 1998). Where successes and failures leave no
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
    rng = Random(seed)
    if shared:
        apart = {key: a[key] - b[key] for key in a}
        sampled = list(islice(_resample(apart, rng), resamples))
    else:
        pairs = zip(_resample(a, rng), _resample(b, rng), strict=False)
        sampled = [one - other for one, other in islice(pairs, resamples)]
    value = fmean(a.values()) - fmean(b.values())
    low, high = percentiles(sampled)
    counts = [len({task for _, task, _ in arm}) for arm in (a, b)]
    if low == high and {*a.values(), *b.values()} <= {0.0, 1.0}:
        # What none of the tasks has shown may be as frequent as Wilson's end says.
        ends = [wilson(0, count)[1] for count in counts]
        half = ends[0] if shared else math.hypot(*ends)
        low, high = value - half, value + half
    elif not shared:
        one, other = (
            Interval(fmean(arm.values()), *wilson(fmean(arm.values()) * count, count))
            for arm, count in zip((a, b), counts, strict=True)
        )
        low = min(low, value - math.hypot(one.value - one.low, other.high - other.value))
        high = max(high, value + math.hypot(one.high - one.value, other.value - other.low))
    return Interval(value, max(-1.0, low), min(1.0, high))


def _resample(outcomes: Outcomes, rng: Random) -> Iterator[float]:
    """Yield the rate over resampled repeats and tasks, without end."""
    cells: dict[tuple[int, str], list[float]] = {}
    for (repeat, task, _), value in sorted(outcomes.items()):
        cells.setdefault((repeat, task), []).append(value)
    names = sorted({task for _, task in cells})
    rows = [
        [cells.get((repeat, task), []) for task in names]
        for repeat in sorted({repeat for repeat, _ in cells})
    ]
    known: dict[tuple[int, ...], tuple[list[float], list[int]]] = {}
    while True:
        repeats = tuple(sorted(rng.choices(range(len(rows)), k=max(1, len(rows) - 1))))
        if repeats not in known:
            columns = list(zip(*(rows[row] for row in repeats), strict=True))
            sums = [math.fsum(map(math.fsum, column)) for column in columns]
            known[repeats] = sums, [sum(map(len, column)) for column in columns]
        sums, counts = known[repeats]
        tasks = rng.choices(range(len(sums)), k=len(sums))
        if episodes := sum(map(counts.__getitem__, tasks)):
            yield sum(map(sums.__getitem__, tasks)) / episodes


def calibration_error(pairs: Sequence[tuple[float, bool]], weights: Sequence[float] = ()) -> float:
    """Return the expected calibration error: the mean, over ten bins of equal width, of the
    difference between a bin's mean probability and its share of successes. 0 without data."""
    gaps, total = [0.0] * _BINS, 0.0
    for place, (probability, was) in enumerate(pairs):
        weight = weights[place] if weights else 1.0
        gaps[min(int(probability * _BINS), _BINS - 1)] += weight * (probability - was)
        total += weight
    return sum(map(abs, gaps)) / total if total else 0.0
