"""Monitors: whether a round still explored, and whether the next may teach anything."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from tasks.curriculum.estimates import TaskEstimate, TaskStanding

WANTED = 4
"""Successful solutions of a task that are enough for a round: n* of the balance score."""
WORTHWHILE = 0.4
"""Value from which a task has something to learn."""


@dataclass(frozen=True, slots=True)
class MonitoredTry:
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


def measure_round(
    round: int,
    tried: Iterable[MonitoredTry],
    estimates: Mapping[str, TaskEstimate],
    wanted: int = WANTED,
) -> Monitor:
    """Return the monitor of a round; `estimates` is what is known after it."""
    by_name: dict[str, list[MonitoredTry]] = defaultdict(list)
    for one in tried:
        by_name[one.name].append(one)
    groups = list(by_name.values())
    tries = [one for group in groups for one in group]
    active = [w for w in estimates.values() if w.standing is TaskStanding.LEARNING]
    solutions = [[one.solution for one in group if one.success] for group in groups]
    return Monitor(
        round=round,
        tasks=len(groups),
        tries=len(tries),
        success=_mean([one.success for one in tries]),
        mixed=_mean([len({one.success for one in group}) > 1 for group in groups]),
        diversity=_mean([len(set(each)) / len(each) for each in solutions if each]),
        balance=_mean([balance_score(group, wanted) for group in groups]),
        learnable=sum(w.value >= WORTHWHILE for w in active) / max(1, len(estimates)),
        value=sum(w.value for w in active) / max(1, len(estimates)),
        unsolved=tuple(w.name for w in estimates.values() if w.standing is TaskStanding.UNSOLVED),
        chances={name: estimate.belief.mean for name, estimate in estimates.items()},
    )


def balance_score(tries: Sequence[MonitoredTry], wanted: int = WANTED) -> float:
    """Return min(n'/n*, 1) · n'/n of B-STaR (Zeng et al., arXiv 2412.17256) for one task.

    n are the tries kept to learn from, n' the different ones among them that are truly successes
    (another seed is another lesson), n* is `wanted`. The first factor is exploration, that enough
    is found; the second exploitation, that what is kept deserves it and is not the same again. 0
    where nothing is kept.
    """
    kept = [one for one in tries if one.is_kept]
    unique = len({(one.seed, one.solution) for one in kept if one.success})
    return min(unique / wanted, 1.0) * unique / len(kept) if kept else 0.0


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


_TOO_WILD, _TOO_TAME = 0.3, 0.5
"""Success below which a round strayed too far, diversity below which it strayed too little."""
_STEP, _FARTHEST = 1.25, 2.0


def scale_exploration(rounds: Iterable[tuple[float, float]]) -> float:
    """Return what to multiply temperature and random share by after these rounds, each with its
    success and the diversity of its solutions; in [1/2, 2].

    After B-STaR (arXiv 2412.17256), which measures its balance score at several temperatures and
    takes the best: here a round has one, so it goes down where little succeeds and up where what
    succeeds is all alike.
    """
    scale = 1.0
    for success, diversity in rounds:
        if success < _TOO_WILD:
            scale /= _STEP
        elif diversity < _TOO_TAME:
            scale *= _STEP
        scale = min(max(scale, 1 / _FARTHEST), _FARTHEST)
    return scale


_ENOUGH = 2
"""Rounds that must have been seen."""
_UNDECIDED = 0.25
"""Openness below which nearly every task is as good as mastered or out of reach. This level and the
next were chosen on 50 simulated courses; docs/curriculum.md has their error on others."""
_HARDLY_ANY = 0.1
"""Share of tasks with something to learn that is next to none."""


def expected_gain(monitors: Sequence[Monitor]) -> float:
    """Return how much mean success the next round may add, from what the last one made of its
    value.

    What is believed of the tasks' chances rose by so much in the last round, from the value there
    was before it; with the value there is now, the next one is expected to do as well in
    proportion. Not below 0.
    """
    before, now = monitors[-2], monitors[-1]
    gained = max(0.0, _level(now) - _level(before))
    return gained * now.value / before.value if before.value else 0.0


def openness(monitor: Monitor) -> float:
    """Return how open it is, task by task, whether the policy can do it: the mean of 4 p (1 - p),
    in [0, 1].

    Retired tasks and those that nobody solved are counted, too: a task that was tried a few times
    in vain may still be the next to be solved, which its value, that of what is drawn, leaves out.
    """
    return fmean(4 * p * (1 - p) for p in monitor.chances.values()) if monitor.chances else 0.0


def plateau_warning(monitors: Sequence[Monitor]) -> str:
    """Return a warning when the rounds to come are likely to add next to nothing; else empty.

    Given when few tasks have something to learn and hardly any is open; `monitors` are those so
    far, in order.
    """
    if len(monitors) < _ENOUGH:
        return ""
    before, now = monitors[-2], monitors[-1]
    if openness(now) >= _UNDECIDED or now.learnable >= _HARDLY_ANY:
        return ""
    advice = []
    if now.unsolved:
        names = ", ".join(now.unsolved[:5])
        advice.append(f"give demonstrations or easier variants of what nobody solved ({names})")
    if now.success > 0.8:
        advice.append("add harder tasks, since what is drawn mostly succeeds")
    if now.diversity < 0.3:
        advice.append("explore more (temperature, random share): solutions are all alike")
    if not advice:
        advice.append("add tasks or demonstrations, or stop here")
    return (
        f"round {now.round + 1} is likely to be a plateau: {now.learnable:.0%} of the tasks have"
        f" something to learn, after {before.learnable:.0%} a round ago, and"
        f" {100 * expected_gain(monitors):.1f} points are expected of it. What helps:"
        f" {'; '.join(advice)}"
    )


def _level(monitor: Monitor) -> float:
    return sum(monitor.chances.values()) / max(1, len(monitor.chances))
