"""Actions as functions that frameworks read: name, types, a docstring with every argument."""

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from typing import Any, get_origin, get_type_hints

from webagent.action import ACTIONS, ESSENTIAL
from webagent.errors import unknown_name

_MEANINGS = {
    **dict.fromkeys(("mark", "source", "target"), "The mark of an element on the page."),
    **dict.fromkeys(("x", "to_x"), "CSS pixels from the left of the viewport."),
    **dict.fromkeys(("y", "to_y"), "CSS pixels from the top of the viewport."),
    **dict.fromkeys(("dx", "dy"), "CSS pixels to the right or down."),
    "key": "The key, or a combination such as Control+a.",
    "option": "The label of the option.",
    "options": "The labels of the options.",
}


def check_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of actions, all of the usual ones where there is none. Raises
    `UsageError` for one that is no action."""
    chosen = tuple(names) or ESSENTIAL
    for name in chosen:
        if name not in ACTIONS:
            raise unknown_name("action", name, ACTIONS)
    return chosen


def shape_tool(name: str, function: Callable[..., Any], is_method: bool) -> Callable[..., Any]:
    """Return the function, which takes keyword arguments, with the look of this action.

    Lists stand for tuples, which schemas of tools do not have.
    """
    action = ACTIONS[name]
    hints = {
        key: list[str] if get_origin(hint) is tuple else hint
        for key, hint in get_type_hints(action).items()
    }
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    missing = inspect.Parameter.empty
    parameters = [inspect.Parameter("self", kind)] if is_method else []
    for field in dataclasses.fields(action):
        default = missing if field.default is dataclasses.MISSING else field.default
        parameters.append(
            inspect.Parameter(field.name, kind, default=default, annotation=hints[field.name])
        )
    lines = [f"    {key}: {_MEANINGS.get(key, f'The {key} of the action.')}" for key in hints]
    arguments = "\n".join(["", "", "Args:", *lines]) if lines else ""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{action.__doc__}{arguments}"
    function.__annotations__ = {**hints, "return": str}
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # as functools does
        parameters, return_annotation=str
    )
    return function
