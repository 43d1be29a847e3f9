"""The layout of a prompt: goal, history and page as tokens in order, before they become arrays."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from webagent.action import Action
from webagent.models.builtin.vocabulary import Word, keys_of, op_of, split
from webagent.records import Node, Observation, Step

PLACES = 64
"""Positions inside a field that are distinguished; later ones count as the last."""
LINES = 96
"""Lines of a page that are distinguished."""
MAX_TOKENS = 320
"""Tokens a prompt may have before lines of the page are cut or left out."""
GOAL_WORDS = 64
LINE_WORDS = 40
"""Words of a name or a value that are read."""

_CUT_WORDS = 4
_CONTROL, _LINK, _TEXT = 0.3, 0.2, 0.05
"""What a line is worth by its kind; being the only one with a word of the goal is worth 1."""
_SHORT, _SHORT_LETTERS = 0.3, 3
"""What such a word is worth, and how long it is at most."""
_BY_CHANCE = 0.05
"""A line that is about the goal by no more than this is so by chance."""
_PAST_STEPS = 6
_PAST_NAME_WORDS = 4
_PAST_TEXT_WORDS = 8


class PromptField(IntEnum):
    """Which part of the prompt a token stands in."""

    ROLE = 0
    GOAL = 1
    HISTORY = 2
    HEAD = 3
    STATE = 4
    NAME = 5
    VALUE = 6
    ACTION = 7
    TARGET = 8


class PromptToken(NamedTuple):
    """One position of the prompt."""

    key: str
    """The vocabulary entry."""
    field: PromptField
    place: int
    """Position inside the field; for a head the line's depth."""
    line: int
    """Number of the line from 1, 0 outside the page."""
    word: Word | None = None
    """The word that a copy of it writes."""


class PromptLine(NamedTuple):
    """One line of the page that found room in the prompt."""

    head: int
    """Position of its first token."""
    node: Node
    origin: int
    """The node's index in the observation."""
    kind: str
    """Key of the head: role and widget kind."""
    name: tuple[str, ...]
    """Keys of the name's words, cut off or not in the prompt."""


class PromptAction(NamedTuple):
    """One earlier action, as far as the prompt shows it."""

    op: str
    mark: int
    name: str
    text: str


@dataclass(slots=True)
class PromptLayout:
    """A prompt of T tokens in the making, with what relations and features are found from."""

    observation: Observation
    past: list[PromptAction]
    """All that was done before, oldest first."""
    previous: Observation | None
    """The page before the last action."""
    tokens: list[PromptToken]
    goal: list[Word]
    """Word g of the goal stands at position g + 1."""
    goal_keys: list[str]
    lines: list[PromptLine]
    acted: list[tuple[int, int]]
    """Position and mark of every action shown: the past ones, then the one in question."""


def lay_out_prompt(
    role: str, observation: Observation, steps: Sequence[Step], action: Action | None
) -> PromptLayout:
    """Return the prompt for `role` at `observation` after `steps`, and of `action` if given."""
    goal = list(split(observation.goal, GOAL_WORDS))
    out = PromptLayout(
        observation=observation,
        past=[past_action_of(step.decision.action, step.observation) for step in steps],
        previous=steps[-1].observation if steps else None,
        tokens=[PromptToken(f"role:{role}", PromptField.ROLE, 0, 0)],
        goal=goal,
        goal_keys=[word.key for word in goal],
        lines=[],
        acted=[],
    )
    _add_words(out, goal, PromptField.GOAL, 0)
    for number, past in enumerate(out.past[-_PAST_STEPS:]):
        _add_past(out, past, PromptField.HISTORY, number)
    if action is not None:
        _add_past(out, past_action_of(action, observation), PromptField.ACTION, 0)
    if observation.outcome:
        out.tokens.append(PromptToken("outcome:problem", PromptField.HISTORY, 0, 0))
    for index, name_limit in _fit_lines(out):
        node = out.observation.nodes[index]
        kind, keys = kind_of(node), keys_of(node.name, LINE_WORDS)
        out.lines.append(PromptLine(len(out.tokens), node, index, kind, keys))
        line = len(out.lines)
        out.tokens.append(PromptToken(kind, PromptField.HEAD, _clamp(node.depth), line))
        for place, state in enumerate(node.states):
            out.tokens.append(PromptToken(f"state:{state}", PromptField.STATE, _clamp(place), line))
        name = split(node.name, LINE_WORDS)[:name_limit]
        _add_words(out, name, PromptField.NAME, line)
        _add_words(out, split(node.value, LINE_WORDS), PromptField.VALUE, line)
    return out


