"""Accounts: why a task was drawn, in a sentence for people."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tasks.curriculum.record import Record
from tasks.curriculum.standing import Rules
from tasks.curriculum.worth import Worth


class Reason(StrEnum):
    """What a draw was for."""

    VALUE = "value"
    UNSOLVED = "unsolved"
    REVISIT = "revisit"
    PROPOSED = "proposed"
    EVEN = "even"
    """Every task as much: no curriculum."""


@dataclass(frozen=True, slots=True)
class Account:
    """Why a task was drawn."""

    reason: Reason
    why: str
    """A sentence."""
    value: float = 0.0
    """Validity × E[p (1 - p)], 1 being the most."""
    gain: float = 0.0
    """What a try is expected to add to the success rate."""
    chance: float = 0.5
    """The mean of what is believed of its success rate."""
    validity: float = 1.0
    share: float = 0.0
    """Of the steps that go by value."""


def by_value(worth: Worth, share: float, ranked: Sequence[Worth], now: int) -> Account:
    """For a task that may teach something."""
    low, high = worth.belief.interval()
    rank = 1 + sum(other.rate > worth.rate for other in ranked)
    why = (
        f"{_history(worth.record, now)}, so its chance is taken to be {_percent(low)} to"
        f" {_percent(high)} and its value {worth.value:.2f}; a try of {worth.cost:.0f} steps is"
        f" expected to add {100 * worth.gain:.1f} points, for its steps number {rank} of"
        f" {len(ranked)}; it gets {share:.0%} of the steps"
    )
    return _account(Reason.VALUE, f"{why}{_doubt(worth)}", worth, share)


def unsolved(worth: Worth, count: int, now: int) -> Account:
    """For a task that is kept in view."""
    record = worth.record
    why = (
        f"never solved in {record.all_tries} tries, the last in round {record.last_round};"
        f" one of {count} such tasks that are tried in turn, the longest unseen first"
    )
    return _account(Reason.UNSOLVED, f"{why}{_doubt(worth)}", worth, 0.0)


def revisited(worth: Worth, now: int, rules: Rules) -> Account:
    """For a task that was mastered."""
    why = (
        f"mastered ({worth.record.successes} of {worth.record.tries} tries) and not tried for"
        f" {now - worth.record.last_round} rounds; tried again to see whether it still is"
        f" {_percent(rules.mastered)} or better"
    )
    return _account(Reason.REVISIT, why, worth, 0.0)


def proposed(parent: str, worth: Worth | None) -> Account:
    """For a task that a proposer made."""
    known = f" ({_percent(worth.belief.mean)} of whose kind succeed)" if worth else ""
    return Account(Reason.PROPOSED, f"made from {parent or 'nothing known'}{known} by a proposer")


def even(count: int) -> Account:
    """For a draw without a curriculum."""
    return Account(Reason.EVEN, f"every one of {count} tasks is tried as often")


def _account(reason: Reason, why: str, worth: Worth, share: float) -> Account:
    return Account(reason, why, worth.value, worth.gain, worth.belief.mean, worth.validity, share)


def _history(record: Record, now: int) -> str:
    if not record.tries:
        strayed = record.all_tries
        tried = f"all {strayed} tries failed after a random action" if strayed else "never tried"
        shown = record.demonstrations
        return f"{tried}, {shown} demonstrations learnt from" if shown else tried
    last = record.rounds[-1]
    when = "in the round before" if last.round == now - 1 else f"in round {last.round}"
    if record.tries == last.tries:
        return f"{last.successes} of {last.tries} tries succeeded {when}"
    return (
        f"{last.successes} of {last.tries} tries succeeded {when} and {record.successes} of"
        f" {record.tries} in all"
    )


def _doubt(worth: Worth) -> str:
    return f"; {worth.doubt}, so it counts {_percent(worth.validity)}" if worth.doubt else ""


def _percent(share: float) -> str:
    return f"{share:.0%}"
