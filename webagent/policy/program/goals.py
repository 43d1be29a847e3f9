"""Two goals laid beside each other, so that what stood in one is found in the other."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

QUOTED = re.compile(r'"[^"]*"|“[^”]*”|«[^»]*»')
_WORDS = re.compile(rf"{QUOTED.pattern}|\w+|[^\w\s]")
_LEAST_ANCHOR = 2
"""So many words in both goals tell where the parts between belong; fewer may be chance."""

Block: TypeAlias = tuple[bool, int, int, int, int]
"""Whether it is the same in both; from and to in the old goal's words, from and to in the new."""


@dataclass(frozen=True, slots=True)
class WordSequence:
    """A text with the places of its words; punctuation marks are some, what is quoted is one."""

    text: str
    plain: tuple[str, ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str) -> "WordSequence":
        """Return the words of a text; case is laid aside for comparing."""
        places = list[tuple[int, int]]()
        for start, end in (found.span() for found in _WORDS.finditer(text)):
            is_quoted = QUOTED.fullmatch(text, start, end) and end - start > 2
            inner = (start + 1, end - 1)
            places += [(start, inner[0]), inner, (inner[1], end)] if is_quoted else [(start, end)]
        return cls(text, tuple(text[a:b].casefold() for a, b in places), tuple(places))

    def cut(self, start: int, end: int) -> str:
        """Return the text from one word to before another, as it was written."""
        return self.text[self.places[start][0] : self.places[end - 1][1]] if end > start else ""

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield from which word to before which a text stands."""
        starts, ends = zip(*self.places, strict=True) if self.places else ((), ())
        for found in re.finditer(re.escape(text), self.text, re.IGNORECASE):
            if found.start() in starts and found.end() in ends:
                yield starts.index(found.start()), ends.index(found.end()) + 1


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
        found: set[str | None] = set()
        for start, end in self.old.find(text):
            first = self._carry_boundary(start, is_end=False)
            last = self._carry_boundary(end, is_end=True)
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
    """Return two goals beside each other, by the words they share."""
    before, after = WordSequence.of(old), WordSequence.of(new)
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
