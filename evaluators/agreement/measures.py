"""Precision, recall and other measures of an evaluator against human labels, with intervals."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluators.labels import TRUTH_RULES, Label
from evaluators.statistics import Interval, student_quantile, wilson
from webagent.errors import SetupError, unknown_name


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """One labelled episode with an evaluator's value of it."""

    episode: str
    truth: bool
    """What people said."""
    value: float | None
    """What the evaluator said, in [0, 1]; None where it abstained."""
    task: str = ""
    """Episodes of one task succeed and fail together; empty where each is its own."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Such as `benchmark` and `agent`, by which figures may be split."""

    @property
    def cluster(self) -> str:
        """What is sampled as one when episodes are resampled."""
        return f"task {self.task}" if self.task else f"episode {self.episode}"


@dataclass(frozen=True, slots=True)
class Truths:
    """What people's labels come to."""

    values: Mapping[str, bool]
    """By episode."""
    labels: Mapping[str, Label]
    """One label of each of those episodes, for its task and groups."""
    disputed: tuple[str, ...] = ()
    """Episodes on which people do not agree enough to count."""
    unsure: tuple[str, ...] = ()
    """Episodes of which nobody was sure."""


def decide_truths(labels: Iterable[Label], rule: str = "majority") -> Truths:
    """Return one truth for each episode from the labels of one score.

    `majority`: of those that were sure, with a tie left out as disputed; `first`: of the annotator
    that comes first, as AgentRewardBench takes it; `unanimous`: disputed unless all say the same. A
    label of exactly one half is one that is not sure. Raises `SetupError` for another rule.
    """
    if rule not in TRUTH_RULES:
        raise unknown_name("rule for several annotators", rule, TRUTH_RULES)
    given: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels:
        given[label.episode].append(label)
    if len({label.score for episode in given.values() for label in episode}) > 1:
        raise SetupError("labels of several scores cannot be one truth; choose those of one score")
    values: dict[str, bool] = {}
    disputed, unsure = [], []
    for episode, theirs in given.items():
        decided = [one.value > 0.5 for one in theirs if one.value is not None and one.value != 0.5]
        if not decided or (rule == "first" and theirs[0].value in (None, 0.5)):
            unsure.append(episode)
            continue
        ayes = sum(decided)
        if rule == "first":
            values[episode] = decided[0]
        elif 2 * ayes == len(decided) or (rule == "unanimous" and ayes not in (0, len(decided))):
            disputed.append(episode)
        else:
            values[episode] = 2 * ayes > len(decided)
    firsts = {episode: given[episode][0] for episode in values}
    return Truths(values, firsts, tuple(disputed), tuple(unsure))


def pair_scores(values: Mapping[str, float | None], truth: Truths) -> list[LabelledScore]:
    """Return the episodes that are both labelled and judged, in the order of the labels."""
    pairs = []
    for episode, is_success in truth.values.items():
        if episode not in values:
            continue
        label = truth.labels[episode]
        named = {"benchmark": label.benchmark, "agent": label.agent, "task": label.task}
        groups = {name: value for name, value in named.items() if value}
        task = "/".join(part for part in (label.benchmark, label.task) if part)
        pairs.append(
            LabelledScore(episode, is_success, values[episode], task if label.task else "", groups)
        )
    return pairs


_RESAMPLES = 2000
_MOST_DRAWN = 2_000_000
"""Most rows sampled at once, so that large comparisons stay within 100 MB."""
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


def count_outcomes(pairs: Sequence[LabelledScore]) -> Array:
    """Return (clusters, 4) counts of each task, or of each episode where tasks are not named.

    The columns are those of `Counts`; episodes on which the evaluator abstained are in none.
    """
    places = {cluster: i for i, cluster in enumerate(dict.fromkeys(p.cluster for p in pairs))}
    table = np.zeros((len(places), 4))
    for pair in pairs:
        if pair.value is not None:
            column = (0 if pair.truth else 1) + (0 if pair.value >= PASSES else 2)
            table[places[pair.cluster], column] += 1
    return table


