"""Every rule that checks can name: the generic ones, those of sites, those that benchmarks bring.

Whoever scores episodes of any benchmark imports from here; importing registers all rules.
"""

from benchmarks.catalogue import import_parts
from evaluators.evaluator import Verdict
from evaluators.rules import (
    CONSULTING_RULES,
    RULES,
    Means,
    Rule,
    RuleQuestion,
    checks_hold,
    consulting_rule,
    rule,
    run_each_check,
)
from evaluators.rules.checks import equals
from evaluators.rules.wording import describe_row
from tasks.task import Json

__all__ = [
    "CONSULTING_RULES",
    "RULES",
    "Means",
    "Rule",
    "RuleQuestion",
    "checks_hold",
    "consulting_rule",
    "rule",
    "run_each_check",
]

import_parts("rules")

_KINDS = ("added", "removed", "changed")
_MAY, _TOLD = "may", 3
"""The key for tables that may change besides, and how many rows are described."""
Object = dict[str, Json]


@rule
def changes_are(found: Json, expected: Json) -> Verdict:
    """The record `changes` is exactly this: `{table: {"added": [row...], "removed": [row...],
    "changed": [{"before": row, "after": row}...]}}`, a row being those columns that matter.

    Each expected row is found as a row of its own, there are as many as expected, and no other
    table has changed but those listed under `may`.
    """
    if not isinstance(expected, dict):
        raise TypeError(f"changes_are needs tables with their changes, found {expected!r}")
    may = expected.get(_MAY, [])
    if not isinstance(may, list) or not all(isinstance(name, str) for name in may):
        raise TypeError(f"`may` lists tables, found {may!r}")
    tables = {name: changes for name, changes in expected.items() if name != _MAY}
    for name, changes in tables.items():
        if not isinstance(changes, dict) or not changes.keys() <= set(_KINDS):
            raise TypeError(f"{name} has {', '.join(_KINDS)}, found {changes!r}")
    changed = _tables(found)
    for table in sorted(tables.keys() | changed.keys() - set(may)):
        wanted, there = tables.get(table, {}), changed.get(table, {})
        for kind in _KINDS:
            reason = _find_difference(_rows(there, kind), _rows(wanted, kind), kind)
            if reason:
                return Verdict(0.0, f"{table}: {reason}")
    return Verdict(1.0, "all changes are as expected, with no others")


@rule
def unchanged(found: Json, expected: Json) -> Verdict:
    """No table has changed but those in the list `expected`, which may be empty."""
    if not isinstance(expected, list):
        raise TypeError(f"unchanged needs a list of tables that may change, found {expected!r}")
    for table, there in sorted(_tables(found).items()):
        if table not in expected:
            counts = ", ".join(f"{len(_rows(there, kind))} {kind}" for kind in _KINDS)
            return Verdict(0.0, f"{table} has changed: {counts}")
    return Verdict(1.0, "nothing has changed")


def _tables(found: Json) -> Object:
    if not isinstance(found, dict):
        raise TypeError("this is not a record of changes in tables")
    return found


def _rows(changes: Json, kind: str) -> list[Json]:
    rows = changes.get(kind, []) if isinstance(changes, dict) else None
    if not isinstance(rows, list):
        raise TypeError(f"{kind!r} lists rows, found {changes!r}")
    return rows


def _find_difference(found: list[Json], patterns: list[Json], kind: str) -> str:
    """Return why these are not the rows that are expected; empty where they are."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    is_pair = kind == "changed"
    parts = [_parts(pattern, is_pair) for pattern in patterns]
    rows = [_parts(row, is_pair) for row in found]

    def fits_row(row: Object, pattern: Object) -> bool:
        return all(name in row and equals(row[name], each) for name, each in pattern.items())

    fits = [[all(map(fits_row, row, part)) for row in rows] for part in parts]
    # Each pattern to a row of its own, for as many as possible.
    pairs = np.transpose(linear_sum_assignment(fits, maximize=True)) if found and patterns else ()
    matched = {int(row): int(pattern) for pattern, row in pairs if fits[pattern][row]}
    if len(matched) < len(patterns):
        lost = next(place for place in range(len(patterns)) if place not in matched.values())
        shown = [describe_row(row, is_pair=is_pair) for row in found]
        others = f"{kind} was {'; '.join(shown[:_TOLD])}" if shown else f"nothing was {kind}"
        wanted = describe_row(patterns[lost], is_pair=is_pair)
        return f"{wanted} should have been {kind}; {others}"
    if len(found) > len(patterns):
        extra = next(row for place, row in enumerate(found) if place not in matched)
        allowed = f"only {len(patterns)} should be" if patterns else "nothing should be"
        return f"{describe_row(extra, is_pair=is_pair)} was {kind}, and {allowed}"
    return ""


def _parts(row: Json, is_pair: bool) -> tuple[Object, Object]:
    """Return what is compared of a row: all of it, or how it was and how it is."""
    if isinstance(row, dict) and not is_pair:
        return row, {}
    if isinstance(row, dict) and row.keys() <= {"before", "after"}:
        before, after = row.get("before", {}), row.get("after", {})
        if isinstance(before, dict) and isinstance(after, dict):
            return before, after
    expected = "an object with `before` and `after`" if is_pair else "an object of columns"
    raise TypeError(f"a row is {expected}, found {row!r}")
