"""What goal and page have in common, and how tokens of the prompt relate, as bit sets."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from webagent.models.builtin.layout import LINE_WORDS, PromptField, PromptLayout, PromptLine
from webagent.models.builtin.vocabulary import keys_of

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
    """What was found; the tuples by line are in the order of `PromptLayout.lines`."""

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


def find_matches(layout: PromptLayout) -> Matches:
    """Return everything that the goal and the page have in common beyond single words."""
    marks = [g for g, key in enumerate(layout.goal_keys, start=1) if key in _QUOTES]
    quoted = [
        (start + 1, end)
        for start, end in zip(marks[::2], marks[1::2], strict=False)
        if end > start + 1
    ]
    places = []
    for position, word in enumerate(layout.goal_keys, start=1):
        seen: Counter[str] = Counter()
        for number, line in enumerate(layout.lines if (wanted := ordinal(word)) else ()):
            seen[line.kind] += 1
            if seen[line.kind] == wanted:
                places.append((position, number))
    spans = []
    anchors: list[int] = []
    goal = {key for key in layout.goal_keys if key.isalnum()}
    lines_with = Counter(key for line in layout.lines for key in goal.intersection(line.name))
    for number, line in enumerate(layout.lines):
        name = line.node.name
        cells = name.split(" | ") if " | " in name else []
        texts = [(text, False) for text in (name, *cells)] + [(line.node.value, True)]
        spans.append(
            tuple(
                Span(start, end, is_value)
                for text, is_value in texts
                for start, end in _find_occurrences(keys_of(text, LINE_WORDS), layout.goal_keys)
            )
        )
        is_anchor = any(lines_with[key] <= _TELLING for key in goal.intersection(line.name))
        anchors.append(number if is_anchor else anchors[-1] if anchors else -1)
    return Matches(
        quoted=tuple(quoted),
        spans=tuple(spans),
        beside=tuple(found for line in layout.lines for found in _find_beside(line, layout)),
        named_kinds=tuple(not kinds_of(line).isdisjoint(layout.goal_keys) for line in layout.lines),
        places=tuple(places),
        anchors=tuple(anchors),
    )


def ordinal(word: str) -> int:
    """Return the number that `3rd` or `third` stands for; 0 for any other word."""
    if word in _ORDINAL_WORDS:
        return _ORDINAL_WORDS.index(word) + 1
    found = _ORDINAL.fullmatch(word)
    return int(found.group(1)) if found else 0


def kinds_of(line: PromptLine) -> set[str]:
    """Return words for what a line is: `{"radio", "input"}`; none for static text."""
    return {line.node.role, *line.node.kind.split(":")} if line.node.mark else set()


def _find_beside(line: PromptLine, layout: PromptLayout) -> Iterator[tuple[int, int]]:
    """Yield the cells right after one that the goal repeats; `|` parts cells in a line's name."""
    if " | " not in line.node.name:
        return
    start, cells = line.head + 1, list[tuple[int, int]]()
    for position in range(start, len(layout.tokens) + 1):
        token = layout.tokens[position] if position < len(layout.tokens) else None
        is_inside = token is not None and token.line == layout.tokens[line.head].line
        if token is not None and is_inside and token.key != CELL:
            continue
        cells.append((start, position))
        start = position + 1
        if not is_inside:
            break
    for cell, following in pairwise(cells):
        keys = tuple(layout.tokens[i].key for i in range(*cell) if layout.tokens[i].word)
        if any(_find_occurrences(keys, layout.goal_keys)):
            yield following


