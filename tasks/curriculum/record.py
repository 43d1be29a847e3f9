"""Records: how a task went so far, round by round, under the policy that is to improve."""

from dataclasses import dataclass, replace
from enum import StrEnum


class Outcome(StrEnum):
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
class Played:
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

    def and_one(self, outcome: Outcome, steps: int) -> "Played":
        """With one more try."""
        match outcome:
            case Outcome.BROKEN:
                return replace(self, broken=self.broken + 1)
            case Outcome.UNJUDGED:
                return replace(self, unjudged=self.unjudged + 1)
            case Outcome.STRAYED:
                return replace(self, strayed=self.strayed + 1, steps=self.steps + steps)
        return replace(
            self,
            tries=self.tries + 1,
            successes=self.successes + (outcome is Outcome.SUCCESS),
            steps=self.steps + steps,
        )


@dataclass(frozen=True, slots=True)
class Record:
    """A task in all rounds so far."""

    rounds: tuple[Played, ...] = ()
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

    def and_one(self, round: int, outcome: Outcome, steps: int = 0) -> "Record":
        """With one more try, in the latest round or a later one.

        Raises `ValueError` for a round before the latest.
        """
        if round < self.last_round:
            raise ValueError(f"a try of round {round} after one of round {self.last_round}")
        *before, last = self.rounds or (Played(round),)
        if last.round < round:
            before, last = [*before, last], Played(round)
        return replace(self, rounds=(*before, last.and_one(outcome, steps)))

    def evidence(self, now: int, keep: float) -> tuple[float, float]:
        """Successes and failures as they count before round `now`: those of the round before it
        in full, and with each round further back `keep` times as much, since the policy changed.

        Demonstrations are no evidence: they say that a task can be done, not that this policy can.
        """
        weights = [keep ** (now - 1 - played.round) for played in self.rounds]
        pairs = list(zip(weights, self.rounds, strict=True))
        successes = sum(weight * played.successes for weight, played in pairs)
        failures = sum(weight * played.tries for weight, played in pairs) - successes
        return successes, failures
