"""The layout of a prompt: the records of its tokens and lines, before they become arrays."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from webagent.models.builtin.vocabulary import Word
from webagent.records import Node, Observation

PLACES = 64
"""Positions inside a field that are distinguished; later ones count as the last."""
LINES = 96
"""Lines of a page that are distinguished."""
LINE_WORDS = 40
"""Words of a name or a value that are read."""


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
