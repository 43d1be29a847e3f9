"""Monitors: whether a round still explored, and whether what it found can be made use of."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from tasks.curriculum.standing import Standing
from tasks.curriculum.worth import Worth

WANTED = 4
"""Successful solutions of a task that are enough for a round: n* of the balance score."""
WORTHWHILE = 0.4
"""Value from which a task has something to learn."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One try of a task, as the monitors look at it."""

    name: str
    seed: int
    solution: str
    """What was done in outline, the same for tries that were done alike on other pages."""
    success: bool
    is_kept: bool
    """Whether the loop learns from it: because it was, or was believed, a success."""


@dataclass(frozen=True, slots=True)
class Monitor:
    """What a round was worth, all shares in [0, 1]."""

    round: int
    tasks: int
    """Drawn in the round, each once."""
    tries: int
    success: float
    """Of the tries."""
    mixed: float
    """Share of tasks with both successes and failures: only these say what makes the difference."""
    diversity: float
    """Different successful solutions beside all successful ones, averaged over tasks."""
    balance: float
    """B-STaR's balance score, averaged over tasks."""
    learnable: float
    """Share of all tasks that have something to learn, as known after the round."""
    value: float
    """Mean value of all tasks, as known after the round."""
    unsolved: tuple[str, ...]
    """Tasks that were tried and never solved."""
    chances: Mapping[str, float]
    """What is believed of each task's success rate after the round."""


def monitor(
    round: int, tried: Iterable[Tried], worths: Mapping[str, Worth], wanted: int = WANTED
) -> Monitor:
    """The monitors of a round; `worths` is what is known after it."""
    by_name: dict[str, list[Tried]] = defaultdict(list)
    for one in tried:
        by_name[one.name].append(one)
    groups = list(by_name.values())
    tries = [one for group in groups for one in group]
    active = [w for w in worths.values() if w.standing is Standing.LEARNING]
    return Monitor(
        round=round,
        tasks=len(groups),
        tries=len(tries),
        success=_mean([one.success for one in tries]),
        mixed=_mean([len({one.success for one in group}) > 1 for group in groups]),
        diversity=_mean([_diversity(group) for group in groups if any(o.success for o in group)]),
        balance=_mean([balance_score(group, wanted) for group in groups]),
        learnable=sum(w.value >= WORTHWHILE for w in active) / max(1, len(worths)),
        value=sum(w.value for w in active) / max(1, len(worths)),
        unsolved=tuple(w.name for w in worths.values() if w.standing is Standing.UNSOLVED),
        chances={name: worth.belief.mean for name, worth in worths.items()},
    )


def balance_score(tries: Sequence[Tried], wanted: int = WANTED) -> float:
    """min(n'/n*, 1) · n'/n of B-STaR (Zeng et al., arXiv 2412.17256) for one task.

    n are the tries kept to learn from, n' the different ones among them that are truly successes
    (another seed is another lesson), n* is `wanted`. The first factor is exploration, that enough
    is found; the second exploitation, that what is kept deserves it and is not the same again. 0
    where nothing is kept.
    """
    kept = [one for one in tries if one.is_kept]
    unique = len({(one.seed, one.solution) for one in kept if one.success})
    return min(unique / wanted, 1.0) * unique / len(kept) if kept else 0.0


def _diversity(tries: Sequence[Tried]) -> float:
    successes = [one.solution for one in tries if one.success]
    return len(set(successes)) / len(successes)


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0
