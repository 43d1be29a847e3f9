"""Actions of one's own: typed functions that a model may call beside what it does to the page."""

import inspect
import logging
from collections.abc import Callable
from dataclasses import MISSING, field, fields, make_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from webagent.action.actions import ACTION_NAMES, ACTIONS, Answer, CustomAction
from webagent.errors import UsageError, unknown_name

logger = logging.getLogger(__name__)
Function = TypeVar("Function", bound=Callable[..., Any])

LONGEST_RESULT = 4_000
"""Characters of what a function returned that a model is shown."""


def custom_action(function: Function) -> Function:
    """Make a function an action of its name, to be given to an `Agent` as one of its `actions`:

        @custom_action
        def stock_of(sku: str) -> str:
            "Return how many pieces of a product lie in our warehouse."

    A model is shown the signature and the docstring's first paragraph. Parameters are text, whole
    numbers, numbers, yes or no, a `Literal` of texts or a list of texts. What is returned, or the
    error that is raised, is what the model reads as its outcome. A coroutine is awaited, any other
    function is called in a thread. Raises `UsageError` for a function that cannot be one.
    """
    name, description = function.__name__, inspect.getdoc(function)
    known = ACTIONS.get(name)
    if known is not None and not issubclass(known, CustomAction):
        raise UsageError(f"{name} is an action already; give the function another name")
    if not description:
        raise UsageError(f"{name} needs a docstring: it is the description that a model reads")
    hints, filled = get_type_hints(function), []
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name)
        if get_origin(hint) is list and get_args(hint) == (str,):
            hint = tuple[str, ...]
        is_named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        choices = get_args(hint) if get_origin(hint) is Literal else (None,)
        is_choice = all(isinstance(one, str) for one in choices)
        if not is_named or not (is_choice or hint in (str, int, float, bool, tuple[str, ...])):
            raise UsageError(
                f"{name}: {parameter} is no parameter that a model can give; expected a name with"
                " one of the types str, int, float, bool, Literal of texts, list[str]"
            )
        default = MISSING if parameter.default is parameter.empty else parameter.default
        filled.append((parameter.name, hint, field(default=default)))
    cls = make_dataclass(name, filled, bases=(CustomAction,), frozen=True, slots=True)
    cls.__doc__ = " ".join(description.partition("\n\n")[0].split())
    _FUNCTIONS[cls] = function
    ACTIONS[name], ACTION_NAMES[cls] = cls, name
    return function


def names_of(actions: tuple[Callable[..., Any] | str, ...]) -> tuple[str, ...]:
    """Return the names of actions, given by name or as the functions that were made into them.
    Raises `UsageError` for any other."""
    for function in actions:
        if isinstance(function, str):
            if function not in ACTIONS:
                raise unknown_name("action", function, ACTIONS)
            continue
        made = ACTIONS.get(getattr(function, "__name__", ""), Answer)
        if _FUNCTIONS.get(made) is not function:
            raise UsageError(f"{function!r} is no action; decorate it with @custom_action")
    return tuple(each if isinstance(each, str) else each.__name__ for each in actions)


async def call_function(action: CustomAction) -> tuple[str, bool]:
    """Return what a model reads of the call of its function, and whether it went well."""
    import asyncio

    name = ACTION_NAMES[type(action)]
    function = _FUNCTIONS.get(type(action))
    if function is None:
        return str(unknown_name("function in this process", name, ())), False
    given = {each.name: getattr(action, each.name) for each in fields(action)}
    given = {key: list(each) if isinstance(each, tuple) else each for key, each in given.items()}
    is_async = inspect.iscoroutinefunction(function)
    call = function(**given) if is_async else asyncio.to_thread(function, **given)
    came: Any = (await asyncio.gather(call, return_exceptions=True))[0]
    if isinstance(came, Exception):
        logger.warning("the function %s failed", name, exc_info=came)
        return f"{name} failed: {type(came).__name__}: {came}"[:LONGEST_RESULT], False
    if isinstance(came, BaseException):
        raise came
    return f"{name}: {came}"[:LONGEST_RESULT], True


def stored_action(name: str, arguments: dict[str, Any]) -> CustomAction:
    """Return the call of a function, perhaps of another program's, as it was stored."""
    known = ACTIONS.get(name)
    if known is None or {each.name for each in fields(known)} != arguments.keys():
        known = _unknown_function(name, tuple(arguments))
    given = {
        key: tuple(each) if isinstance(each, list) else each for key, each in arguments.items()
    }
    made: Any = known
    action: CustomAction = made(**given)
    return action


@cache
def _unknown_function(name: str, parameters: tuple[str, ...]) -> Any:
    cls = make_dataclass(name, parameters, bases=(CustomAction,), frozen=True, slots=True)
    ACTION_NAMES[cls] = name
    return cls


_FUNCTIONS: dict[type, Callable[..., Any]] = {}
