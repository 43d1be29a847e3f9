"""The judge that selects training data beside the one that measures."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from evaluators.statistics import wilson
from loop.arms import ARMS
from loop.summary.schema import BeliefRow
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
    order = {name: place for place, name in enumerate(ARMS)}
    return [
        _belief_row(arm, number, groups[arm, number], failures[arm, number], judge)
        for arm, number in sorted(failures, key=lambda key: (order.get(key[0], len(order)), key[1]))
    ]


def _belief_row(
    arm: str, number: int, episodes: Sequence[Sequence[Score]], failed: int, judge: str
) -> BeliefRow:
    verdicts = [score for scores in episodes for score in scores if score.name == BELIEVED]
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
        judge=verdicts[0].evaluator if verdicts else "",
        episodes=len(episodes),
        decided=sum(score.value is not None for score in verdicts),
        abstained=sum(score.value is None for score in verdicts),
        failed=failed,
        compared=len(pairs),
        agreement=same / len(pairs) if pairs else None,
        low=low,
        high=high,
        precision=sum(taken) / len(taken) if taken else None,
    )
