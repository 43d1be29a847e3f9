"""Plateaus: a warning before rounds that can hardly teach anything any more."""

from collections.abc import Sequence
from statistics import fmean

from tasks.curriculum.monitor import Monitor

_ENOUGH = 2
"""Rounds that must have been seen."""
_UNDECIDED = 0.25
"""Openness below which nearly every task is as good as mastered or out of reach. This level and the
next were chosen on 50 simulated courses; docs/curriculum.md has their error on others."""
_HARDLY_ANY = 0.1
"""Share of tasks with something to learn that is next to none."""


def expected_gain(monitors: Sequence[Monitor]) -> float:
    """How much mean success the next round may add, from what the last one made of its value.

    What is believed of the tasks' chances rose by so much in the last round, from the value there
    was before it; with the value there is now, the next one is expected to do as well in
    proportion. Not below 0.
    """
    before, now = monitors[-2], monitors[-1]
    gained = max(0.0, _level(now) - _level(before))
    return gained * now.value / before.value if before.value else 0.0


def openness(monitor: Monitor) -> float:
    """How open it is, task by task, whether the policy can do it: the mean of 4 p (1 - p), in
    [0, 1].

    Retired tasks and those that nobody solved are counted, too: a task that was tried a few times
    in vain may still be the next to be solved, which its value, that of what is drawn, leaves out.
    """
    return fmean(4 * p * (1 - p) for p in monitor.chances.values()) if monitor.chances else 0.0


def plateau_warning(monitors: Sequence[Monitor]) -> str:
    """A warning when the rounds to come are likely to add next to nothing; else empty.

    Given when few tasks have something to learn and hardly any is open; `monitors` are those so
    far, in order.
    """
    if len(monitors) < _ENOUGH:
        return ""
    before, now = monitors[-2], monitors[-1]
    if openness(now) >= _UNDECIDED or now.learnable >= _HARDLY_ANY:
        return ""
    return (
        f"round {now.round + 1} is likely to be a plateau: {now.learnable:.0%} of the tasks have"
        f" something to learn, after {before.learnable:.0%} a round ago, and"
        f" {100 * expected_gain(monitors):.1f} points are expected of it. {_advice(now)}"
    )


def _level(monitor: Monitor) -> float:
    return sum(monitor.chances.values()) / max(1, len(monitor.chances))


def _advice(now: Monitor) -> str:
    """What to do, by what stands out."""
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
    return f"What helps: {'; '.join(advice)}"
