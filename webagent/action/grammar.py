"""The text form of actions: `click(12)` to a value and back, without ever running anything."""

import ast
import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from webagent.action.actions import ACTION_NAMES, ACTIONS, Action
from webagent.errors import ActionError

_LIMIT = 20_000


def parse_action(text: str) -> Action:
    """Read one action call.

    Positional and keyword arguments, literals of strings, integers (floats are rounded) and lists
    of strings, nothing else: no names, no expressions. Raises `ActionError` naming what was wrong.
    """
    if len(text) > _LIMIT:
        raise ActionError(f"an action of {len(text)} characters; the limit is {_LIMIT}")
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ActionError(f"not an action call: {text[:120]!r} ({error})") from error
    if not isinstance(body, ast.Call):
        raise ActionError(f"expected one call such as click(12), found {text[:120]!r}")
    call = body
    if not isinstance(call.func, ast.Name) or call.func.id not in ACTIONS:
        found = ast.unparse(call.func)
        raise ActionError(f"no action called {found!r}; known: {', '.join(ACTIONS)}")
    name = call.func.id
    if any(keyword.arg is None for keyword in call.keywords):
        raise ActionError(f"{name} takes no ** arguments")
    fields = dataclasses.fields(ACTIONS[name])
    if len(call.args) > len(fields):
        raise ActionError(f"{usage(name)} takes {len(fields)} arguments, found {len(call.args)}")
    given = {field.name: _literal(arg) for field, arg in zip(fields, call.args, strict=False)}
    for keyword in call.keywords:
        if keyword.arg in given:
            raise ActionError(f"{usage(name)}: {keyword.arg} is given twice")
        given[str(keyword.arg)] = _literal(keyword.value)
    return make_action(name, given)


def format_action(action: Action) -> str:
    """Return the canonical text of an action; `parse_action` reads it back to an equal value."""
    parts = []
    for field in dataclasses.fields(action):
        value = getattr(action, field.name)
        if value == field.default and field.name == "button":
            continue
        parts.append(json.dumps(value, ensure_ascii=False))
    return f"{ACTION_NAMES[type(action)]}({', '.join(parts)})"


def make_action(name: str, arguments: Mapping[str, Any]) -> Action:
    """Return the action of this name. Raises `ActionError` naming what is wrong."""
    cls = ACTIONS[name]
    hints = get_type_hints(cls)
    given: dict[str, Any] = {}
    for key, value in arguments.items():
        if key not in hints:
            raise ActionError(f"{usage(name)} has no argument {key!r}")
        given[key] = _coerce(name, key, value, hints[key])
    missing = [
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.name not in given
    ]
    if missing:
        raise ActionError(f"{usage(name)} lacks {', '.join(missing)}")
    return cls(**given)


def usage(name: str) -> str:
    """Return the signature of one action, as `fill(mark, text)`."""
    return f"{name}({', '.join(field.name for field in dataclasses.fields(ACTIONS[name]))})"


def describe(names: tuple[str, ...] = tuple(ACTIONS)) -> str:
    """Return the help a model is shown: one line an action, signature then meaning."""
    return "\n".join(f"{usage(name)}  {ACTIONS[name].__doc__}" for name in names)


def _literal(node: ast.expr) -> Any:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        found = ast.unparse(node)[:80]
        raise ActionError(f"arguments are plain strings and numbers, found {found}") from error
    return value


def _coerce(name: str, key: str, value: Any, wanted: Any) -> Any:
    if wanted is str and isinstance(value, str):
        return value
    if get_origin(wanted) is Literal:
        if isinstance(value, str) and value in get_args(wanted):
            return value
    elif get_origin(wanted) is tuple:
        if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            return tuple(value)
    elif wanted is int and not isinstance(value, bool):
        number = _whole_number(value)
        if number is not None:
            return number
    elif wanted is bool and isinstance(value, bool):
        return value
    elif wanted is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise ActionError(f"{usage(name)}: {key} cannot be {value!r}")


def _whole_number(value: Any) -> int | None:
    """Return the number that a model wrote as 12, "12", "[12]" or 12.0."""
    if isinstance(value, str):
        text = value.strip("[] ")
        return int(text) if text.isascii() and text.removeprefix("-").isdigit() else None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and abs(value) < 1e9:
        return round(value)
    return None