def _find_occurrences(keys: tuple[str, ...], goal: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where the goal has these words in a row; nowhere when they are punctuation only."""
    if not keys or keys[0] not in goal or not any(key.isalnum() for key in keys):
        return
    size = len(keys)
    for start in range(len(goal) - size + 1):
        if goal[start] == keys[0] and tuple(goal[start : start + size]) == keys:
            yield 1 + start, 1 + start + size


class Relation(IntEnum):
    """How one token stands to another; each has a learned bias per layer and attention head."""

    SAME_WORD = 0
    PREFIX = 1
    """The goal's word begins the other."""
    SUFFIX = 2
    """The goal's word ends the other."""
    SAME_LINE = 3
    NEXT = 4
    PREVIOUS = 5
    HEAD = 6
    """From a token to the head of its line."""
    OWN = 7
    """From a head to the tokens of its line."""
    PARENT = 8
    CHILD = 9
    LINE_BEFORE = 10
    LINE_AFTER = 11
    SPAN = 12
    """From a head to what of the goal the line's name repeats."""
    SPAN_OF = 13
    """From the goal's words to the heads of lines that repeat them."""
    ACTED = 14
    """Between an action and the line it was done to."""
    VALUE_SPAN = 15
    """From a head to what of the goal the line's value repeats."""
    ROW = 16
    """Side by side on the screen."""
    COLUMN = 17
    """One above the other on the screen."""
    COPIED = 18
    """From a written token to the place it was copied from."""
    COPIED_NEXT = 19
    """From a written token to the place after that."""
    ORDINAL = 20
    """Between `3rd` in the goal and the third line of a kind."""
    KIND = 21
    """Between a word of the goal such as `checkbox` and the lines it names the kind of."""
    UNDER = 22
    """From a head to the line above it that the goal speaks of."""


RELATIONS = len(Relation)

_Places: TypeAlias = int | Sequence[int] | NDArray[np.int64]


class _RelationBits:
    """(T, T) bit sets over `Relation`, being filled in."""

    def __init__(self, size: int):
        self.bits = np.zeros((size, size), np.int32)

    def where(self, relation: Relation, holds: NDArray[np.bool_]) -> None:
        self.bits |= holds.astype(np.int32) << relation

    def add(self, relation: Relation, rows: _Places, columns: _Places) -> None:
        self.bits[rows, columns] |= 1 << relation

    def add_both(self, relation: Relation, one: _Places, other: _Places) -> None:
        self.add(relation, one, other)
        self.add(relation, other, one)


def compute_relations(layout: PromptLayout, matches: Matches) -> NDArray[np.int32]:
    """Return (T, T) bit sets: bit r of [i, j] says that token i stands in relation r to token j."""
    sheet = _RelationBits(len(layout.tokens))
    numbers: dict[str, int] = {}
    words = np.array(
        [
            numbers.setdefault(token.key, len(numbers))
            if token.word and token.key.isalnum()
            else -1
            for token in layout.tokens
        ]
    )
    same = (words[:, None] == words[None, :]) & (words[:, None] >= 0)
    np.fill_diagonal(same, False)
    sheet.where(Relation.SAME_WORD, same)
    fields = np.array([token.field for token in layout.tokens])
    lines = np.array([token.line for token in layout.tokens])
    mates = (lines[:, None] == lines[None, :]) & (lines > 0)[:, None]
    np.fill_diagonal(mates, False)
    is_head = fields == PromptField.HEAD
    sheet.where(Relation.SAME_LINE, mates)
    sheet.where(Relation.HEAD, mates & is_head[None, :])
    sheet.where(Relation.OWN, mates & is_head[:, None])
    first = np.flatnonzero((fields[1:] == fields[:-1]) & (lines[1:] == lines[:-1]))
    sheet.add(Relation.NEXT, first, first + 1)
    sheet.add(Relation.PREVIOUS, first + 1, first)
    if layout.lines:
        _relate_lines(sheet, layout.lines)
    _relate_affixes(sheet, layout)
    _relate_goal(sheet, layout, matches)
    # Actions and the lines they were done to, where these are still there.
    marked = {line.node.mark: line.head for line in layout.lines if line.node.mark}
    for position, mark in layout.acted:
        if mark in marked:
            sheet.add_both(Relation.ACTED, position, marked[mark])
    return sheet.bits


def _relate_lines(sheet: _RelationBits, lines: Sequence[PromptLine]) -> None:
    """Relate lines to those before and after them, to the one they are indented under, and to those
    in the same row or column: middles closer than half of the smaller box."""
    heads = np.array([line.head for line in lines])
    sheet.add(Relation.LINE_BEFORE, heads[1:], heads[:-1])
    sheet.add(Relation.LINE_AFTER, heads[:-1], heads[1:])
    boxes = np.array([line.node.box for line in lines], dtype=np.float32)
    for relation, axis in ((Relation.ROW, 1), (Relation.COLUMN, 0)):
        size = boxes[:, axis + 2]
        middle = boxes[:, axis] + size / 2
        reach = np.maximum(np.minimum(size[:, None], size[None, :]) / 2, 1)
        near = np.abs(middle[:, None] - middle[None, :]) < reach
        np.fill_diagonal(near, False)
        one, other = np.nonzero(near)
        sheet.add(relation, heads[one], heads[other])
    above: list[PromptLine] = []
    for line in lines:
        while above and above[-1].node.depth >= line.node.depth:
            above.pop()
        if above:
            sheet.add(Relation.PARENT, line.head, above[-1].head)
            sheet.add(Relation.CHILD, above[-1].head, line.head)
        above.append(line)


def _relate_affixes(sheet: _RelationBits, layout: PromptLayout) -> None:
    """Relate goal words to words elsewhere that start or end with them ("starts with Ita")."""
    elsewhere: defaultdict[str, list[int]] = defaultdict(list)
    for i, token in enumerate(layout.tokens):
        if token.word and token.field != PromptField.GOAL and token.key.isalnum():
            elsewhere[token.key].append(i)
    for g, affix in enumerate(layout.goal_keys, start=1):
        if not affix.isalnum():
            continue
        for key, found in elsewhere.items():
            if affix not in key or affix == key:
                continue
            if key.startswith(affix):
                sheet.add_both(Relation.PREFIX, found, g)
            if key.endswith(affix):
                sheet.add_both(Relation.SUFFIX, found, g)


def _relate_goal(sheet: _RelationBits, layout: PromptLayout, matches: Matches) -> None:
    """Relate lines to the goal's words for their kind or place, to what of the goal they repeat,
    and to the line they belong under."""
    named: defaultdict[str, list[int]] = defaultdict(list)
    for g, word in enumerate(layout.goal_keys, start=1):
        for name in (word, f"{word}s", f"{word}es"):
            named[name].append(g)
    for position, number in matches.places:
        sheet.add_both(Relation.ORDINAL, layout.lines[number].head, position)
    for line, spans, anchor in zip(layout.lines, matches.spans, matches.anchors, strict=True):
        for kind in kinds_of(line) & named.keys():
            sheet.add_both(Relation.KIND, line.head, named[kind])
        for span in spans:
            positions = range(span.start, span.end)
            relation = Relation.VALUE_SPAN if span.is_value else Relation.SPAN
            sheet.add(relation, line.head, positions)
            sheet.add(Relation.SPAN_OF, positions, line.head)
        if anchor >= 0:
            sheet.add(Relation.UNDER, line.head, layout.lines[anchor].head)
