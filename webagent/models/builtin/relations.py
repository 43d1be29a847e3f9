"""Relations: how one token of the prompt stands to another, as bit sets."""

from collections import defaultdict
from collections.abc import Sequence
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from webagent.models.builtin.draft import Draft, Field, Line
from webagent.models.builtin.matches import Matches, kinds_of


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


class _Sheet:
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


def relate(draft: Draft, matches: Matches) -> NDArray[np.int32]:
    """(T, T) bit sets: bit r of [i, j] says that token i stands in relation r to token j."""
    sheet = _Sheet(len(draft.tokens))
    numbers: dict[str, int] = {}
    words = np.array(
        [
            numbers.setdefault(token.key, len(numbers))
            if token.word and token.key.isalnum()
            else -1
            for token in draft.tokens
        ]
    )
    same = (words[:, None] == words[None, :]) & (words[:, None] >= 0)
    np.fill_diagonal(same, False)
    sheet.where(Relation.SAME_WORD, same)
    fields = np.array([token.field for token in draft.tokens])
    lines = np.array([token.line for token in draft.tokens])
    mates = (lines[:, None] == lines[None, :]) & (lines > 0)[:, None]
    np.fill_diagonal(mates, False)
    is_head = fields == Field.HEAD
    sheet.where(Relation.SAME_LINE, mates)
    sheet.where(Relation.HEAD, mates & is_head[None, :])
    sheet.where(Relation.OWN, mates & is_head[:, None])
    first = np.flatnonzero((fields[1:] == fields[:-1]) & (lines[1:] == lines[:-1]))
    sheet.add(Relation.NEXT, first, first + 1)
    sheet.add(Relation.PREVIOUS, first + 1, first)
    if draft.lines:
        heads = np.array([line.head for line in draft.lines])
        sheet.add(Relation.LINE_BEFORE, heads[1:], heads[:-1])
        sheet.add(Relation.LINE_AFTER, heads[:-1], heads[1:])
        _relate_boxes(sheet, draft.lines)
        _relate_parents(sheet, draft.lines)
    _relate_affixes(sheet, draft)
    for position, number in matches.places:
        sheet.add_both(Relation.ORDINAL, draft.lines[number].head, position)
    named: defaultdict[str, list[int]] = defaultdict(list)
    for g, word in enumerate(draft.goal_keys, start=1):
        for name in (word, f"{word}s", f"{word}es"):
            named[name].append(g)
    for line in draft.lines:
        for kind in kinds_of(line) & named.keys():
            sheet.add_both(Relation.KIND, line.head, named[kind])
    _relate_matches(sheet, draft, matches)
    _relate_deeds(sheet, draft)
    return sheet.bits


def _relate_boxes(sheet: _Sheet, lines: Sequence[Line]) -> None:
    """Middles closer than half of the smaller box stand in one row, or in one column."""
    heads = np.array([line.head for line in lines])
    boxes = np.array([line.node.box for line in lines], dtype=np.float32)
    for relation, axis in ((Relation.ROW, 1), (Relation.COLUMN, 0)):
        size = boxes[:, axis + 2]
        middle = boxes[:, axis] + size / 2
        reach = np.maximum(np.minimum(size[:, None], size[None, :]) / 2, 1)
        near = np.abs(middle[:, None] - middle[None, :]) < reach
        np.fill_diagonal(near, False)
        one, other = np.nonzero(near)
        sheet.add(relation, heads[one], heads[other])


def _relate_parents(sheet: _Sheet, lines: Sequence[Line]) -> None:
    """The nearest line above that is indented less."""
    stack: list[Line] = []
    for line in lines:
        while stack and stack[-1].node.depth >= line.node.depth:
            stack.pop()
        if stack:
            sheet.add(Relation.PARENT, line.head, stack[-1].head)
            sheet.add(Relation.CHILD, stack[-1].head, line.head)
        stack.append(line)


def _relate_affixes(sheet: _Sheet, draft: Draft) -> None:
    """Goal words that a word elsewhere starts or ends with ("starts with Ita")."""
    elsewhere: defaultdict[str, list[int]] = defaultdict(list)
    for i, token in enumerate(draft.tokens):
        if token.word and token.field != Field.GOAL and token.key.isalnum():
            elsewhere[token.key].append(i)
    for g, affix in enumerate(draft.goal_keys, start=1):
        if not affix.isalnum():
            continue
        for key, found in elsewhere.items():
            if affix not in key or affix == key:
                continue
            if key.startswith(affix):
                sheet.add_both(Relation.PREFIX, found, g)
            if key.endswith(affix):
                sheet.add_both(Relation.SUFFIX, found, g)


def _relate_matches(sheet: _Sheet, draft: Draft, matches: Matches) -> None:
    """Lines to what of the goal they repeat, and to the line they belong under."""
    for line, spans, anchor in zip(draft.lines, matches.spans, matches.anchors, strict=True):
        for span in spans:
            stretch = range(span.start, span.end)
            kind = Relation.VALUE_SPAN if span.is_value else Relation.SPAN
            sheet.add(kind, line.head, stretch)
            sheet.add(Relation.SPAN_OF, stretch, line.head)
        if anchor >= 0:
            sheet.add(Relation.UNDER, line.head, draft.lines[anchor].head)


def _relate_deeds(sheet: _Sheet, draft: Draft) -> None:
    """Actions and the lines they were done to, where these are still there."""
    heads = {line.node.mark: line.head for line in draft.lines if line.node.mark}
    for position, mark in draft.deeds:
        if mark in heads:
            sheet.add_both(Relation.ACTED, position, heads[mark])
