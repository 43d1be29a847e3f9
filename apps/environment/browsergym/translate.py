"""BrowserGym's calls in our own grammar.

Each function here is one of BrowserGym's, with its names, order and defaults, and answers with our
calls for it. They are texts, so that our parser has the last word on what is an action.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from apps.environment.browsergym.calls import Call, read_calls
from webagent.action import Action, parse_action
from webagent.errors import ActionError

_Texts: TypeAlias = list[str]
_COORDINATES = ("x", "y", "dx", "dy", "from_x", "from_y", "to_x", "to_y")
_CALLS: dict[str, Callable[..., _Texts]] = {}


@dataclass(frozen=True, slots=True)
class Message:
    """What the agent says to the user."""

    text: str
    role: str
    """`assistant`, or `infeasible` for the end of a task that cannot be done."""


Deed: TypeAlias = Action | Message


def translate(text: str, scale: float = 1.0) -> list[Deed]:
    """What a text says to do, in order.

    `scale` is how many pixels of the screenshot make up one of the page; coordinates are divided by
    it. Raises `ActionError` where the text holds no call, an unknown one, or one that is not right.
    """
    calls = read_calls(text)
    if not calls:
        raise ActionError("Received an empty action.")
    return [deed for call in calls for deed in _deeds(call, scale)]


def _deeds(call: Call, scale: float) -> Sequence[Deed]:
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


def _message(name: str, text: Any) -> Message:
    if not isinstance(text, str):
        raise ActionError(f"Forbidden value: {text} is not a string")
    return Message(text, "assistant" if name == "send_msg_to_user" else "infeasible")


def _call(function: Callable[..., _Texts]) -> Callable[..., _Texts]:
    _CALLS[function.__name__] = function
    return function


def _ours(name: str, *arguments: Any) -> _Texts:
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
    return _ours("wait", wait_ms)


@_call
def fill(bid: str, value: str, enable_autocomplete_menu: bool = False) -> _Texts:
    return _ours("fill", bid, value)


@_call
def clear(bid: str) -> _Texts:
    return _ours("clear", bid)


@_call
def check(bid: str) -> _Texts:
    return _ours("check", bid)


@_call
def uncheck(bid: str) -> _Texts:
    return _ours("uncheck", bid)


@_call
def select_option(bid: str, options: str | list[str]) -> _Texts:
    chosen = _several(options)
    if len(chosen) == 1:
        return _ours("select_option", bid, chosen[0])
    return _ours("select_options", bid, chosen)


@_call
def click(bid: str, button: str = "left", modifiers: Sequence[str] = ()) -> _Texts:
    if modifiers:
        return _ours("click_with", bid, "+".join(map(str, _several(modifiers))), 1, button)
    return _ours("click", bid, button)


@_call
def dblclick(bid: str, button: str = "left", modifiers: Sequence[str] = ()) -> _Texts:
    if modifiers:
        return _ours("click_with", bid, "+".join(map(str, _several(modifiers))), 2, button)
    if button != "left":
        raise ActionError(f"dblclick: only the left button is known here, found {button!r}")
    return _ours("dblclick", bid)


@_call
def hover(bid: str) -> _Texts:
    return _ours("hover", bid)


@_call
def press(bid: str, key_comb: str) -> _Texts:
    return _ours("press", bid, key_comb)


@_call
def focus(bid: str) -> _Texts:
    return _ours("focus", bid)


@_call
def drag_and_drop(from_bid: str, to_bid: str) -> _Texts:
    return _ours("drag_and_drop", from_bid, to_bid)


@_call
def upload_file(bid: str, file: str | list[str]) -> _Texts:
    chosen = _several(file)
    if len(chosen) == 1:
        return _ours("upload_file", bid, chosen[0])
    return _ours("upload_files", bid, chosen)


@_call
def mouse_upload_file(x: float, y: float, file: str | list[str]) -> _Texts:
    chosen = _several(file)
    if len(chosen) != 1:
        raise ActionError(f"mouse_upload_file: one file at a time, found {len(chosen)}")
    return _ours("mouse_upload_file", x, y, chosen[0])


@_call
def scroll(delta_x: float, delta_y: float) -> _Texts:
    return _ours("scroll", 0, delta_x, delta_y)


@_call
def scroll_at(x: int, y: int, dx: int, dy: int) -> _Texts:
    return _ours("scroll_at", x, y, dx, dy)


@_call
def mouse_move(x: float, y: float) -> _Texts:
    return _ours("mouse_move", x, y)


@_call
def mouse_up(x: float, y: float, button: str = "left") -> _Texts:
    return _ours("mouse_up", x, y, button)


@_call
def mouse_down(x: float, y: float, button: str = "left") -> _Texts:
    return _ours("mouse_down", x, y, button)


@_call
def mouse_click(x: float, y: float, button: str = "left") -> _Texts:
    return _ours("mouse_click", x, y, button)


@_call
def mouse_dblclick(x: float, y: float, button: str = "left") -> _Texts:
    return _ours("mouse_dblclick", x, y, button)


@_call
def mouse_drag_and_drop(from_x: float, from_y: float, to_x: float, to_y: float) -> _Texts:
    return _ours("mouse_drag", from_x, from_y, to_x, to_y)


@_call
def keyboard_press(key: str) -> _Texts:
    return _ours("press", 0, key)


@_call
def keyboard_up(key: str) -> _Texts:
    return _ours("keyboard_up", key)


@_call
def keyboard_down(key: str) -> _Texts:
    return _ours("keyboard_down", key)


@_call
def keyboard_type(text: str) -> _Texts:
    return _ours("keyboard_type", text)


@_call
def keyboard_insert_text(text: str) -> _Texts:
    return _ours("keyboard_insert_text", text)


@_call
def goto(url: str) -> _Texts:
    return _ours("goto", url)


@_call
def go_back() -> _Texts:
    return _ours("go_back")


@_call
def go_forward() -> _Texts:
    return _ours("go_forward")


@_call
def new_tab() -> _Texts:
    return _ours("new_tab")


@_call
def tab_close() -> _Texts:
    return _ours("tab_close")


@_call
def tab_focus(index: int) -> _Texts:
    return _ours("tab_focus", index)


CALLS = tuple(_CALLS)
"""The names of the calls that are understood."""
