"""How tasks went so far, round by round, and which of their failures are put down to the
machine."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal


class TryOutcome(StrEnum):
    """What came of one try."""

    SUCCESS = "success"
    FAILURE = "failure"
    STRAYED = "strayed"
    """A failure after an action that was taken at random: it says little of the policy."""
    BROKEN = "broken"
    """The world failed, so nothing was tried in truth."""
    UNJUDGED = "unjudged"
    """Nobody could say how it went."""


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """A task in one round."""

    round: int
    tries: int = 0
    """Those that tell something of the policy."""
    successes: int = 0
    strayed: int = 0
    """Failures besides, after an action taken at random."""
    steps: int = 0
    """Of all of these, together."""
    broken: int = 0
    unjudged: int = 0

    @property
    def attempts(self) -> int:
        """Everything that was begun, whatever came of it."""
        return self.tries + self.strayed + self.broken + self.unjudged

    def with_try(self, outcome: TryOutcome, steps: int) -> "RoundRecord":
        """Return the record with one more try."""
        match outcome:
            case TryOutcome.BROKEN:
                return replace(self, broken=self.broken + 1)
            case TryOutcome.UNJUDGED:
                return replace(self, unjudged=self.unjudged + 1)
            case TryOutcome.STRAYED:
                return replace(self, strayed=self.strayed + 1, steps=self.steps + steps)
        return replace(
            self,
            tries=self.tries + 1,
            successes=self.successes + (outcome is TryOutcome.SUCCESS),
            steps=self.steps + steps,
        )


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task in all rounds so far."""

    rounds: tuple[RoundRecord, ...] = ()
    """In order, each round once; rounds in which it was not drawn are left out."""
    shown: int = 0
    """How often a demonstrator tried it."""
    shown_successes: int = 0
    demonstrations: int = 0
    """Of these successes, those that the first policy was trained on."""
    excused: float = 0.0
    """How many of the broken and unjudged tries are put down to the machine, not to the task."""

    @property
    def tries(self) -> int:
        """Those that tell something of the policy, in all rounds."""
        return sum(played.tries for played in self.rounds)

    @property
    def all_tries(self) -> int:
        """Judged ones, in all rounds: those that strayed counted, too."""
        return sum(played.tries + played.strayed for played in self.rounds)

    @property
    def successes(self) -> int:
        """In all rounds."""
        return sum(played.successes for played in self.rounds)

    @property
    def last_round(self) -> int:
        """The latest in which it was drawn; 0 for none."""
        return self.rounds[-1].round if self.rounds else 0

    def with_try(self, round: int, outcome: TryOutcome, steps: int = 0) -> "TaskRecord":
        """Return the record with one more try, in the latest round or a later one.

        Raises `ValueError` for a round before the latest.
        """
        if round < self.last_round:
            raise ValueError(f"a try of round {round} after one of round {self.last_round}")
        *before, last = self.rounds or (RoundRecord(round),)
        if last.round < round:
            before, last = [*before, last], RoundRecord(round)
        return replace(self, rounds=(*before, last.with_try(outcome, steps)))

    def evidence(self, now: int, keep: float) -> tuple[float, float]:
        """Return successes and failures as they count before round `now`: those of the round before
        it in full, and with each round further back `keep` times as much, since the policy changed.

        Demonstrations are no evidence: they say that a task can be done, not that this policy can.
        """
        weights = [keep ** (now - 1 - played.round) for played in self.rounds]
        pairs = list(zip(weights, self.rounds, strict=True))
        successes = sum(weight * played.successes for weight, played in pairs)
        failures = sum(weight * played.tries for weight, played in pairs) - successes
        return successes, failures


WELL_ABOVE = 2.0
"""Standard deviations by which a task must fail more often than the others to be blamed."""
_Kind = Literal["broken", "unjudged"]
_KINDS: tuple[_Kind, ...] = ("broken", "unjudged")


def excuse_failures(records: Mapping[str, TaskRecord]) -> dict[str, TaskRecord]:
    """Return the records, each with how many of its lost tries are put down to the machine.

    A task is expected to lose as many tries as its share at the pooled rate of all other tasks in
    the same rounds; so many and two standard deviations more are excused, pages that failed and
    checks that could not be evaluated apart. What is above that stays the task's own.
    """
    totals: dict[_Kind, dict[int, tuple[int, int]]] = {}
    for kind in _KINDS:  # by round, the lost tries and all tries of all tasks
        lost, attempts = Counter[int](), Counter[int]()
        for record in records.values():
            for played in record.rounds:
                lost[played.round] += _count_lost(played, kind)
                attempts[played.round] += played.attempts
        totals[kind] = {round: (lost[round], attempts[round]) for round in attempts}
    return {
        name: replace(
            record, excused=sum(_count_excused(record, kind, totals[kind]) for kind in _KINDS)
        )
        for name, record in records.items()
    }


def _count_excused(record: TaskRecord, kind: _Kind, totals: Mapping[int, tuple[int, int]]) -> float:
    expected = variance = 0.0
    for played in record.rounds:
        lost, attempts = totals[played.round]
        others = attempts - played.attempts
        if others:
            rate = (lost - _count_lost(played, kind)) / others
            expected += played.attempts * rate
            # the others' rate is itself known from so many tries alone
            doubled = 1 + played.attempts / others
            variance += played.attempts * rate * (1 - rate) * doubled
    own = sum(_count_lost(played, kind) for played in record.rounds)
    return min(own, expected + WELL_ABOVE * math.sqrt(variance))


def _count_lost(played: RoundRecord, kind: _Kind) -> int:
    return played.broken if kind == "broken" else played.unjudged
