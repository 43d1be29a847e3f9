"""Arms compared beyond success: judges beside who measures, and steps to the same success."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor
from statistics import fmean

from evaluators.statistics import wilson
from loop.arms import ARMS
from loop.summary.schema import ArmRow, BeliefRow, Summary
from webagent.records import Score
from webagent.store import Store

BELIEVED = "believed"
"""Name of the scores of a judge that is named in place of the checks."""


def measure_beliefs(store: Store, judge: str) -> list[BeliefRow]:
    """Return a row for every arm and round in which a judge stood in for the checks.

    Over the episodes that were learnt from. Raises `StoreError`.
    """
    noted = store.states("beliefs:")
    if not noted:
        return []
    scores = store.scores(phase="collect")
    groups: defaultdict[tuple[str, int], list[Sequence[Score]]] = defaultdict(list)
    for entry in store.entries(phase="collect"):
        groups[entry.arm, entry.round].append(scores.get(entry.id, ()))
    failures: Counter[tuple[str, int]] = Counter()
    for key, state in noted.items():
        _, arm, _, number = key.split(":")
        count = state.get("failed") if isinstance(state, dict) else None
        failures[arm, int(number)] += count if isinstance(count, int) else 0
    return [
        _belief_row(arm, number, groups[arm, number], failures[arm, number], judge)
        for arm, number in sorted(failures, key=lambda place: _order(*place))
    ]


def _belief_row(
    arm: str, number: int, episodes: Sequence[Sequence[Score]], failed: int, judge: str
) -> BeliefRow:
    said = [score for scores in episodes for score in scores if score.name == BELIEVED]
    pairs = []
    for scores in episodes:
        believed = [s.value for s in scores if s.name == BELIEVED and s.value is not None]
        true = [
            score.value
            for score in scores
            if score.name == "success"
            and score.evaluator.startswith(judge)
            and score.value is not None
        ]
        if believed and true:
            pairs.append((believed[0] >= 0.5, true[0] >= 0.5))
    same = sum(one == other for one, other in pairs)
    low, high = wilson(same, len(pairs))
    taken = [other for one, other in pairs if one]
    return BeliefRow(
        arm=arm,
        round=number,
        judge=said[0].evaluator if said else "",
        episodes=len(episodes),
        decided=sum(score.value is not None for score in said),
        abstained=sum(score.value is None for score in said),
        failed=failed,
        compared=len(pairs),
        agreement=same / len(pairs) if pairs else None,
        low=low,
        high=high,
        precision=sum(taken) / len(taken) if taken else None,
    )


def _order(arm: str, number: int) -> tuple[int, int]:
    names = list(ARMS)
    return (names.index(arm) if arm in names else len(names)), number


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
    """Return the two arms compared; None where one, or its course, is missing."""
    arms = {arm["name"]: arm for arm in summary["arms"]}
    if a not in arms or b not in arms:
        return None
    return compare_curves(a, read_curves(arms[a]), b, read_curves(arms[b]))


def read_curves(arm: ArmRow) -> dict[int, Curve]:
    """Return the course of each repeat."""
    found: dict[int, Curve] = {}
    for row in arm["rounds"]:
        for repeat in row["by_repeat"]:
            point = float(repeat["real_steps"]), repeat["success"]
            found.setdefault(repeat["repeat"], []).append(point)
    return found


def compare_curves(
    a: str, of_a: Mapping[int, Curve], b: str, of_b: Mapping[int, Curve]
) -> Efficiency | None:
    """Return the steps to the same success, over the repeats that both have in as many rounds.

    Each arm's courses are averaged, made to rise (isotonic regression, so that a lucky round does
    not count) and read between the rounds by straight lines; all resamples of the repeats are gone
    through, each pair of courses together.
    """
    repeats = sorted(of_a.keys() & of_b.keys())
    lengths = {len(of[repeat]) for of in (of_a, of_b) for repeat in repeats}
    if not repeats or len(lengths) > 1 or lengths == {1}:
        return None
    pairs = [(of_a[repeat], of_b[repeat]) for repeat in repeats]
    found = _find_common_level(pairs)
    if found is None:
        return None
    level, steps_a, steps_b = found
    samples = [_find_common_level(list(sample)) for sample in product(pairs, repeat=len(pairs))]
    ratios = sorted(s[2] / s[1] for s in samples if s is not None)
    low = ratios[floor(0.025 * (len(ratios) - 1))]
    high = ratios[ceil(0.975 * (len(ratios) - 1))]
    ratio = steps_b / steps_a
    return Efficiency(a, b, level, steps_a, steps_b, ratio, low, high, len(repeats))


def format_efficiency(efficiency: Efficiency | None) -> list[str]:
    """Return the comparison as a sentence; none where there is nothing to say."""
    if efficiency is None:
        return []
    e = efficiency
    return [
        f"{e.a} reaches {e.success:.1%} after {e.steps_a:,.0f} real steps, {e.b} after"
        f" {e.steps_b:,.0f}: {e.ratio:.2f} times as many (95 % {e.low:.2f} to {e.high:.2f} over"
        f" {e.repeats} repeats)"
    ]


def _find_common_level(pairs: Sequence[tuple[Curve, Curve]]) -> tuple[float, float, float] | None:
    """Return the highest success that both arms reach, and either's steps to it."""
    steps_a, rise_a = _average([curve for curve, _ in pairs])
    steps_b, rise_b = _average([curve for _, curve in pairs])
    level = min(rise_a[-1], rise_b[-1])
    if level <= min(rise_a[0], rise_b[0]):
        return None
    needed_a, needed_b = _find_steps(steps_a, rise_a, level), _find_steps(steps_b, rise_b, level)
    return (level, needed_a, needed_b) if needed_a > 0 else None


def _average(curves: Sequence[Curve]) -> tuple[list[float], list[float]]:
    """Return steps and success averaged over the curves, the success made to rise."""
    points = [list(zip(*point, strict=True)) for point in zip(*curves, strict=True)]
    return [fmean(steps) for steps, _ in points], isotonic([fmean(won) for _, won in points])


def isotonic(values: Iterable[float]) -> list[float]:
    """Return the nearest values, by squares, that never fall: neighbours that do are averaged."""
    blocks: list[tuple[float, int]] = []
    for mean in values:
        count = 1
        while blocks and blocks[-1][0] > mean:
            before, size = blocks.pop()
            mean, count = (mean * count + before * size) / (count + size), count + size
        blocks.append((mean, count))
    return [mean for mean, count in blocks for _ in range(count)]


def _find_steps(steps: Sequence[float], rise: Sequence[float], level: float) -> float:
    """Return the first steps at which a course that never falls is at the level."""
    place = next(i for i, success in enumerate(rise) if success >= level - 1e-12)
    if place == 0:
        return steps[0]
    part = (level - rise[place - 1]) / (rise[place] - rise[place - 1])
    return steps[place - 1] + part * (steps[place] - steps[place - 1])
