"""The text form of actions: `click(12)` to a value and back, without ever running anything."""

import ast
import dataclasses
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, get_args, get_origin, get_type_hints

from webagent.action.actions import ACTION_NAMES, ACTIONS, Action, Answer, Press
from webagent.errors import ActionError

_LIMIT = 20_000
_STRING = re.compile(
    r"""(?P<quote>'{3}|"{3}|'|")(?:\\.|(?!(?P=quote))[^\\])*(?P=quote)"""
    r"""|[“„«](?P<double>.*?)[”“»](?=\s*[,，)）\]])|‘(?P<single>.*?)’(?=\s*[,，)）\]])""",
    re.DOTALL,
)
_UNESCAPED = re.compile(r"""(\w+\s*\((?:[^'"]*,)?\s*)(['"])(.*)\2\s*\)""", re.DOTALL)
_BARE_URL = re.compile(r"""(\w+\s*\()\s*([a-z]+:[^\s'"“”«»‘’]+)\s*\)""")
_NUMBER = re.compile(r"([(,=]\s*)[#\[]?0*(\d+)\]?(?=\s*[,)])")
_SIGNS = str.maketrans("（），\u00a0", "(), ")


def parse_action(text: str) -> Action:
    """Read one action call.

    Positional and keyword arguments, literals of strings, numbers and lists of strings, nothing
    else: no names, no expressions. Where Python would not read the call, signs that models write in
    place of Python's are tried. Raises `ActionError` naming what was wrong.
    """
    call, source = _read_call(text)
    name = find_name(call.func.id) if isinstance(call.func, ast.Name) else ""
    if not name:
        found = ast.unparse(call.func)
        raise ActionError(f"no action called {found!r}; known: {', '.join(ACTIONS)}")
    if any(keyword.arg is None for keyword in call.keywords):
        raise ActionError(f"{name} takes no ** arguments")
    fields = dataclasses.fields(ACTIONS[name])
    if len(call.args) > len(fields):
        raise ActionError(f"{usage(name)} takes {len(fields)} arguments, found {len(call.args)}")
    nodes = {field.name: arg for field, arg in zip(fields, call.args, strict=False)}
    for keyword in call.keywords:
        if keyword.arg in nodes:
            raise ActionError(f"{usage(name)}: {keyword.arg} is given twice")
        nodes[str(keyword.arg)] = keyword.value
    given: dict[str, Any] = {}
    for key, node in nodes.items():
        written = ast.get_source_segment(source, node) or ""
        # A key's name is no variable: Enter, Control+a.
        if (
            ACTIONS[name] is Press
            and key == "key"
            and re.fullmatch(r"[A-Za-z]\w*(\+\w+)*", written)
        ):
            given[key] = written
            continue
        try:
            value = given[key] = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
            found = ast.unparse(node)[:80]
            raise ActionError(f"arguments are plain strings and numbers, found {found}") from error
        # A number where text is wanted stays as it was written: 42.50, 007.
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        is_data = ACTIONS[name] is Answer and isinstance(value, list | dict)
        if (is_number or is_data) and get_type_hints(ACTIONS[name]).get(key) is str:
            given[key] = written
    return make_action(name, given)


