"""How far what an arm believes of its episodes has drifted from what is true of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from evaluators.statistics import Outcomes, difference, wilson
from loop.arms import ARMS
from webagent.records import Score
from webagent.store import EpisodeSummary, Store

OWN, FROZEN = "judged", "frozen"
"""Names of the scores that an arm's own learned judge and the frozen one leave."""


class DriftRow(TypedDict):
    """An arm with a learned judge after a round, on the episodes it was measured with."""

    arm: str
    round: int
    episodes: int
    true: float
    """Share that the tasks' checks pass."""
    believed: float
    """Share that the arm takes for successes."""
    frozen: float
    """Share that the judge from before the first round passes."""
    gap: float
    """Believed less true."""
    low: float
    """95 %, over repeats and tasks."""
    high: float
    kept: int
    """Episodes of the round, collected to learn from, that were taken for successes."""
    wrong: float
    """Share of these that are none."""
    wrong_low: float
    """Wilson's 95 % interval."""
    wrong_high: float


@dataclass(frozen=True, slots=True)
class _Judged:
    """An episode with the truth and what was believed."""

    entry: EpisodeSummary
    true: float
    believed: float
    frozen: float


def drift(store: Store, judge: str) -> list[DriftRow]:
    """A row for every arm and round that a learned judge looked at. Raises `StoreError`."""
    measured = _grouped(_judged(store, judge, "evaluate"))
    collected = _grouped(_judged(store, judge, "collect"))
    rows = []
    for (arm, number), episodes in sorted(measured.items(), key=lambda item: _order(*item[0])):
        kept = [one for one in collected.get((arm, number), ()) if one.believed >= 0.5]
        rows.append(_row(arm, number, episodes, kept))
    return rows


def _row(arm: str, number: int, episodes: Sequence[_Judged], kept: Sequence[_Judged]) -> DriftRow:
    gap = difference(_outcomes(episodes, "believed"), _outcomes(episodes, "true"))
    wrong = sum(one.true < 0.5 for one in kept)
    low, high = wilson(wrong, len(kept))
    assert gap is not None
    return DriftRow(
        arm=arm,
        round=number,
        episodes=len(episodes),
        true=_mean(one.true for one in episodes),
        believed=_mean(one.believed for one in episodes),
        frozen=_mean(one.frozen for one in episodes),
        gap=gap.value,
        low=gap.low,
        high=gap.high,
        kept=len(kept),
        wrong=wrong / len(kept) if kept else 0.0,
        wrong_low=low,
        wrong_high=high,
    )


def _judged(store: Store, judge: str, phase: str) -> list[_Judged]:
    scores = store.scores(phase=phase)
    found = []
    for entry in store.entries(phase=phase):
        said = _by_name(scores.get(entry.id, ()), judge)
        true, own, frozen = said.get("success"), said.get(OWN), said.get(FROZEN)
        if true is None or own is None or frozen is None:
            continue
        both = entry.arm in ARMS and ARMS[entry.arm].believes == "own and frozen"
        found.append(_Judged(entry, true, min(own, frozen) if both else own, frozen))
    return found


def _by_name(scores: Iterable[Score], judge: str) -> Mapping[str, float]:
    return {
        score.name: score.value
        for score in scores
        if score.value is not None
        and (score.name in (OWN, FROZEN) or score.evaluator.startswith(judge))
    }


def _outcomes(episodes: Iterable[_Judged], what: str) -> Outcomes:
    return {
        (one.entry.repeat, one.entry.task, one.entry.seed): getattr(one, what) for one in episodes
    }


def _grouped(episodes: Iterable[_Judged]) -> dict[tuple[str, int], list[_Judged]]:
    groups: dict[tuple[str, int], list[_Judged]] = defaultdict(list)
    for one in episodes:
        groups[one.entry.arm, one.entry.round].append(one)
    return groups


def _order(arm: str, number: int) -> tuple[int, int]:
    names = list(ARMS)
    return (names.index(arm) if arm in names else len(names)), number


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
