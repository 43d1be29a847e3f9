"""How many real steps one arm needs for the success that another has with more of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from loop.summary.schema import ArmRow, Summary

COMPARED = ("self", "uniform")
"""The arm that should need fewer steps, and the one it is compared with."""

Curve = list[tuple[float, float]]
"""Real steps and success of one repeat, round by round, in order."""


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Steps of two arms to the same success."""

    a: str
    b: str
    success: float
    """The highest that both reach, averaged over the repeats."""
    steps_a: float
    steps_b: float
    ratio: float
    """How many times as many steps b needs."""
    low: float
    """95 % over repeats drawn with replacement."""
    high: float
    repeats: int


def compare_steps(summary: Summary, a: str, b: str) -> Efficiency | None:
    """The two arms of a run; None where one of them, or the course of it, is missing."""
    arms = {arm["name"]: arm for arm in summary["arms"]}
    if a not in arms or b not in arms:
        return None
    return compare_curves(a, read_curves(arms[a]), b, read_curves(arms[b]))


def read_curves(arm: ArmRow) -> dict[int, Curve]:
    """The course of each repeat."""
    found: dict[int, Curve] = {}
    for row in arm["rounds"]:
        for repeat in row["by_repeat"]:
            point = float(repeat["real_steps"]), repeat["success"]
            found.setdefault(repeat["repeat"], []).append(point)
    return found


def compare_curves(
    a: str, of_a: Mapping[int, Curve], b: str, of_b: Mapping[int, Curve]
) -> Efficiency | None:
    """Steps to the same success, over the repeats that both have in as many rounds.

    Each arm's courses are averaged, made to rise (isotonic regression, so that a lucky round does
    not count) and read between the rounds by straight lines; all resamples of the repeats are gone
    through, each pair of courses together.
    """
    repeats = sorted(of_a.keys() & of_b.keys())
    lengths = {len(of[repeat]) for of in (of_a, of_b) for repeat in repeats}
    if not repeats or len(lengths) > 1 or lengths == {1}:
        return None
    pairs = [(of_a[repeat], of_b[repeat]) for repeat in repeats]
    found = _steps(pairs)
    if found is None:
        return None
    level, steps_a, steps_b = found
    samples = [_steps(list(sample)) for sample in product(pairs, repeat=len(pairs))]
    ratios = [s[2] / s[1] for s in samples if s is not None]
    low = np.percentile(ratios, 2.5, method="lower")
    high = np.percentile(ratios, 97.5, method="higher")
    ratio = steps_b / steps_a
    return Efficiency(a, b, level, steps_a, steps_b, ratio, float(low), float(high), len(repeats))


def format_efficiency(efficiency: Efficiency | None) -> list[str]:
    """It in words; empty where there is nothing to say."""
    if efficiency is None:
        return []
    e = efficiency
    return [
        f"{e.a} reaches {e.success:.1%} after {e.steps_a:,.0f} real steps, {e.b} after"
        f" {e.steps_b:,.0f}: {e.ratio:.2f} times as many (95 % {e.low:.2f} to {e.high:.2f} over"
        f" {e.repeats} repeats)"
    ]


def _steps(pairs: Sequence[tuple[Curve, Curve]]) -> tuple[float, float, float] | None:
    """The highest success that both arms reach, and either's steps to it."""
    (steps_a, rise_a), (steps_b, rise_b) = (
        _mean_course([pair[side] for pair in pairs]) for side in (0, 1)
    )
    level = min(rise_a[-1], rise_b[-1])
    if level <= min(rise_a[0], rise_b[0]):
        return None
    needed_a, needed_b = _find_steps(steps_a, rise_a, level), _find_steps(steps_b, rise_b, level)
    return (float(level), needed_a, needed_b) if needed_a > 0 else None


def _mean_course(curves: Sequence[Curve]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    points = np.array(curves, dtype=float).mean(axis=0)
    return points[:, 0], isotonic(points[:, 1])


def isotonic(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest values, by squares, that never fall: neighbours that do are averaged."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        mean, count = float(value), 1
        while blocks and blocks[-1][0] > mean:
            before, size = blocks.pop()
            mean, count = (mean * count + before * size) / (count + size), count + size
        blocks.append((mean, count))
    return np.array([mean for mean, count in blocks for _ in range(count)])


def _find_steps(steps: NDArray[np.float64], rise: NDArray[np.float64], level: float) -> float:
    """The first steps at which a course that never falls is at the level."""
    place = int(np.argmax(rise >= level - 1e-12))
    if place == 0:
        return float(steps[0])
    span = rise[place] - rise[place - 1]
    part = (level - rise[place - 1]) / span
    return float(steps[place - 1] + part * (steps[place] - steps[place - 1]))
