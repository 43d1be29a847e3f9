"""BrowserGym's calls in a text, read without running anything, and translated into our actions."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from webagent.action import Action, parse_action
from webagent.errors import ActionError

_START = re.compile(r"#[^\n]*|([A-Za-z_]\w*)\s*\(")
_QUOTE = re.compile(r"'''|\"\"\"|'|\"")
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """One call with literal arguments. Nothing of it is ever run."""

    name: str
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]


def read_calls(text: str) -> list[ParsedCall]:
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


def _read(source: str) -> ParsedCall | None:
    try:
        node = ast.parse("".join(_on_one_line(source)), mode="eval").body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        named = {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg}
        if len(named) < len(node.keywords):
            return None
        return ParsedCall(node.func.id, tuple(map(ast.literal_eval, node.args)), named)
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


_Texts: TypeAlias = list[str]
_COORDINATES = ("x", "y", "dx", "dy", "from_x", "from_y", "to_x", "to_y")
_CALLS: dict[str, Callable[..., _Texts]] = {}


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the agent says to the user."""

    text: str
    role: str
    """`assistant`, or `infeasible` for the end of a task that cannot be done."""


Deed: TypeAlias = Action | UserMessage


def translate(text: str, scale: float = 1.0) -> list[Deed]:
    """What a text says to do, in order.

    `scale` is how many pixels of the screenshot make up one of the page; coordinates are divided by
    it. Raises `ActionError` where the text holds no call, an unknown one, or one that is not right.
    """
    calls = read_calls(text)
    if not calls:
        raise ActionError("Received an empty action.")
    return [deed for call in calls for deed in _actions(call, scale)]


def _actions(call: ParsedCall, scale: float) -> Sequence[Deed]:
    if call.name not in _CALLS:
        raise ActionError(f"Invalid action type '{call.name}'; known: {', '.join(sorted(_CALLS))}.")
    function = _CALLS[call.name]
    try:
        bound = inspect.signature(function).bind(*call.arguments, **call.named)
    except TypeError as error:
        raise ActionError(f"{call.name}: {error}") from error
    for name in _COORDINATES:
        if isinstance(bound.arguments.get(name), int | float):
            bound.arguments[name] = round(bound.arguments[name] / scale)
    if call.name in ("send_msg_to_user", "report_infeasible"):
        return [_message(call.name, next(iter(bound.arguments.values())))]
    return [parse_action(each) for each in function(*bound.args, **bound.kwargs)]


def _message(name: str, text: Any) -> UserMessage:
    if not isinstance(text, str):
        raise ActionError(f"Forbidden value: {text} is not a string")
    return UserMessage(text, "assistant" if name == "send_msg_to_user" else "infeasible")


def _call(function: Callable[..., _Texts]) -> Callable[..., _Texts]:
    _CALLS[function.__name__] = function
    return function


def _own_action(name: str, *arguments: Any) -> _Texts:
    return [f"{name}({', '.join(map(repr, arguments))})"]


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


@_call
def send_msg_to_user(text: str) -> _Texts:
    return []


@_call
def report_infeasible(reason: str) -> _Texts:
    return []


@_call
def noop(wait_ms: float = 1000) -> _Texts:
    return _own_action("wait", wait_ms)


@_call
def fill(bid: str, value: str, enable_autocomplete_menu: bool = False) -> _Texts:
    return _own_action("fill", bid, value)


@_call
def clear(bid: str) -> _Texts:
    return _own_action("clear", bid)


@_call
def check(bid: str) -> _Texts:
    return _own_action("check", bid)


@_call
def uncheck(bid: str) -> _Texts:
    return _own_action("uncheck", bid)


@_call
def select_option(bid: str, options: str | list[str]) -> _Texts:
    chosen = _several(options)
    if len(chosen) == 1:
        return _own_action("select_option", bid, chosen[0])
    return _own_action("select_options", bid, chosen)