def flip(table: Array) -> Array:
    """Return the counts had the evaluator always said the opposite."""
    return table[..., [2, 3, 0, 1]]


def ratio(part: Array, whole: Array) -> Array:
    """Return the quotients; nan where the whole is 0."""
    found = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def _rate(columns: tuple[tuple[int, ...], tuple[int, ...]], table: Array) -> Array:
    part, whole = (table[..., list(places)].sum(-1) for places in columns)
    return ratio(part, whole)


def cohen_kappa(table: Array, kinds: int) -> Array:
    """Return agreement beyond chance: Cohen (Educational and Psychological Measurement 1960).

    `table` holds (..., kinds * kinds) counts of what the first said by what the second said. nan
    where both always say the same one thing, so that chance alone would have them agree. Written
    for many tables at once, which a bootstrap needs; scikit-learn's takes one at a time.
    """
    square = table.reshape(*table.shape[:-1], kinds, kinds)
    total = table.sum(-1)
    chance = ratio((square.sum(-1) * square.sum(-2)).sum(-1), total**2)
    same = ratio(square.trace(axis1=-2, axis2=-1), total)
    return ratio(same - chance, np.where(chance < 1 - 1e-12, 1 - chance, 0.0))


RATES: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = MappingProxyType(
    {
        "precision": ((0,), (0, 1)),
        "recall": ((0,), (0, 2)),
        "false_positive_rate": ((1,), (1, 3)),
        "accuracy": ((0, 3), (0, 1, 2, 3)),
    }
)
"""Measures that are one of `Counts` out of another: which columns make the part and the whole."""
MEASURES: Mapping[str, Callable[[Array], Array]] = MappingProxyType(
    {
        "precision": partial(_rate, RATES["precision"]),
        "recall": partial(_rate, RATES["recall"]),
        "f1": lambda table: ratio(2 * table[..., 0], table[..., [0, 0, 1, 2]].sum(-1)),
        "false_positive_rate": partial(_rate, RATES["false_positive_rate"]),
        "accuracy": partial(_rate, RATES["accuracy"]),
        "kappa": partial(cohen_kappa, kinds=2),
    }
)


_Z = 1.96


def rate_interval(parts: Array, wholes: Array) -> Interval | None:
    """Return the share of the whole with Wilson's interval; None where there is nothing to share.

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
        quantile = student_quantile(clusters - 1)
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
    """Return a statistic of the summed rows with a bootstrap interval over rows, one for each task.

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
    rng, rows = np.random.default_rng(0), len(table)
    most, resamples = max(1, _MOST_DRAWN // rows), [np.array([])]
    for start in range(0, _RESAMPLES if rows > 1 else 0, most):
        size = min(most, _RESAMPLES - start)
        chosen = rng.integers(rows, size=(size, rows)) + rows * np.arange(size)[:, None]
        weights = np.bincount(chosen.ravel(), minlength=size * rows).reshape(size, rows)
        resamples.append(statistic(weights @ table))
    found = np.concatenate(resamples)
    found = found[~np.isnan(found)]
    if not len(found):
        return Interval(value, *span)
    if turned and np.ptp(found) < 1e-12:
        whole, row = table.sum(0), table.mean(0)
        ends = [float(statistic(whole + _Z**2 * turn(row))) for turn in turned]
        ends = [end for end in ends if not np.isnan(end)]
        return Interval(value, min([value, *ends]), max([value, *ends]))
    low, high = map(float, np.percentile(found, (2.5, 97.5)))
    if is_biased:
        low, high = 2 * value - high, 2 * value - low
    return Interval(value, max(span[0], min(low, value)), min(span[1], max(high, value)))


def rate_clusters(held: Iterable[tuple[Hashable, bool]]) -> Interval | None:
    """Return the share of what holds, given with its cluster, as `rate_interval` does."""
    whole, part = Counter[Hashable](), Counter[Hashable]()
    for cluster, holds in held:
        whole[cluster] += 1
        part[cluster] += holds
    parts = np.array([part[cluster] for cluster in whole], dtype=np.float64)
    return rate_interval(parts, np.array([*whole.values()], dtype=np.float64))
