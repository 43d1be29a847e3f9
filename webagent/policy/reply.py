"""Reading a model's reply: one thought and one action, found in free text and never run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from webagent.action import ACTIONS, Action, format_action, parse_action
from webagent.action.actions import Fill, TabFocus, Wait
from webagent.errors import ActionError
from webagent.models.model import Reply
from webagent.models.prompt import shorten
from webagent.policy.past_actions import LOOP_PATIENCE, LOOPS_PROMPT, Loop, format_marks, marks_of
from webagent.policy.tool_calls import Mention, find_tool_calls
from webagent.records import Observation

_LABEL = re.compile(r"^[\W_]*action[\W_]*[:：][*_ \t]*", re.IGNORECASE | re.MULTILINE)
_THOUGHT_LABEL = re.compile(r"^[\W_]*thought[\W_]*[:：][*_ \t]*", re.IGNORECASE)
_FENCE = re.compile(r"```(?:[\w-]*\n)?(.*?)```", re.DOTALL)
_STRING_OR_BRACKET = re.compile(
    r"""(?P<quote>'{3}|"{3}|'|")(?:\\.|(?!(?P=quote))[^\\])*(?:(?P=quote)|\\?\Z)"""
    r"""|“[^”]*”|[()（）]""",
    re.DOTALL,
)
_OPENED = (
    r"<(?:think|thinking|thought|reasoning|seed:think)>|◁think▷|\[THINK\]|<\|START_THINKING\|>"
    r"|<\|begin_of_thought\|>|<\|channel\|>analysis<\|message\|>"
)
_CLOSED = (
    r"</(?:think|thinking|thought|reasoning|seed:think)>|◁/think▷|\[/THINK\]|<\|END_THINKING\|>"
    r"|<\|end_of_thought\|>"
)
_THINKING = re.compile(rf"(?:{_OPENED}).*?(?:{_CLOSED}|<\|end\|>)", re.DOTALL | re.IGNORECASE)
_BEGUN, _ENDED = re.compile(_OPENED, re.IGNORECASE), re.compile(_CLOSED, re.IGNORECASE)
_TURN_SIGNS = re.compile(
    r"<\|start\|>assistant|<\|channel\|>final|<\|(?:message|return|end|im_end|eot_id|eom_id)\|>"
)
_BETWEEN = re.compile(
    r"(?:[\W\d_]|<[^<>]*>|\b(?:action|then|and|json|python|tool_calls?)\b)*", re.IGNORECASE
)
"""What may stand between the actions of a list: nothing in which a model changes its mind."""
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a reply holds."""

    thought: str
    action: Action
    not_done: tuple[Action, ...] = ()
    """What it asks for beside that, as a list of actions does."""


def read_reply(text: str) -> tuple[str, Action]:
    """Return the thought and the action of a whole reply. Raises `ActionError` as `parse_reply`."""
    parsed = parse_reply(text)
    return parsed.thought, parsed.action


def parse_reply(text: str, *, is_cut: bool = False) -> ParsedReply:
    """Return what a reply holds.

    An action stands behind an `Action:` label or is the call of a tool; else it is in a fenced
    block, on a line of its own, or the last call in the text. Of a list of actions the first is
    meant to be done. Private reasoning is left out, and in a reply that `is_cut` off only an action
    with a label or at its very beginning counts. Raises `ActionError` naming what was wrong.
    """
    # What opened the thinking may be part of the prompt.
    visible = _ENDED.split(_THINKING.sub("", text))[-1]
    if begun := _BEGUN.search(visible):
        visible = visible[: begun.start()]
        if not visible.strip():
            raise ActionError(f"the reply does not end its thinking ({begun[0]})")
    visible = _TURN_SIGNS.sub("", visible)
    if not visible.strip():
        raise ActionError("the reply is empty; expected a thought and one action")
    tools, calls = find_tool_calls(visible), list(_find_calls(visible))
    # A call among the arguments of a tool is text, and so is an object among a call's.
    calls = [each for each in calls if not any(_is_inside(each, tool) for tool in tools)]
    tools = [each for each in tools if not any(_is_inside(each, call) for call in calls)]
    named = _find_labelled(visible, calls, tools) or tools
    if not named:
        named = _find_unlabelled(visible, calls)
        if is_cut and named and visible[: named[0].start].strip(" \n`"):
            named = []
    if not named:
        raise ActionError(f"no action in the reply {shorten(visible, 160)!r}")
    first, *others = [each.read() for each in named]
    further = tuple(dict.fromkeys(each for each in others if each != first))
    if further and not all(_is_list(visible, *pair) for pair in pairwise(named)):
        found = ", ".join(map(format_action, (first, *others)))
        raise ActionError(f"expected exactly one action, found {shorten(found, 160)}")
    # The words before the action, without their label and the signs that lead to it.
    before = visible[: named[0].start].strip()
    before = re.sub(r"(?:<[^<>\n]*>|```\w*|\[TOOL_CALLS\]|[\s`\[])+\Z", "", before)
    thought = _THOUGHT_LABEL.sub("", before, count=1).strip()
    return ParsedReply(thought or named[0].thought, first, further)


def _find_labelled(text: str, calls: Sequence[Mention], tools: Sequence[Mention]) -> list[Mention]:
    """Return what stands behind each label: its first call, else its line for an error to quote."""
    found, mentions = list[Mention](), [*calls, *tools]
    labels = [
        label
        for label in _LABEL.finditer(text)
        if not any(each.start < label.end() <= each.end for each in mentions)
    ]
    for label, end in zip(labels, [*(x.start() for x in labels[1:]), len(text)], strict=False):
        inside = [each for each in mentions if label.end() <= each.start < end]
        line = text[label.end() : end].strip().partition("\n")[0]
        unread = Mention(label.start(), end, partial(parse_action, line))
        first = min(inside, key=lambda each: each.start, default=unread)
        found.append(replace(first, start=label.start()))
    return found


def _find_unlabelled(text: str, calls: Sequence[Mention]) -> list[Mention]:
    """Return calls in fenced blocks, else those with lines of their own, else the last in prose."""
    fences = [(found.start(1), found.end(1)) for found in _FENCE.finditer(text)]
    if fenced := [each for each in calls if any(a <= each.start < b for a, b in fences)]:
        return fenced
    bare = text
    for each in calls:
        bare = bare[: each.start] + " " * (each.end - each.start) + bare[each.end :]

    def is_alone(call: Mention) -> bool:
        before = bare[: call.start].rpartition("\n")[2]
        after = re.split(r"#|//|\n", bare[call.end :], maxsplit=1)[0]
        return not _LETTER.search(before + after)

    if alone := [each for each in calls if is_alone(each)]:
        return alone
    # In prose `click (3)` and `click [3]` are words.
    prose = [each for each in calls if re.match(r"\w+[(（]", text[each.start :])]
    start = len(prose) - 1
    while start > 0 and _is_list(text, prose[start - 1], prose[start]):
        start -= 1
    return prose[max(0, start) :]


def _is_list(text: str, one: Mention, other: Mention) -> bool:
    return _BETWEEN.fullmatch(text, one.end, other.start) is not None


def _is_inside(inner: Mention, outer: Mention) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _find_calls(text: str) -> Iterator[Mention]:
    """Yield the calls of known actions, none of them inside another's arguments."""
    known = "|".join(sorted(ACTIONS, key=len, reverse=True))
    mark = r"\[(?P<mark>\d+)\](?!\s*\[)"
    pattern = re.compile(rf"(?<![\w.])(?P<name>{known}) ?(?:[(（]|{mark})", re.IGNORECASE)
    position = 0
    while match := pattern.search(text, position):
        call, position = f"{match['name']}({match['mark']})", match.end()
        if not match["mark"]:
            # To the bracket that closes the call, else to the end of the line.
            depth, line = 1, text.find("\n", position)
            position = line if line >= 0 else len(text)
            for found in _STRING_OR_BRACKET.finditer(text, match.end()):
                depth += {"(": 1, "（": 1, ")": -1, "）": -1}.get(found[0], 0)
                if depth == 0:
                    position = found.end()
                    break
            call = text[match.start() : position]
            # What a thought leaves open does not reach over the action that follows it.
            label = _LABEL.search(text, match.end(), position)
            if label and not _is_readable(call):
                position = label.start()
        yield Mention(match.start(), position, partial(parse_action, call))


