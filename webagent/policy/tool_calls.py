"""Actions that a model writes as calls of tools: as JSON, as XML, or in its family's own signs."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from webagent.action import ACTIONS, Action, make_action, parse_action
from webagent.action.grammar import find_name
from webagent.errors import ActionError
from webagent.models.replies import find_object_spans

_NAMES = ("name", "action", "function", "tool", "tool_name", "action_type")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "params", "kwargs")
_THOUGHTS = ("thought", "reasoning", "thinking", "rationale", "analysis")
_FUNCTION = re.compile(
    r"<(?:function=(?P<a>[\w.]+)|invoke name=\"(?P<b>[\w.]+)\")>"
    r"(?P<body>.*?)</(?:function|invoke)>",
    re.DOTALL,
)
"""As Qwen3-Coder and Seed-OSS write it, and as Claude and MiniMax do."""
_PARAMETER = re.compile(
    r"<parameter(?:=(?P<a>\w+)| name=\"(?P<b>\w+)\"[^>]*)>(?P<value>.*?)</parameter>", re.DOTALL
)
_LISTED = re.compile(
    r"<tool_call>\s*(?P<name>[\w.]+)\s*(?P<body>(?:<arg_key>.*?</arg_value>\s*)*)</tool_call>",
    re.DOTALL,
)
"""As GLM writes it."""
_LISTED_PARAMETER = re.compile(
    r"<arg_key>\s*(\w+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL
)
_BEFORE_JSON = re.compile(
    r"(?:functions\.)?(?P<name>\w+)(?::\d+)?\s*(?:<[|｜][^|｜>]*[|｜]>|\[ARGS\]|```json|json|\s)+\Z"
)
"""As Kimi (`functions.click:0<|…|>`), DeepSeek, Mistral (`click[ARGS]`) and gpt-oss write it."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a reply at which an action is named."""

    start: int
    end: int
    read: Callable[[], Action]
    """Returns the action. Raises `ActionError` for one that is none."""
    thought: str = ""
    """What stands beside it in its object."""


def find_tool_calls(text: str) -> list[Mention]:
    """Return the calls of tools in a text in order, with those of unknown tools."""
    found: list[Mention] = []
    for tag in _FUNCTION.finditer(text):
        given = {
            each["a"] or each["b"]: each["value"].strip("\n")
            for each in _PARAMETER.finditer(tag["body"])
        }
        tool, body = tag["a"] or tag["b"], tag["body"].strip()
        found.append(_make_mention(tag.start(), tag.end(), tool, given or body))
    for tag in _LISTED.finditer(text):
        listed = dict(_LISTED_PARAMETER.findall(tag["body"]))
        found.append(_make_mention(tag.start(), tag.end(), tag["name"], listed))
    for value, start, end in find_object_spans(text):
        before = _BEFORE_JSON.search(text[max(0, start - 200) : start])
        if before and find_name(before["name"]):
            begun = start - len(before[0])
            found.append(_make_mention(begun, end, before["name"], value))
        elif (mention := _read_object(value, start, end)) is not None:
            found.append(mention)
    found.sort(key=lambda each: (each.start, -each.end))
    apart: list[Mention] = []
    for mention in found:
        if not apart or mention.start >= apart[-1].end:
            apart.append(mention)
    return apart


def _read_object(value: Mapping[str, Any], start: int, end: int) -> Mention | None:
    """Return the call that an object is, or holds beside a thought; None where it is none."""
    thought = next((str(value[key]) for key in _THOUGHTS if key in value), "")
    rest = {key: each for key, each in value.items() if key not in (*_THOUGHTS, "type", "id")}
    key = next((key for key in _NAMES if key in rest), "")
    if not key and len(rest) == 1 and find_name(next(iter(rest))):
        (tool, inside), key = next(iter(rest.items())), "name"
        rest = {"name": tool, "arguments": inside}
    named = rest.pop(key, None)
    if isinstance(named, Mapping):
        inner = _read_object(named, start, end)
        return Mention(start, end, inner.read, thought or inner.thought) if inner else None
    if not isinstance(named, str):
        return None
    if "(" in named:
        return Mention(start, end, lambda: parse_action(named), thought)
    given: Any = next((rest[key] for key in _ARGUMENTS if key in rest), rest)
    return _make_mention(start, end, named, given, thought)


def _make_mention(start: int, end: int, tool: str, given: Any, thought: str = "") -> Mention:
    def read() -> Action:
        name, arguments = find_name(tool.removeprefix("functions.")), given
        if not name:
            raise ActionError(f"no action called {tool[:60]!r}; known: {', '.join(ACTIONS)}")
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments or "{}")
            except ValueError as error:
                raise ActionError(f"{name}: its arguments are no JSON ({error})") from error
        if not isinstance(arguments, Mapping):
            raise ActionError(f"{name}: expected its arguments by name, found {arguments!r:.80}")
        return make_action(name, arguments)

    return Mention(start, end, read, thought)
