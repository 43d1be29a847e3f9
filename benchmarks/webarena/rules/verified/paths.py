"""Values inside nested data by path: the part of JSONPath that task files use."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.webarena.rules.verified.text import data_in, is_pattern
from tasks.task import Json

_STEP = re.compile(
    r"""
    \.(?P<name>[^.\[\]'"()*?@\s]+) | \['(?P<quoted>[^']+)'\] | \["(?P<doubled>[^"]+)"\] |
    \[(?P<index>\d+)\] | (?P<all>\[\*\]|\.\*) |
    \[\?\(?\s*@\.(?P<field>[\w-]+)\s*==\s*(?P<wanted>'[^']*'|"[^"]*"|[^\s)\]]+)\s*\)?\]
    """,
    re.VERBOSE,
)


class Absent(NamedTuple):
    """What a path leads to where there is nothing."""


ABSENT = Absent()


def is_path(key: str) -> bool:
    """Whether a key is a path ($.a.b) or a pattern for keys (^a$ or $.^a$), not a plain key."""
    return key.startswith("$") or is_pattern(key)


def at_path(data: Json, path: str) -> Json | Absent:
    """What the path leads to; a list where there are several values or the path filters.

    Text that is JSON is looked into where nothing is found otherwise. Raises `ValueError` for a
    path that is not understood.
    """
    pattern = path[2:] if path.startswith("$.^") and path.endswith("$") else path
    if is_pattern(pattern):
        return _of_keys(data, pattern)
    steps = _steps(path)
    found = _walk([data], steps) or _walk([_unfolded(data)], steps)
    if len(found) == 1 and "?(" not in path:
        return found[0]
    return found or ABSENT


def _of_keys(data: Json, pattern: str) -> Json | Absent:
    """The values of keys that the pattern fits from their beginning."""
    if not isinstance(data, dict):
        return ABSENT
    try:
        found = [value for key, value in data.items() if re.match(pattern, key)]
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return (found[0] if len(found) == 1 else found) if found else ABSENT


def _steps(path: str) -> Sequence[Mapping[str, str]]:
    """The path's steps by kind. Raises `ValueError`."""
    at, steps = 1, []
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None or path[0] != "$":
            raise ValueError(f"the path {path!r} is not understood from {path[at:]!r} on")
        steps.append({kind: text for kind, text in found.groupdict().items() if text})
        at = found.end()
    return steps


def _walk(values: Sequence[Json], steps: Sequence[Mapping[str, str]]) -> list[Json]:
    found = list(values)
    for step in steps:
        found = [inner for value in found for inner in _inside(value, step)]
    return found


def _inside(value: Json, step: Mapping[str, str]) -> Iterable[Json]:
    name = step.get("name") or step.get("quoted") or step.get("doubled")
    if name is not None:
        return [value[name]] if isinstance(value, dict) and name in value else []
    if "index" in step:
        at = int(step["index"])
        return [value[at]] if isinstance(value, list) and at < len(value) else []
    inner = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(inner, list):
        return []
    return inner if "all" in step else [one for one in inner if _fits(one, step)]


def _fits(value: Json, step: Mapping[str, str]) -> bool:
    """Whether an object has the wanted value in its field, as text."""
    if not isinstance(value, dict) or step["field"] not in value:
        return False
    return str(value[step["field"]]) == step["wanted"].strip("'\"")


def _unfolded(data: Json) -> Json:
    """The data with every text that is JSON replaced by what it says, one level of it."""
    if isinstance(data, list):
        return [_unfolded(value) for value in data]
    if not isinstance(data, dict):
        return data
    return {key: _parsed(value) for key, value in data.items()}


def _parsed(value: Json) -> Json:
    if not isinstance(value, str):
        return _unfolded(value)
    try:
        return data_in(value)
    except ValueError:
        return value
