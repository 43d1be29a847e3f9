"""Reading a model's reply: one thought and one action, found in free text and never run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from webagent.action import ACTIONS, Action, format_action, parse_action
from webagent.errors import ActionError
from webagent.models.model import Reply
from webagent.models.prompt import shorten
from webagent.policy.past_actions import LOOPS_PROMPT, Loop, format_marks, marks_of
from webagent.records import Observation

_LABEL = re.compile(r"^[\W_]*action[\W_]*:[*_ \t]*", re.IGNORECASE | re.MULTILINE)
_THOUGHT_LABEL = re.compile(r"^[\W_]*thought[\W_]*:[*_ \t]*", re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*\n(.*?)```", re.DOTALL)
_STRING_OR_BRACKET = re.compile(
    r"""(?P<quote>'{3}|"{3}|'|")(?:\\.|(?!(?P=quote))[^\\])*(?:(?P=quote)|\\?\Z)|[()]""", re.DOTALL
)


def read_reply(text: str) -> tuple[str, Action]:
    """Return the thought and the action of a reply.

    The action is looked for behind an `Action:` label, else in a fenced block, else it is the last
    call in the text. A reply whose labels or blocks hold different actions says nothing clear.
    Private reasoning up to `</think>` is left out. Raises `ActionError` naming what was wrong.
    """
    _, _, visible = text.rpartition("</think>")
    if not visible.strip():
        raise ActionError("the reply is empty; expected a thought and one action")
    labels = list(_LABEL.finditer(visible))
    if labels:
        starts = [label.end() for label in labels]
        named = []
        for start, end in zip(starts, [*starts[1:], len(visible)], strict=True):
            lines = visible[start:end].strip().splitlines()
            # Without a call the line itself, for the error to quote.
            named.append(next(iter(_find_calls(visible[start:end])), lines[0] if lines else ""))
        action = _parse_only(named)
        return _read_thought(visible[: labels[0].start()]), action
    fences = [(match.start(), match[1]) for match in _FENCE.finditer(visible)]
    fenced = [call for _, block in fences for call in _find_calls(block)]
    if fenced:
        return _read_thought(visible[: fences[0][0]]), _parse_only(fenced)
    calls = _find_calls(visible)
    if not calls:
        raise ActionError(f"no action in the reply {shorten(visible, 160)!r}")
    return _read_thought(visible[: visible.rindex(calls[-1])]), parse_action(calls[-1])


def _parse_only(calls: Sequence[str]) -> Action:
    """Return the one action that all the calls say."""
    actions = [parse_action(call) for call in calls]
    if any(action != actions[0] for action in actions):
        found = ", ".join(format_action(action) for action in actions)
        raise ActionError(f"expected exactly one action, found {shorten(found, 160)}")
    return actions[0]


def _find_calls(text: str) -> list[str]:
    """Return the calls of known actions, none of them inside another's arguments."""
    calls, position, pattern = [], 0, _match_calls(tuple(ACTIONS))
    while match := pattern.search(text, position):
        position = _find_closing(text, match.end())
        calls.append(text[match.start() : position])
    return calls


@lru_cache(maxsize=8)
def _match_calls(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.])(?:{'|'.join(sorted(names, key=len, reverse=True))})\(")


def _find_closing(text: str, start: int) -> int:
    """Return the place past the bracket that closes a call, else the end of the line."""
    depth = 1
    for found in _STRING_OR_BRACKET.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0:
            return found.end()
    end_of_line = text.find("\n", start)
    return end_of_line if end_of_line >= 0 else len(text)


def _read_thought(text: str) -> str:
    """Return the words before the action, without their label."""
    return _THOUGHT_LABEL.sub("", text.strip(), count=1).strip().rstrip("`").strip()


@dataclass(frozen=True, slots=True)
class ReplyReader:
    """What a reply is held to on one page."""

    observation: Observation
    actions: tuple[str, ...]
    max_tokens: int
    loop: Loop | None = None
    """The loop that another action is demanded for."""
    patience: int = 0
    """How often an action may be repeated before it is not accepted again."""

    def read(self, reply: Reply) -> tuple[str, Action]:
        """Return thought and action. Raises `ActionError` for one that cannot be done here."""
        try:
            thought, action = read_reply(reply.text)
        except ActionError as error:
            if reply.finish_reason != "length":
                raise
            raise ActionError(
                f"the reply was cut off after {self.max_tokens} tokens; be brief"
            ) from error
        name = format_action(action).partition("(")[0]
        if name not in self.actions:
            raise ActionError(f"{name} is not allowed here; allowed: {', '.join(self.actions)}")
        for mark in marks_of(action):
            if self.observation.node(mark) is None:
                known = format_marks(self.observation)
                raise ActionError(f"no element [{mark}] on this page; the marks are {known}")
        return thought, action

    def read_strictly(self, reply: Reply) -> tuple[str, Action]:
        """Do the same, but raise `ActionError` for going in circles, too.

        A model hears this objection once; where it insists, `read` takes it at its word.
        """
        thought, action = self.read(reply)
        times = self.loop.count(action, self.observation) if self.loop is not None else 0
        if times and times >= self.patience:
            words = {"action": format_action(action), "times": str(times)}
            raise ActionError(LOOPS_PROMPT.fill("refuse", **words))
        return thought, action
