"""Blame: which failures of the world are the task's, and which befell all tasks alike."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from tasks.curriculum.record import Played, Record

WELL_ABOVE = 2.0
"""Standard deviations by which a task must fail more often than the others to be blamed."""
_Kind = Literal["broken", "unjudged"]
_KINDS: tuple[_Kind, ...] = ("broken", "unjudged")


def excused(records: Mapping[str, Record]) -> dict[str, Record]:
    """The records, each with how many of its lost tries are put down to the machine.

    A task is expected to lose as many tries as its share at the pooled rate of all other tasks in
    the same rounds; so many and two standard deviations more are excused, pages that failed and
    checks that could not be evaluated apart. What is above that stays the task's own.
    """
    totals = {kind: _totals(records, kind) for kind in _KINDS}
    return {
        name: replace(record, excused=sum(_excused(record, kind, totals[kind]) for kind in _KINDS))
        for name, record in records.items()
    }


def _totals(records: Mapping[str, Record], kind: _Kind) -> dict[int, tuple[int, int]]:
    """By round, the lost tries and all tries of all tasks."""
    lost, attempts = Counter[int](), Counter[int]()
    for record in records.values():
        for played in record.rounds:
            lost[played.round] += _lost(played, kind)
            attempts[played.round] += played.attempts
    return {round: (lost[round], attempts[round]) for round in attempts}


def _excused(record: Record, kind: _Kind, totals: Mapping[int, tuple[int, int]]) -> float:
    expected = variance = 0.0
    for played in record.rounds:
        lost, attempts = totals[played.round]
        others = attempts - played.attempts
        if others:
            rate = (lost - _lost(played, kind)) / others
            expected += played.attempts * rate
            # the others' rate is itself known from so many tries alone
            doubled = 1 + played.attempts / others
            variance += played.attempts * rate * (1 - rate) * doubled
    own = sum(_lost(played, kind) for played in record.rounds)
    return min(own, expected + WELL_ABOVE * math.sqrt(variance))


def _lost(played: Played, kind: _Kind) -> int:
    return played.broken if kind == "broken" else played.unjudged
