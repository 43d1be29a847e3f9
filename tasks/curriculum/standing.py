"""Standings: what a task is to the curriculum, and why."""

from dataclasses import dataclass
from enum import StrEnum

from tasks.curriculum.belief import Belief
from tasks.curriculum.record import Played, Record


class Standing(StrEnum):
    """Exactly one at a time."""

    LEARNING = "learning"
    """Drawn by its value."""
    UNSOLVED = "unsolved"
    """Tried and never solved: drawn in turn, from a share of their own."""
    RETIRED = "retired"
    """Surely mastered: not drawn until its revisit."""
    DUE = "due"
    """Mastered, and to be tried again in this round."""
    INVALID = "invalid"
    """Not drawn: its outcomes say nothing."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When a task goes from one standing to another."""

    keep: float = 0.5
    """What evidence still counts for after one more round."""
    mastered: float = 0.8
    """Success rate, exploring, from which there is nothing more to learn."""
    certainty: float = 0.9
    """Probability that a task is mastered from which it is retired."""
    revisit: int = 3
    """Rounds after its last try that a retired task is tried again."""
    patience: int = 8
    """Tries without a success after which a task is one that nobody has solved."""
    oracle_patience: int = 5
    """Failed tries of a demonstrator, and of the policy, after which a task that nobody solved is
    invalid."""
    least_validity: float = 0.25
    """Validity below which a task is not drawn."""


def validity_of(record: Record, rules: Rules) -> tuple[float, str]:
    """How far outcomes of the task can be believed, in [0, 1], with the reason where that is not 1.

    (1 + judged tries) / (1 + all tries), those in which the world failed or the check could not be
    evaluated included, but for as many as are excused; 0 where demonstrators and the policy always
    failed.
    """
    unsolved = not record.successes and not record.shown_successes
    if unsolved and min(record.shown, record.all_tries) >= rules.oracle_patience:
        return 0.0, (
            f"nobody can do it: {record.shown} tries of a demonstrator and {record.all_tries} of"
            " the policy all failed"
        )
    broken = sum(played.broken for played in record.rounds)
    unjudged = sum(played.unjudged for played in record.rounds)
    lost = broken + unjudged
    if not lost:
        return 1.0, ""
    causes = [f"its page failed {broken} times"] if broken else []
    causes += [f"its check could not be evaluated {unjudged} times"] if unjudged else []
    reason = f"{' and '.join(causes)} in {record.all_tries + lost} tries"
    own = max(0.0, lost - record.excused)
    if not own:
        return 1.0, ""
    if record.excused:
        reason += f", {record.excused:.1f} of these as others failed in the same rounds"
    return (1 + record.all_tries) / (1 + record.all_tries + own), reason


def standing_of(record: Record, now: int, rules: Rules) -> Standing:
    """The standing before round `now`.

    A task retires at the end of a round after which it is surely mastered, and comes back when a
    later try of it fails.
    """
    if validity_of(record, rules)[0] < rules.least_validity:
        return Standing.INVALID
    if _is_retired(record, rules):
        is_due = now - record.last_round >= rules.revisit
        return Standing.DUE if is_due else Standing.RETIRED
    if record.all_tries >= rules.patience and not record.successes:
        return Standing.UNSOLVED
    return Standing.LEARNING


def _is_retired(record: Record, rules: Rules) -> bool:
    retired, seen = False, list[Played]()
    for played in record.rounds:
        seen.append(played)
        failed = played.successes < played.tries
        if retired:
            retired = not failed
            continue
        evidence = Record(tuple(seen)).evidence(played.round + 1, rules.keep)
        retired = Belief().and_seen(*evidence).above(rules.mastered) >= rules.certainty
    return retired