@_call
def click(bid: str, button: str = "left", modifiers: Sequence[str] = ()) -> _Texts:
    if modifiers:
        return _own_action("click_with", bid, "+".join(map(str, _several(modifiers))), 1, button)
    return _own_action("click", bid, button)


@_call
def dblclick(bid: str, button: str = "left", modifiers: Sequence[str] = ()) -> _Texts:
    if modifiers:
        return _own_action("click_with", bid, "+".join(map(str, _several(modifiers))), 2, button)
    if button != "left":
        raise ActionError(f"dblclick: only the left button is known here, found {button!r}")
    return _own_action("dblclick", bid)


@_call
def hover(bid: str) -> _Texts:
    return _own_action("hover", bid)


@_call
def press(bid: str, key_comb: str) -> _Texts:
    return _own_action("press", bid, key_comb)


@_call
def focus(bid: str) -> _Texts:
    return _own_action("focus", bid)


@_call
def drag_and_drop(from_bid: str, to_bid: str) -> _Texts:
    return _own_action("drag_and_drop", from_bid, to_bid)


@_call
def upload_file(bid: str, file: str | list[str]) -> _Texts:
    chosen = _several(file)
    if len(chosen) == 1:
        return _own_action("upload_file", bid, chosen[0])
    return _own_action("upload_files", bid, chosen)


@_call
def mouse_upload_file(x: float, y: float, file: str | list[str]) -> _Texts:
    chosen = _several(file)
    if len(chosen) != 1:
        raise ActionError(f"mouse_upload_file: one file at a time, found {len(chosen)}")
    return _own_action("mouse_upload_file", x, y, chosen[0])


@_call
def scroll(delta_x: float, delta_y: float) -> _Texts:
    return _own_action("scroll", 0, delta_x, delta_y)


@_call
def scroll_at(x: int, y: int, dx: int, dy: int) -> _Texts:
    return _own_action("scroll_at", x, y, dx, dy)


@_call
def mouse_move(x: float, y: float) -> _Texts:
    return _own_action("mouse_move", x, y)


@_call
def mouse_up(x: float, y: float, button: str = "left") -> _Texts:
    return _own_action("mouse_up", x, y, button)


@_call
def mouse_down(x: float, y: float, button: str = "left") -> _Texts:
    return _own_action("mouse_down", x, y, button)


@_call
def mouse_click(x: float, y: float, button: str = "left") -> _Texts:
    return _own_action("mouse_click", x, y, button)


@_call
def mouse_dblclick(x: float, y: float, button: str = "left") -> _Texts:
    return _own_action("mouse_dblclick", x, y, button)


@_call
def mouse_drag_and_drop(from_x: float, from_y: float, to_x: float, to_y: float) -> _Texts:
    return _own_action("mouse_drag", from_x, from_y, to_x, to_y)


@_call
def keyboard_press(key: str) -> _Texts:
    return _own_action("press", 0, key)


@_call
def keyboard_up(key: str) -> _Texts:
    return _own_action("keyboard_up", key)


@_call
def keyboard_down(key: str) -> _Texts:
    return _own_action("keyboard_down", key)


@_call
def keyboard_type(text: str) -> _Texts:
    return _own_action("keyboard_type", text)


@_call
def keyboard_insert_text(text: str) -> _Texts:
    return _own_action("keyboard_insert_text", text)


@_call
def goto(url: str) -> _Texts:
    return _own_action("goto", url)


@_call
def go_back() -> _Texts:
    return _own_action("go_back")


@_call
def go_forward() -> _Texts:
    return _own_action("go_forward")


@_call
def new_tab() -> _Texts:
    return _own_action("new_tab")


@_call
def tab_close() -> _Texts:
    return _own_action("tab_close")


@_call
def tab_focus(index: int) -> _Texts:
    return _own_action("tab_focus", index)


CALLS = tuple(_CALLS)
"""The names of the calls that are understood."""