def _is_readable(call: str) -> bool:
    try:
        parse_action(call)
    except ActionError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ReplyReader:
    """What a reply is held to on one page."""

    observation: Observation
    actions: tuple[str, ...]
    max_tokens: int
    loop: Loop | None = None
    """The loop that another action is demanded for."""
    last: Action | None = None
    """The action that led to this page."""

    def read(self, reply: Reply) -> ParsedReply:
        """Return thought and action. Raises `ActionError` for one that cannot be done here."""
        is_cut = reply.finish_reason == "length"
        try:
            parsed = parse_reply(reply.text, is_cut=is_cut)
        except ActionError as error:
            if is_cut:
                raise ActionError(
                    f"the reply was cut off after {self.max_tokens} tokens; be brief"
                ) from error
            if reply.reasoning and not reply.text.strip():
                raise ActionError(
                    "the reply is empty beside its reasoning; expected a thought and one action"
                ) from error
            raise
        action = parsed.action
        name = format_action(action).partition("(")[0]
        if name not in self.actions:
            raise ActionError(f"{name} is not allowed here; allowed: {', '.join(self.actions)}")
        for mark in marks_of(action):
            if self.observation.node(mark) is None:
                known = format_marks(self.observation)
                raise ActionError(f"no element [{mark}] on this page; the marks are {known}")
        return parsed

    def read_strictly(self, reply: Reply) -> ParsedReply:
        """Do the same, but raise `ActionError` for going in circles and for what changes nothing.

        A model hears this objection once; where it insists, `read` takes it at its word.
        """
        parsed = self.read(reply)
        action = parsed.action
        times = self.loop.count(action, self.observation) if self.loop is not None else 0
        if times >= LOOP_PATIENCE:
            words = {"action": format_action(action), "times": str(times)}
            raise ActionError(LOOPS_PROMPT.fill("refuse", **words))
        if isinstance(action, TabFocus) and len(self.observation.tabs) == 1:
            raise ActionError(
                "the browser has no tab but this one; tabs on the page are elements with marks"
            )
        if isinstance(action, Fill) and action.text:
            node = self.observation.node(action.mark)
            if node is not None and node.value == action.text:
                raise ActionError(
                    f"element [{action.mark}] holds {action.text!r} already; do what is left to do"
                )
        # The outcome itself may quote the page, so that it stays in its fence.
        if self.observation.outcome and action == self.last and not isinstance(action, Wait):
            raise ActionError(f"{format_action(action)} was just done; choose a different action")
        return parsed
