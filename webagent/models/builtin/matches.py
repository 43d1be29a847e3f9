"""Matches: where the goal and the page say the same, and what the goal sets in quotation marks."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from webagent.models.builtin.draft import LINE_WORDS, Draft, Line
from webagent.models.builtin.words import keys_of

_QUOTES = frozenset('"“”«»')
_ORDINAL_WORDS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
_ORDINAL = re.compile(r"(\d+)(st|nd|rd|th)")
CELL = "|"
_TELLING = 2
"""A word that stands on more lines than this does not single one out."""


class Span(NamedTuple):
    """A stretch of the goal, as positions in the prompt, that a line repeats."""

    start: int
    end: int
    is_value: bool
    """Whether the line's value repeats it, rather than its name."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found; the tuples by line are in the order of `Draft.lines`."""

    quoted: tuple[tuple[int, int], ...]
    """Start and end positions of what stands between quotation marks, the marks left out."""
    spans: tuple[tuple[Span, ...], ...]
    """By line: what of the goal its whole name, a whole cell of it or its whole value equals."""
    beside: tuple[tuple[int, int], ...]
    """Start and end positions of cells that come right after a cell the goal repeats."""
    named_kinds: tuple[bool, ...]
    """By line: whether the goal has a word for what kind of widget it is."""
    places: tuple[tuple[int, int], ...]
    """Positions of ordinals in the goal, each with the index of a line it may mean."""
    anchors: tuple[int, ...]
    """By line: the nearest line at or above it that shares a telling word with the goal, or -1."""


def match(draft: Draft) -> Matches:
    """Everything that the goal and the page have in common beyond single words."""
    return Matches(
        quoted=tuple(_quoted(draft.goal_keys)),
        spans=tuple(tuple(_spans(line, draft.goal_keys)) for line in draft.lines),
        beside=tuple(found for line in draft.lines for found in _beside(line, draft)),
        named_kinds=tuple(not kinds_of(line).isdisjoint(draft.goal_keys) for line in draft.lines),
        places=tuple(_places(draft)),
        anchors=tuple(_anchors(draft)),
    )


def ordinal(word: str) -> int:
    """The number that `3rd` or `third` stands for; 0 for any other word."""
    if word in _ORDINAL_WORDS:
        return _ORDINAL_WORDS.index(word) + 1
    found = _ORDINAL.fullmatch(word)
    return int(found.group(1)) if found else 0


def kinds_of(line: Line) -> set[str]:
    """Words for what a line is: `{"radio", "input"}`; none for static text."""
    return {line.node.role, *line.node.kind.split(":")} if line.node.mark else set()


def _beside(line: Line, draft: Draft) -> Iterator[tuple[int, int]]:
    """Cells are parted by `|` in the name of a line, as the rows of a table are."""
    if " | " not in line.node.name:
        return
    start, cells = line.head + 1, list[tuple[int, int]]()
    for position in range(start, len(draft.tokens) + 1):
        token = draft.tokens[position] if position < len(draft.tokens) else None
        is_inside = token is not None and token.line == draft.tokens[line.head].line
        if token is not None and is_inside and token.key != CELL:
            continue
        cells.append((start, position))
        start = position + 1
        if not is_inside:
            break
    for cell, following in pairwise(cells):
        keys = tuple(draft.tokens[i].key for i in range(*cell) if draft.tokens[i].word)
        if any(_occurrences(keys, draft.goal_keys)):
            yield following


def _places(draft: Draft) -> Iterator[tuple[int, int]]:
    """A goal word such as `3rd` and the third line of each kind."""
    for position, word in enumerate(draft.goal_keys, start=1):
        wanted = ordinal(word)
        if not wanted:
            continue
        seen: Counter[str] = Counter()
        for number, line in enumerate(draft.lines):
            seen[line.kind] += 1
            if seen[line.kind] == wanted:
                yield position, number


def _quoted(goal: Sequence[str]) -> Iterator[tuple[int, int]]:
    marks = [g for g, key in enumerate(goal, start=1) if key in _QUOTES]
    for start, end in zip(marks[::2], marks[1::2], strict=False):
        if end > start + 1:
            yield start + 1, end


def _spans(line: Line, goal: Sequence[str]) -> Iterator[Span]:
    name, value = line.node.name, line.node.value
    cells = name.split(" | ") if " | " in name else []
    for text in (name, *cells):
        for start, end in _occurrences(keys_of(text, LINE_WORDS), goal):
            yield Span(start, end, is_value=False)
    for start, end in _occurrences(keys_of(value, LINE_WORDS), goal):
        yield Span(start, end, is_value=True)


def _occurrences(keys: tuple[str, ...], goal: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the goal has these words in a row; nowhere when they are punctuation only."""
    if not keys or keys[0] not in goal or not any(key.isalnum() for key in keys):
        return
    size = len(keys)
    for start in range(len(goal) - size + 1):
        if goal[start] == keys[0] and tuple(goal[start : start + size]) == keys:
            yield 1 + start, 1 + start + size


def _anchors(draft: Draft) -> Iterator[int]:
    goal = {key for key in draft.goal_keys if key.isalnum()}
    words = [set(line.name) for line in draft.lines]
    lines_with = Counter(key for line in words for key in line & goal)
    above = -1
    for number, line in enumerate(words):
        if any(lines_with[key] <= _TELLING for key in line & goal):
            above = number
        yield above
