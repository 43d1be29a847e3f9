"""Plateaus: a warning before a round that can teach less than chance alone would move."""

import math
from collections.abc import Sequence

from tasks.curriculum.monitor import Monitor

_ENOUGH = 2
"""Rounds that must have been seen."""
_SHRUNK = 0.8
"""Share of the highest value so far below which there is less to learn than there was: with few
tries values move by a tenth from round to round."""
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


def noise(monitor: Monitor) -> float:
    """One standard deviation of a round's success over its tries, by chance alone."""
    p = monitor.success
    return math.sqrt(max(p * (1 - p), 0.01) / max(1, monitor.tries))


def plateau_warning(monitors: Sequence[Monitor]) -> str:
    """A warning when the next round is likely to add nothing that could be seen; else empty.

    Given when the value left in the tasks has shrunk, by more than a few tries would make it, and
    either the expected gain is below the noise of a round or hardly any task has something to
    learn; `monitors` are those so far, in order.
    """
    if len(monitors) < _ENOUGH:
        return ""
    before, now = monitors[-2], monitors[-1]
    gain, chance = expected_gain(monitors), noise(now)
    has_shrunk = now.value < _SHRUNK * max(monitor.value for monitor in monitors)
    if not has_shrunk or (gain >= chance and now.learnable >= _HARDLY_ANY):
        return ""
    return (
        f"round {now.round + 1} is likely to be a plateau: it is expected to add"
        f" {100 * gain:.1f} points where chance alone moves {100 * chance:.1f}, and"
        f" {now.learnable:.0%} of the tasks have something to learn, after {before.learnable:.0%} a"
        f" round ago. {_advice(now)}"
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
