"""The calls that stand in a text, read as BrowserGym reads them: any number, with prose between."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_START = re.compile(r"#[^\n]*|([A-Za-z_]\w*)\s*\(")
_QUOTE = re.compile(r"'''|\"\"\"|'|\"")
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Call:
    """One call with literal arguments. Nothing of it is ever run."""

    name: str
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]


def read_calls(text: str) -> list[Call]:
    """Every call whose arguments are strings, numbers, lists, dictionaries, `True`, `False` or
    `None`; what stands between calls is skipped, comments too.

    Of a text of more than 20,000 characters only the first are read.
    """
    text, place, found = text[:_LONGEST], 0, []
    while start := _START.search(text, place):
        place = start.end()
        if start[1] is None:
            continue
        end = _end_of_call(text, place)
        call = _read(text[start.start() : end]) if end else None
        if call is not None:
            found.append(call)
            place = end
    return found


def _end_of_call(text: str, place: int) -> int:
    """Where the bracket that was opened before `place` has been closed; 0 where it never is."""
    depth = 1
    while place < len(text):
        if quote := _QUOTE.match(text, place):
            place = _end_of_string(text, quote.end(), quote[0])
            if not place:
                return 0
            continue
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[place], 0)
        place += 1
        if depth == 0:
            return place
    return 0


def _end_of_string(text: str, place: int, quote: str) -> int:
    while place < len(text):
        if text.startswith(quote, place):
            return place + len(quote)
        place += 2 if text[place] == "\\" else 1
    return 0


def _read(source: str) -> Call | None:
    try:
        node = ast.parse("".join(_on_one_line(source)), mode="eval").body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        named = {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg}
        if len(named) < len(node.keywords):
            return None
        return Call(node.func.id, tuple(map(ast.literal_eval, node.args)), named)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _on_one_line(source: str) -> Iterator[str]:
    """The source with line ends inside strings as `\\n`: BrowserGym lets strings go over lines."""
    place = 0
    while quote := _QUOTE.search(source, place):
        end = _end_of_string(source, quote.end(), quote[0]) or len(source)
        yield source[place : quote.start()]
        yield source[quote.start() : end].replace("\n", "\\n")
        place = end
    yield source[place:]