def _read_call(source: str) -> tuple[ast.Call, str]:
    """Return the call as Python's syntax tree, and the source that it was read from."""
    if len(source) > _LIMIT:
        raise ActionError(f"an action of {len(source)} characters; the limit is {_LIMIT}")
    source = source.strip()
    failure: Exception | None = None
    for mend in (str, _put_into_python):
        tried = mend(source)
        try:
            body = ast.parse(tried, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            failure = failure or error
            continue
        if not isinstance(body, ast.Call):
            raise ActionError(f"expected one call such as click(12), found {source[:120]!r}")
        return body, tried
    raise ActionError(f"not an action call: {source[:120]!r} ({failure})") from failure


def find_name(written: str) -> str:
    """Return the action of a name in any case; empty where there is none."""
    return written if written in ACTIONS else written.lower() if written.lower() in ACTIONS else ""


def _put_into_python(call: str) -> str:
    """Return a call with line breaks in strings escaped, an address that stands alone quoted, and
    Python's signs in place of typographic quotes, full-width brackets, `#3` and `03`."""

    def mend(string: re.Match[str]) -> str:
        inner = string["double"] if string["double"] is not None else string["single"]
        if inner is not None:
            return json.dumps(inner, ensure_ascii=False)
        is_long = len(string["quote"]) == 3
        return string[0] if is_long else string[0].replace("\r", "").replace("\n", "\\n")

    if found := _BARE_URL.fullmatch(call):
        return found[1] + json.dumps(found[2]) + ")"
    found = _UNESCAPED.fullmatch(call)
    if found and found[2] in found[3] and not re.search(r"""\\|['"]\s*,""", found[3]):
        return found[1] + json.dumps(found[3], ensure_ascii=False) + ")"
    parts, at = [], 0
    for string in _STRING.finditer(call):
        parts += [call[at : string.start()].translate(_SIGNS), mend(string)]
        at = string.end()
    parts.append(call[at:].translate(_SIGNS))
    return "".join(
        _NUMBER.sub(r"\1\2", each) if i % 2 == 0 else each for i, each in enumerate(parts)
    )


def format_action(action: Action) -> str:
    """Return the canonical text of an action, without optional arguments at the end that are as
    usual; `parse_action` reads it back to an equal value."""
    fields, needed = dataclasses.fields(action), count_needed(type(action))
    values = [getattr(action, field.name) for field in fields]
    while len(values) > needed and values[-1] == fields[len(values) - 1].default:
        values.pop()
    written = (json.dumps(value, ensure_ascii=False) for value in values)
    return f"{ACTION_NAMES[type(action)]}({', '.join(written)})"


def make_action(name: str, arguments: Mapping[str, Any]) -> Action:
    """Return the action of this name. Raises `ActionError` naming what is wrong."""
    cls = ACTIONS[name]
    hints = get_type_hints(cls)
    given: dict[str, Any] = {}
    fields = dataclasses.fields(cls)
    missing = [
        field.name
        for field in fields
        if field.default is dataclasses.MISSING and field.name not in arguments
    ]
    unknown = [key for key in arguments if key not in hints]
    # `click(element=3)` can mean one thing only.
    wanted = missing or [field.name for field in fields if len(fields) == 1]
    renamed = dict(zip(unknown, wanted, strict=True)) if len(unknown) == len(wanted) == 1 else {}
    for key, value in arguments.items():
        own = renamed.get(key, key)
        if own not in hints or own in given:
            raise ActionError(f"{usage(name)} has no argument {key!r}")
        if isinstance(value, str) and get_origin(hints[own]) is tuple:
            with suppress(ValueError):  # a list within XML
                value = json.loads(value)
        given[own] = _coerce(name, own, value, hints[own])
    missing = [each for each in missing if each not in given]
    if missing:
        if name == "press" and missing == ["key"]:  # a button, and not a key
            return make_action("click", given)
        raise ActionError(f"{usage(name)} lacks {', '.join(missing)}")
    return cls(**given)


def usage(name: str) -> str:
    """Return the signature of one action, as `fill(mark, text)`."""
    return f"{name}({', '.join(field.name for field in dataclasses.fields(ACTIONS[name]))})"


def count_needed(cls: type[Action]) -> int:
    """Return how many arguments a plain call has: those without a default, or all that there are
    where each has one, as with `answer(text)`."""
    fields = dataclasses.fields(cls)
    return sum(field.default is dataclasses.MISSING for field in fields) or len(fields)


def describe(names: tuple[str, ...] = tuple(ACTIONS)) -> str:
    """Return the help a model is shown: one line an action, its plain call, its meaning and what
    may be added, since a weak model fills in every argument that a call shows."""
    lines = []
    for name in names:
        fields = [field.name for field in dataclasses.fields(ACTIONS[name])]
        needed, hints = count_needed(ACTIONS[name]), get_type_hints(ACTIONS[name])
        line = f"{name}({', '.join(fields[:needed])})  {ACTIONS[name].__doc__}"
        for field in fields[needed:]:
            choices = " or ".join(map(json.dumps, get_args(hints[field])))
            line += f" Optional: {field}{choices and f', {choices}'}."
        lines.append(line)
    return "\n".join(lines)


def _coerce(name: str, key: str, value: Any, wanted: Any) -> Any:
    if wanted is str and isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    if get_origin(wanted) is Literal:
        if isinstance(value, str) and value.lower() in get_args(wanted):
            return value.lower()
    elif get_origin(wanted) is tuple:
        if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            return tuple(value)
    elif wanted is int and not isinstance(value, bool):
        number = _whole_number(value[0] if isinstance(value, list) and len(value) == 1 else value)
        if number is not None:
            return number
    elif wanted is bool and isinstance(value, bool):
        return value
    elif wanted is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    known = f"; it is {' or '.join(get_args(wanted))}" if get_origin(wanted) is Literal else ""
    raise ActionError(f"{usage(name)}: {key} cannot be {value!r}{known}")


def _whole_number(value: Any) -> int | None:
    """Return the number that a model wrote as 12, "12", "[12]", "#12" or 12.0."""
    if isinstance(value, str):
        text = value.strip("[]# ")
        return int(text) if text.isascii() and text.removeprefix("-").isdigit() else None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and abs(value) < 1e9:
        return round(value)
    return None