def past_action_of(action: Action, observation: Observation) -> PromptAction:
    """Return how an action done on a page is remembered."""
    mark = getattr(action, "mark", getattr(action, "source", 0))
    node = observation.node(mark)
    texts = [getattr(action, key, "") for key in ("text", "option", "key", "reason")]
    target = observation.node(getattr(action, "target", 0))
    if target is not None:
        texts.append(target.name)
    return PromptAction(
        op_of(action), mark, node.name if node else "", " ".join(t for t in texts if t)
    )


def kind_of(node: Node) -> str:
    """Return what a line is, as the vocabulary knows it: `button/button`, `text`."""
    return f"{node.role}/{node.kind}" if node.mark else "text"


def _add_words(out: PromptLayout, words: Sequence[Word], field: PromptField, line: int) -> None:
    for place, word in enumerate(words):
        out.tokens.append(PromptToken(word.key, field, _clamp(place), line, word))


def _add_past(out: PromptLayout, past: PromptAction, field: PromptField, number: int) -> None:
    out.acted.append((len(out.tokens), past.mark))
    out.tokens.append(PromptToken(f"op:{past.op}", field, _clamp(number), 0))
    _add_words(out, split(past.name, _PAST_NAME_WORDS), field, 0)
    _add_words(out, split(past.text, _PAST_TEXT_WORDS), field, 0)


def _clamp(number: int) -> int:
    """Return a position, as far as positions are distinguished."""
    return max(0, min(number, PLACES - 1))


def _fit_lines(out: PromptLayout) -> list[tuple[int, int]]:
    """Return the lines that fit the token limit, each with how many words of its name.

    Long names of lines that are not about the goal are cut first; then lines are left out, those
    first that are worth the least for the room they take.
    """
    nodes = out.observation.nodes
    room = MAX_TOKENS - len(out.tokens)
    if sum(_count_tokens(node, LINE_WORDS) for node in nodes) <= room:
        return [(i, LINE_WORDS) for i in range(len(nodes))]
    goal = {key for key in out.goal_keys if key.isalnum()}
    shared = [goal.intersection(keys_of(node.name)) for node in out.observation.nodes]
    lines = Counter(key for keys in shared for key in keys)
    weight = {
        key: (_SHORT if len(key) <= _SHORT_LETTERS and key.isalpha() else 1.0) / count
        for key, count in lines.items()
    }
    about = [sum(weight[key] for key in keys) for keys in shared]
    limits = [LINE_WORDS if each > _BY_CHANCE else _CUT_WORDS for each in about]
    sizes = [_count_tokens(node, limit) for node, limit in zip(nodes, limits, strict=True)]
    worth = []
    for i, node in enumerate(nodes):
        # Half of what lines beside it are about: what a control is for often stands only there.
        beside = max(about[max(0, i - 1) : i + 2]) / 2
        kind = _TEXT if not node.mark else _LINK if node.role == "link" else _CONTROL
        worth.append(((max(about[i], beside) + kind) / sizes[i] ** 0.5, -i))
    kept = []
    for i in sorted(range(len(nodes)), key=worth.__getitem__, reverse=True):
        if sizes[i] <= room:
            room -= sizes[i]
            kept.append((i, limits[i]))
    return sorted(kept)


def _count_tokens(node: Node, name_limit: int) -> int:
    """Return how many tokens a line takes."""
    words = len(split(node.name, LINE_WORDS)[:name_limit]) + len(split(node.value, LINE_WORDS))
    return 1 + len(node.states) + words
