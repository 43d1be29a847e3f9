"""Reading a model's reply: one thought and one action, found in free text and never run."""

import re
from collections.abc import Iterable, Iterator

from webagent.action import ACTIONS, Action, format_action, parse_action
from webagent.errors import ActionError

_NAMES = "|".join(sorted(ACTIONS, key=len, reverse=True))
_CALL = re.compile(rf"(?<![\w.])(?:{_NAMES})\(")
_LABEL = re.compile(r"^[\W_]*action[\W_]*:[*_ \t]*", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"^[\W_]*thought[\W_]*:[*_ \t]*", re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*\n(.*?)```", re.DOTALL)
_QUOTES = ("'''", '"""', "'", '"')


def read_reply(text: str) -> tuple[str, Action]:
    """The thought and the action of a reply.

    The action is looked for behind an `Action:` label, else in a fenced block, else it is the last
    call in the text. A reply whose labels or blocks hold different actions says nothing clear.
    Private reasoning up to `</think>` is left out. Raises `ActionError` naming what was wrong.
    """
    _, _, visible = text.rpartition("</think>")
    if not visible.strip():
        raise ActionError("the reply is empty; expected a thought and one action")
    labels = list(_LABEL.finditer(visible))
    if labels:
        regions = _regions(visible, [label.end() for label in labels])
        action = _only(_first_call(region) for region in regions)
        return _thought(visible[: labels[0].start()]), action
    fences = [(match.start(), match[1]) for match in _FENCE.finditer(visible)]
    fenced = [call for _, block in fences for call in _calls(block)]
    if fenced:
        return _thought(visible[: fences[0][0]]), _only(fenced)
    calls = _calls(visible)
    if not calls:
        raise ActionError(f"no action in the reply {_short(visible)!r}")
    return _thought(visible[: visible.rindex(calls[-1])]), parse_action(calls[-1])


def _regions(text: str, starts: list[int]) -> Iterator[str]:
    """From each start to the next."""
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield text[start:end]


def _first_call(region: str) -> str:
    """The first call behind a label; without one the line itself, for the error to quote."""
    lines = region.strip().splitlines()
    return next(iter(_calls(region)), lines[0] if lines else "")


def _only(calls: Iterable[str]) -> Action:
    """The one action that all the calls say."""
    actions = [parse_action(call) for call in calls]
    if any(action != actions[0] for action in actions):
        found = ", ".join(format_action(action) for action in actions)
        raise ActionError(f"expected exactly one action, found {_short(found)}")
    return actions[0]


def _calls(text: str) -> list[str]:
    """The calls of known actions, none of them inside another's arguments."""
    calls, position = [], 0
    while match := _CALL.search(text, position):
        position = _closing(text, match.end())
        calls.append(text[match.start() : position])
    return calls


def _closing(text: str, start: int) -> int:
    """Just past the bracket that closes a call; the end of the line when there is none."""
    depth, position = 1, start
    while position < len(text):
        quote = next((mark for mark in _QUOTES if text.startswith(mark, position)), "")
        if quote:
            position = _end_of_string(text, position + len(quote), quote)
            continue
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
        if depth == 0:
            return position
    end_of_line = text.find("\n", start)
    return end_of_line if end_of_line >= 0 else len(text)


def _end_of_string(text: str, position: int, quote: str) -> int:
    """Just past the closing quote, or the end of the text."""
    while position < len(text) and not text.startswith(quote, position):
        position += 2 if text[position] == "\\" else 1
    return min(position + len(quote), len(text))


def _thought(text: str) -> str:
    """The words before the action, without their label."""
    return _THOUGHT.sub("", text.strip(), count=1).strip().rstrip("`").strip()


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 160 else flat[:159] + "…"
