"""BrowserGym's calls in a text, read without running anything, and translated into our actions."""

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from webagent.action import Action, parse_action
from webagent.errors import ActionError

_START = re.compile(r"#[^\n]*|([A-Za-z_]\w*)\s*\(")
_STRING = re.compile(r"(?s)('''|\"\"\"|'|\")(?:\\.|(?!\1)[^\\])*\1")
_PART = re.compile(rf"{_STRING.pattern}|[][(){{}}'\"]")
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """One call with literal arguments. Nothing of it is ever run."""

    name: str
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]


def read_calls(text: str) -> list[ParsedCall]:
    """Return every call whose arguments are literals: strings, numbers, lists, dictionaries,
    `True`, `False` or `None`; what stands between calls is skipped, comments too.

    Of a text of more than 20,000 characters only the first are read.
    """
    text, place, found = text[:_LONGEST], 0, []
    while start := _START.search(text, place):
        place = start.end()
        if start[1] is None:
            continue
        depth, end = 1, 0
        for part in _PART.finditer(text, place):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(part[0], 0)
            if depth == 0 or part[0] in ("'", '"'):  # a string that never ends
                end = 0 if depth else part.end()
                break
        call = _read_call(text[start.start() : end]) if end else None
        if call is not None:
            found.append(call)
            place = end
    return found


def _read_call(source: str) -> ParsedCall | None:
    try:
        # Line ends inside strings, which BrowserGym allows.
        joined = _STRING.sub(lambda string: string[0].replace("\n", "\\n"), source)
        node = ast.parse(joined, mode="eval").body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        named = {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg}
        if len(named) < len(node.keywords):
            return None
        return ParsedCall(node.func.id, tuple(map(ast.literal_eval, node.args)), named)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


_COORDINATES = ("x", "y", "dx", "dy", "from_x", "from_y", "to_x", "to_y")


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the agent says to the user."""

    text: str
    role: str
    """`assistant`, or `infeasible` for the end of a task that cannot be done."""


TranslatedAction: TypeAlias = Action | UserMessage


def translate(text: str, scale: float = 1.0) -> list[TranslatedAction]:
    """Return what a text says to do, in order.

    `scale` is how many pixels of the screenshot make up one of the page; coordinates are divided by
    it. Raises `ActionError` where the text holds no call, an unknown one, or one that is not right.
    """
    calls = read_calls(text)
    if not calls:
        raise ActionError("Received an empty action.")
    translated: list[TranslatedAction] = []
    for call in calls:
        if call.name not in _CALLS:
            known = ", ".join(sorted(_CALLS))
            raise ActionError(f"Invalid action type '{call.name}'; known: {known}.")
        function = _CALLS[call.name]
        try:
            bound = inspect.signature(function).bind(*call.arguments, **call.named)
        except TypeError as error:
            raise ActionError(f"{call.name}: {error}") from error
        for name in _COORDINATES:
            if isinstance(bound.arguments.get(name), int | float):
                bound.arguments[name] = round(bound.arguments[name] / scale)
        made = function(*bound.args, **bound.kwargs)
        if not isinstance(made, UserMessage):
            name, *arguments = made
            translated.append(parse_action(f"{name}({', '.join(map(repr, arguments))})"))
        elif isinstance(made.text, str):
            translated.append(made)
        else:
            raise ActionError(f"Forbidden value: {made.text} is not a string")
    return translated


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _one_or_many(one: str, many: str, bid: str, chosen: Any) -> tuple[Any, ...]:
    values = _listed(chosen)
    return (one, bid, values[0]) if len(values) == 1 else (many, bid, values)


def _click(bid: str, button: str, modifiers: Any, count: int) -> tuple[Any, ...]:
    if modifiers:
        return ("click_with", bid, "+".join(map(str, _listed(modifiers))), count, button)
    if count == 1:
        return ("click", bid, button)
    if button != "left":
        raise ActionError(f"dblclick: only the left button is known here, found {button!r}")
    return ("dblclick", bid)


def _upload_at(x: float, y: float, file: Any) -> tuple[Any, ...]:
    chosen = _listed(file)
    if len(chosen) != 1:
        raise ActionError(f"mouse_upload_file: one file at a time, found {len(chosen)}")
    return ("mouse_upload_file", x, y, chosen[0])


_CALLS: dict[str, Callable[..., tuple[Any, ...] | UserMessage]] = {
    "send_msg_to_user": lambda text: UserMessage(text, "assistant"),
    "report_infeasible": lambda reason: UserMessage(reason, "infeasible"),
    "noop": lambda wait_ms=1000: ("wait", wait_ms),
    "fill": lambda bid, value, enable_autocomplete_menu=False: ("fill", bid, value),
    "clear": lambda bid: ("clear", bid),
    "check": lambda bid: ("check", bid),
    "uncheck": lambda bid: ("uncheck", bid),
    "select_option": lambda bid, options: _one_or_many(
        "select_option", "select_options", bid, options
    ),
    "click": lambda bid, button="left", modifiers=(): _click(bid, button, modifiers, 1),
    "dblclick": lambda bid, button="left", modifiers=(): _click(bid, button, modifiers, 2),
    "hover": lambda bid: ("hover", bid),
    "press": lambda bid, key_comb: ("press", bid, key_comb),
    "focus": lambda bid: ("focus", bid),
    "drag_and_drop": lambda from_bid, to_bid: ("drag_and_drop", from_bid, to_bid),
    "upload_file": lambda bid, file: _one_or_many("upload_file", "upload_files", bid, file),
    "mouse_upload_file": _upload_at,
    "scroll": lambda delta_x, delta_y: ("scroll", 0, delta_x, delta_y),
    "scroll_at": lambda x, y, dx, dy: ("scroll_at", x, y, dx, dy),
    "mouse_move": lambda x, y: ("mouse_move", x, y),
    "mouse_up": lambda x, y, button="left": ("mouse_up", x, y, button),
    "mouse_down": lambda x, y, button="left": ("mouse_down", x, y, button),
    "mouse_click": lambda x, y, button="left": ("mouse_click", x, y, button),
    "mouse_dblclick": lambda x, y, button="left": ("mouse_dblclick", x, y, button),
    "mouse_drag_and_drop": lambda from_x, from_y, to_x, to_y: (
        "mouse_drag",
        from_x,
        from_y,
        to_x,
        to_y,
    ),
    "keyboard_press": lambda key: ("press", 0, key),
    "keyboard_up": lambda key: ("keyboard_up", key),
    "keyboard_down": lambda key: ("keyboard_down", key),
    "keyboard_type": lambda text: ("keyboard_type", text),
    "keyboard_insert_text": lambda text: ("keyboard_insert_text", text),
    "goto": lambda url: ("goto", url),
    "go_back": lambda: ("go_back",),
    "go_forward": lambda: ("go_forward",),
    "new_tab": lambda: ("new_tab",),
    "tab_close": lambda: ("tab_close",),
    "tab_focus": lambda index: ("tab_focus", index),
}
"""BrowserGym's calls as our action's name and arguments; coordinates are the page's."""
