"""How far what an arm believes of its episodes has drifted from what is true of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluators.statistics import Outcomes, difference, wilson
from loop.arms import ARMS
from loop.summary.schema import DriftRow
from webagent.records import Score
from webagent.store import EpisodeSummary, Store

OWN, FROZEN = "judged", "frozen"
"""Names of the scores that an arm's own learned judge and the frozen one leave."""


@dataclass(frozen=True, slots=True)
class _JudgedEpisode:
    """An episode with the truth and what was believed."""

    entry: EpisodeSummary
    true: float
    believed: float
    frozen: float


def measure_drift(store: Store, judge: str) -> list[DriftRow]:
    """A row for every arm and round that a learned judge looked at. Raises `StoreError`."""
    measured = _group_episodes(_read_judged(store, judge, "evaluate"))
    collected = _group_episodes(_read_judged(store, judge, "collect"))
    rows = []
    for (arm, number), episodes in sorted(measured.items(), key=lambda item: _order(*item[0])):
        kept = [one for one in collected.get((arm, number), ()) if one.believed >= 0.5]
        rows.append(_drift_row(arm, number, episodes, kept))
    return rows


def _drift_row(
    arm: str, number: int, episodes: Sequence[_JudgedEpisode], kept: Sequence[_JudgedEpisode]
) -> DriftRow:
    gap = difference(_outcomes_by_judge(episodes, "believed"), _outcomes_by_judge(episodes, "true"))
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


def _read_judged(store: Store, judge: str, phase: str) -> list[_JudgedEpisode]:
    scores = store.scores(phase=phase)
    found = []
    for entry in store.entries(phase=phase):
        said = _by_name(scores.get(entry.id, ()), judge)
        true, own, frozen = said.get("success"), said.get(OWN), said.get(FROZEN)
        if true is None or own is None or frozen is None:
            continue
        both = entry.arm in ARMS and ARMS[entry.arm].believes == "own and frozen"
        found.append(_JudgedEpisode(entry, true, min(own, frozen) if both else own, frozen))
    return found


def _by_name(scores: Iterable[Score], judge: str) -> Mapping[str, float]:
    return {
        score.name: score.value
        for score in scores
        if score.value is not None
        and (score.name in (OWN, FROZEN) or score.evaluator.startswith(judge))
    }


def _outcomes_by_judge(episodes: Iterable[_JudgedEpisode], what: str) -> Outcomes:
    return {
        (one.entry.repeat, one.entry.task, one.entry.seed): getattr(one, what) for one in episodes
    }


def _group_episodes(
    episodes: Iterable[_JudgedEpisode],
) -> dict[tuple[str, int], list[_JudgedEpisode]]:
    groups: dict[tuple[str, int], list[_JudgedEpisode]] = defaultdict(list)
    for one in episodes:
        groups[one.entry.arm, one.entry.round].append(one)
    return groups


def _order(arm: str, number: int) -> tuple[int, int]:
    names = list(ARMS)
    return (names.index(arm) if arm in names else len(names)), number


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
