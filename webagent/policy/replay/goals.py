"""Two goals laid beside each other, so that what stood in one is found in the other."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

_WORDS = re.compile(r"\w+|[^\w\s]")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|«[^»]*»')
_LEAST_ANCHOR = 2
"""Words that stand in both goals tell where the parts between them belong; fewer may do so by
chance."""

Block: TypeAlias = tuple[bool, int, int, int, int]
"""Whether it is the same in both; from and to in the old goal's words, from and to in the new."""


@dataclass(frozen=True, slots=True)
class Change:
    """A part of the goal that is another one now."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Words:
    """A text with the places of its words, punctuation marks included."""

    text: str
    plain: tuple[str, ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str) -> "Words":
        """The words of a text; case is laid aside for comparing."""
        found = list(_WORDS.finditer(text))
        return cls(text, tuple(m[0].casefold() for m in found), tuple(m.span() for m in found))

    def cut(self, start: int, end: int) -> str:
        """The text from one word to before another, as it was written."""
        return self.text[self.places[start][0] : self.places[end - 1][1]] if end > start else ""

    def finds(self, words: Sequence[str]) -> Iterator[int]:
        """Where these words stand one after the other."""
        size = len(words)
        for start in range(len(self.plain) - size + 1 if size else 0):
            if self.plain[start : start + size] == tuple(words):
                yield start


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which part of the new goal stands for which part of the old one."""

    old: Words
    new: Words
    blocks: tuple[Block, ...]

    @property
    def is_sure(self) -> bool:
        """Whether every part of either goal has its counterpart in the other."""
        return all(a1 > a0 and b1 > b0 for _, a0, a1, b0, b1 in self.blocks)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What is different, in the order of the old goal."""
        return tuple(
            Change(self.old.cut(a0, a1), self.new.cut(b0, b1))
            for is_same, a0, a1, b0, b1 in self.blocks
            if not is_same
        )

    def counterparts(self, text: str) -> set[str | None]:
        """What the new goal says where the old one says this text; None where that cannot be told.
        Empty where the old goal does not say it."""
        words = Words.of(text).plain
        return {self._carried(at, at + len(words)) for at in self.old.finds(words)}

    def _carried(self, start: int, end: int) -> str | None:
        first, last = self._edge(start, is_end=False), self._edge(end, is_end=True)
        return None if first is None or last is None else self.new.cut(first, last)

    def _edge(self, place: int, *, is_end: bool) -> int | None:
        """Where a boundary between two words of the old goal is in the new one."""
        for is_same, a0, a1, b0, b1 in self.blocks:
            if not (a0 < place <= a1 if is_end else a0 <= place < a1):
                continue
            if is_same or a1 - a0 == b1 - b0:
                return b0 + place - a0
            if place == (a1 if is_end else a0):
                return b1 if is_end else b0
        return None


def align(old: str, new: str) -> Alignment:
    """Lay two goals beside each other: by what is quoted in them where they are the same else, by
    the words they share otherwise."""
    before, after = Words.of(old), Words.of(new)
    quoted = _by_quotes(before, after)
    if quoted is not None:
        return Alignment(before, after, quoted)
    matcher = SequenceMatcher(None, before.plain, after.plain, autojunk=False)
    blocks = [(tag == "equal", a0, a1, b0, b1) for tag, a0, a1, b0, b1 in matcher.get_opcodes()]
    found = Alignment(before, after, tuple(blocks))
    return found if found.is_sure else Alignment(before, after, _merged(found.blocks))


def _by_quotes(old: Words, new: Words) -> tuple[Block, ...] | None:
    """The blocks where the goals differ in what they quote only; None where they do in more."""
    before, after = _split(old), _split(new)
    if len(before) != len(after) or len(before) == 1:
        return None
    blocks: list[Block] = []
    for (quoted, a0, a1), (also, b0, b1) in zip(before, after, strict=True):
        same = old.plain[a0:a1] == new.plain[b0:b1]
        if quoted != also or (not quoted and not same):
            return None
        if a1 > a0 or b1 > b0:
            blocks.append((same, a0, a1, b0, b1))
    return tuple(blocks)


def _split(words: Words) -> list[tuple[bool, int, int]]:
    """Runs of words, quoted or not; the quotation marks themselves belong to what is not."""
    parts: list[tuple[bool, int, int]] = []
    done = 0
    for quote in _QUOTED.finditer(words.text):
        start, end = quote.span()
        inside = [i for i, (at, to) in enumerate(words.places) if at > start and to < end]
        opening = next(i for i, (at, _) in enumerate(words.places) if at == start)
        first, last = (inside[0], inside[-1] + 1) if inside else (opening + 1, opening + 1)
        parts += [(False, done, first), (True, first, last)]
        done = last
    return [*parts, (False, done, len(words.plain))]


def _merged(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """With single words that stand in both goals made part of what has changed around them."""
    made: list[Block] = []
    for place, (is_same, a0, a1, b0, b1) in enumerate(blocks):
        is_inside = 0 < place < len(blocks) - 1
        kept = is_same and (a1 - a0 >= _LEAST_ANCHOR or not is_inside)
        if made and not kept and not made[-1][0]:
            made[-1] = (False, made[-1][1], a1, made[-1][3], b1)
        else:
            made.append((kept, a0, a1, b0, b1))
    return tuple(made)
