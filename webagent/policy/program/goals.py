"""Two goals laid beside each other, so that what stood in one is found in the other."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

_WORDS = re.compile(r"\w+|[^\w\s]")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|«[^»]*»')
_LEAST_ANCHOR = 2
"""So many words in both goals tell where the parts between belong; fewer may be chance."""

Block: TypeAlias = tuple[bool, int, int, int, int]
"""Whether it is the same in both; from and to in the old goal's words, from and to in the new."""


@dataclass(frozen=True, slots=True)
class WordSequence:
    """A text with the places of its words, punctuation marks included."""

    text: str
    plain: tuple[str, ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str) -> "WordSequence":
        """Return the words of a text; case is laid aside for comparing."""
        found = list(_WORDS.finditer(text))
        return cls(text, tuple(m[0].casefold() for m in found), tuple(m.span() for m in found))

    def cut(self, start: int, end: int) -> str:
        """Return the text from one word to before another, as it was written."""
        return self.text[self.places[start][0] : self.places[end - 1][1]] if end > start else ""

    def finds(self, words: Sequence[str]) -> Iterator[int]:
        """Yield where these words stand one after the other."""
        size = len(words)
        for start in range(len(self.plain) - size + 1 if size else 0):
            if self.plain[start : start + size] == tuple(words):
                yield start


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which part of the new goal stands for which part of the old one."""

    old: WordSequence
    new: WordSequence
    blocks: tuple[Block, ...]

    @property
    def is_complete(self) -> bool:
        """Whether every part of either goal has its counterpart in the other."""
        return all(a1 > a0 and b1 > b0 for _, a0, a1, b0, b1 in self.blocks)

    @property
    def changes(self) -> tuple[str, ...]:
        """The parts of the old goal that are others in the new one, in order."""
        return tuple(self.old.cut(a0, a1) for is_same, a0, a1, _, _ in self.blocks if not is_same)

    def counterparts(self, text: str) -> set[str | None]:
        """Return what the new goal says where the old one says this text; None where that is
        unknown. Empty where the old goal does not say it."""
        words = WordSequence.of(text).plain
        found: set[str | None] = set()
        for at in self.old.finds(words):
            first = self._carry_boundary(at, is_end=False)
            last = self._carry_boundary(at + len(words), is_end=True)
            found.add(None if first is None or last is None else self.new.cut(first, last))
        return found

    def _carry_boundary(self, place: int, *, is_end: bool) -> int | None:
        """Return where a boundary between two words of the old goal is in the new one."""
        for is_same, a0, a1, b0, b1 in self.blocks:
            if not (a0 < place <= a1 if is_end else a0 <= place < a1):
                continue
            if is_same or a1 - a0 == b1 - b0:
                return b0 + place - a0
            if place == (a1 if is_end else a0):
                return b1 if is_end else b0
        return None


def align(old: str, new: str) -> Alignment:
    """Return two goals beside each other: by what is quoted in them where they are the same else,
    by the words they share otherwise."""
    before, after = WordSequence.of(old), WordSequence.of(new)
    quoted = _align_by_quotes(before, after)
    if quoted is not None:
        return Alignment(before, after, quoted)
    matcher = SequenceMatcher(None, before.plain, after.plain, autojunk=False)
    blocks = [(tag == "equal", a0, a1, b0, b1) for tag, a0, a1, b0, b1 in matcher.get_opcodes()]
    found = Alignment(before, after, tuple(blocks))
    if found.is_complete:
        return found
    # Single words of both goals are made part of the change around them.
    merged: list[Block] = []
    for place, (is_same, a0, a1, b0, b1) in enumerate(blocks):
        is_inside = 0 < place < len(blocks) - 1
        kept = is_same and (a1 - a0 >= _LEAST_ANCHOR or not is_inside)
        if merged and not kept and not merged[-1][0]:
            merged[-1] = (False, merged[-1][1], a1, merged[-1][3], b1)
        else:
            merged.append((kept, a0, a1, b0, b1))
    return Alignment(before, after, tuple(merged))


def _align_by_quotes(old: WordSequence, new: WordSequence) -> tuple[Block, ...] | None:
    """Return the blocks of goals that differ in what they quote only; None for others."""
    before, after = _split_at_quotes(old), _split_at_quotes(new)
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


def _split_at_quotes(words: WordSequence) -> list[tuple[bool, int, int]]:
    """Return runs of words, quoted or not; the quotation marks themselves belong to what is not."""
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
