"""Checks for proposals: what a solution always leaves behind, as far as two plays of it agree."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from loop.proposers.backward import Changes
from tasks.task import Check, Json, Probe

_NAMES_OF_KEYS = re.compile(
    r"^(id|rid|pk|rowid|uuid|guid|hash|.*_uuid|.*hash|.*token|.*nonce)$", re.I
)
_HASH = re.compile(r"^[0-9a-f]{16,}$|^[0-9a-f]{8}-[0-9a-f]{4}-")
_CLOCK = re.compile(r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?.*)?$")
_AGO = re.compile(
    r"\bago\b|\b(year|month|week|day|hour|minute|second)s?\b|\bnow\b|\btoday\b|yesterday|\d\d:\d\d",
    re.IGNORECASE,
)
_JULIAN_OF_1970 = 2440587.5
_NEAR = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Play:
    """One play of a solution on a fresh instance."""

    changes: Changes
    at: datetime
    """When, with its time zone."""


def expected_changes(
    first: Play, second: Play, values: Sequence[str], idle: Changes | None = None
) -> dict[str, Json]:
    """What the rule `changes_are` is to expect: the tables that hold something of `values`, what
    was typed or chosen; where none does, all in which something stays the same.

    Of rows only the columns are kept that both plays agree in, without what names a row or says
    when: keys and hashes of new rows, times near the play's own. The other tables may change, and
    so may those in which the plays differ by more than columns, and those that change when nothing
    is done, as `idle` says. Empty where nothing is left.
    """
    wanted = {value.casefold() for value in values if value}
    stable = {}
    for table in sorted((first.changes.keys() & second.changes.keys()) - set(idle or {})):
        if rows := _lasting(first, second, table):
            stable[table] = rows
    telling = [t for t, rows in stable.items() if any(_text(c) in wanted for c in _cells(rows))]
    kept = telling or [t for t, rows in stable.items() if _cells(rows)]
    if not kept:
        return {}
    others: list[Json] = [*sorted((first.changes.keys() | second.changes.keys()) - set(kept))]
    return {**{table: stable[table] for table in kept}, **({"may": others} if others else {})}


def _lasting(first: Play, second: Play, table: str) -> dict[str, Json]:
    """The rows of a table by what became of them; empty where the plays have not as many."""
    one, two = first.changes[table], second.changes[table]
    kept: dict[str, Json] = {}
    for kind in ("added", "removed", "changed"):
        rows, others = one.get(kind, []), two.get(kind, [])
        if len(rows) != len(others):
            return {}
        if rows:
            at, was_there = (first.at, second.at), kind == "removed"
            kept[kind] = [_agreed(a, b, at, was_there) for a, b in _paired(rows, others)]
    return kept


def holds(changes: Json, text: str) -> bool:
    """Whether a cell of the changes is this text."""
    return any(_text(cell) == text.casefold() for cell in _cells(changes))


def page_checks(url: str, values: Sequence[str]) -> tuple[tuple[Probe, ...], tuple[Check, ...]]:
    """For a site without a database: what was typed stands on the page that came of it."""
    probe = Probe("shown", url=url, script="document.body ? document.body.innerText : ''")
    checks = tuple(Check("shown", "contains", value) for value in values)
    return (probe,), checks


def is_volatile(column: str, value: Json, at: datetime) -> bool:
    """Whether a column names its row or says when it was written, rather than what."""
    if _NAMES_OF_KEYS.match(column):
        return True
    if isinstance(value, str):
        return bool(_HASH.match(value)) or _is_near(value, at)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    seconds = at.timestamp()
    day = _NEAR.total_seconds()
    moments = (value, value / 1000, value / 1_000_000, (value - _JULIAN_OF_1970) * 86400)
    return any(abs(moment - seconds) < day for moment in moments)


def is_clock(text: str) -> bool:
    """Whether a text is a date or a time, or speaks of one from now."""
    return bool(_CLOCK.match(text) or _AGO.search(text))


def _is_near(text: str, at: datetime) -> bool:
    if not _CLOCK.match(text):
        return False
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return False
    return abs(moment.replace(tzinfo=None) - at.replace(tzinfo=None)) < _NEAR


def _agreed(one: Any, two: Any, at: tuple[datetime, datetime], was_there: bool) -> dict[str, Json]:
    """The columns that agree; of a changed row those that the change touched, and before it all.

    What was there before the episode keeps its keys, which are the same in every instance.
    """
    if "before" in one and "after" in one and isinstance(one["after"], Mapping):
        before, after = one["before"], one["after"]
        touched = {key: value for key, value in after.items() if before.get(key) != value}
        kept = _agreed(touched, two.get("after", {}), at, False)
        old = _agreed(before, two["before"], at, True)
        return {"before": old, "after": kept}
    return {
        column: value
        for column, value in one.items()
        if column in two
        and two[column] == value
        and value is not None
        and not isinstance(value, dict)
        and (was_there or not any(is_volatile(column, value, moment) for moment in at))
    }


def _paired(rows: Sequence[Any], others: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Each row with the one most like it among the others."""
    left = list(others)
    pairs = []
    for row in rows:
        best = max(range(len(left)), key=lambda index: _likeness(row, left[index]))
        pairs.append((row, left.pop(best)))
    return pairs


def _likeness(one: Any, two: Any) -> int:
    a, b = one.get("after", one), two.get("after", two)
    return sum(b.get(column) == value for column, value in a.items())


def _cells(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [cell for each in value.values() for cell in _cells(each)]
    if isinstance(value, list):
        return [cell for each in value for cell in _cells(each)]
    return [] if value is None else [value]


def _text(cell: Any) -> str:
    return str(cell).casefold()
