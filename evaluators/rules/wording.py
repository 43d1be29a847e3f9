"""Evidence in words: whole facts as far as there is room, never the front half of a dictionary."""

import json

from tasks.task import Json

_TEXT, _ITEMS, _COLUMNS = 60, 3, 6
"""Characters of a text, items of a list and columns of a row that are said; the rest is counted."""


def describe_value(value: Json) -> str:
    """Return a value as people read it: `title 'Fog', stock 5`, `'a'; 'b'; and 7 more`."""
    match value:
        case dict():
            named = [f"{name} {describe_value(each)}" for name, each in value.items()]
            return _join(named, _COLUMNS, ", ") or "nothing"
        case list():
            return _join([describe_value(each) for each in value], _ITEMS, "; ") or "nothing"
        case str():
            return repr(value if len(value) <= _TEXT else f"{value[: _TEXT - 1]}…")
        case _:
            return json.dumps(value)


def describe_row(row: Json, *, is_pair: bool) -> str:
    """Return a row; of a pair of rows what tells which it is, and what became of the rest."""
    if not is_pair or not isinstance(row, dict):
        return describe_value(row)
    before, after = (row.get(name) or {} for name in ("before", "after"))
    if not isinstance(before, dict) or not isinstance(after, dict):
        return describe_value(row)
    if not before:
        return describe_value(after)
    same = {name: each for name, each in before.items() if after.get(name) == each}
    news = {name: each for name, each in after.items() if name not in same}
    olds = {name: each for name, each in before.items() if name not in same}
    parts = [describe_value(dict(list(same.items())[:_ITEMS]))] if same else []
    parts += [f"from {describe_value(olds)}"] if olds else []
    parts += [f"to {describe_value(news)}"] if news else []
    return " ".join(parts) or "anything"


def _join(parts: list[str], most: int, between: str) -> str:
    left = len(parts) - most
    return between.join([*parts[:most], f"and {left} more"] if left > 0 else parts)
