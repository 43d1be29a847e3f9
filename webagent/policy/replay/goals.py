"""Two goals laid beside each other, so that what stood in one is found in the other."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TypeAlias

_WORDS = re.compile(r"\w+|[^\w\s]")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|«[^»]*»')
_LEAST_ANCHOR = 2
"""So many words in both goals tell where the parts between belong; fewer may be chance."""

Block: TypeAlias = tuple[bool, int, int, int, int]
"""Whether it is the same in both; from and to in the old goal's words, from and to in the new."""
_SPEAKS_OF_CASE = re.compile(r"\b(case|capital\w*|upper\w*|lower\w*)\b", re.IGNORECASE)
_CASES: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper, str.capitalize, str.title)


@dataclass(frozen=True, slots=True)
class GoalChange:
    """A part of the goal that is another one now."""

    old: str
    new: str


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
    def changes(self) -> tuple[GoalChange, ...]:
        """What is different, in the order of the old goal."""
        return tuple(
            GoalChange(self.old.cut(a0, a1), self.new.cut(b0, b1))
            for is_same, a0, a1, b0, b1 in self.blocks
            if not is_same
        )

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


@dataclass(frozen=True, slots=True)
class CarriedText:
    """A recorded text as it is to be now, and how that is known."""

    text: str
    how: str
    """`given`, `goal` where the goal says it, `unsure` where the goal has it and it is unknown what
    stands for it now, `elsewhere` where the goal does not say it."""

    @property
    def is_known(self) -> bool:
        """Whether it follows from the goal or from the user."""
        return self.how in ("given", "goal")


@dataclass(frozen=True, slots=True)
class ValueMapping:
    """Carries texts of a recording over to the task that is played now."""

    alignment: Alignment
    given: Mapping[str, str] = field(default_factory=dict)
    """Old texts to what the user wants in their place."""
    is_another_task: bool = False
    """Whether another seed or another goal is played, so that the page's own content differs."""

    @classmethod
    def between(
        cls, old: str, new: str, given: Mapping[str, str], *, is_another_task: bool
    ) -> "ValueMapping":
        """Return the mapping from the goal that was recorded to the one that is played."""
        return cls(align(old, new), dict(given), is_another_task or old != new)

    def carry(self, text: str) -> CarriedText:
        """Return what a text is to be that was typed, chosen or answered."""
        if text in self.given:
            return CarriedText(self.given[text], "given")
        found = self.alignment.counterparts(text)
        if not found:
            inside = self.replace_in(text)
            return CarriedText(inside, "goal" if inside != text else "elsewhere")
        new = found.pop()
        if found or new is None:
            return CarriedText(text, "unsure")
        words, old = WordSequence.of(text).plain, self.alignment.old
        start = next(old.finds(words))
        recorded = old.cut(start, start + len(words))
        if recorded == new:
            return CarriedText(text, "goal")
        fitting = [case for case in _CASES if case(recorded) == text]
        if not fitting:
            return CarriedText(new, "unsure")
        if len({case(new) for case in fitting}) > 1 and _SPEAKS_OF_CASE.search(old.text):
            return CarriedText(text, "unsure")
        return CarriedText(fitting[0](new), "goal")

    def replace_in(self, text: str) -> str:
        """Return a longer text, such as an element's name, with what has changed in it."""
        pairs = {**{each.old: each.new for each in self.alignment.changes}, **self.given}
        words, parts, done = WordSequence.of(text), list[str](), 0
        replacements: list[tuple[int, int, str]] = []
        for old, new in sorted(pairs.items(), key=lambda pair: -len(pair[0])):
            plain = WordSequence.of(old).plain
            for start in words.finds(plain):
                end = start + len(plain)
                if not any(start < to and at < end for at, to, _ in replacements):
                    replacements.append((start, end, new))
        for start, end, new in sorted(replacements):
            at, to = words.places[start][0], words.places[end - 1][1]
            if at >= done:
                parts += [text[done:at], new]
                done = to
        return "".join([*parts, text[done:]])

    def list_missing(self, texts: Iterable[str]) -> list[str]:
        """Return in words what has changed in the goal and stands in none of the texts."""
        known = [WordSequence.of(text) for text in (*texts, *self.given)]
        missing = []
        for change in self.alignment.changes:
            old = WordSequence.of(change.old)
            if any(True for text in known for _ in text.finds(old.plain)):
                continue
            # Every word of it may be in one of the texts, too, in its own surroundings.
            covered = {
                at + offset
                for text in known
                for at in old.finds(text.plain)
                for offset in range(len(text.plain))
            }
            if any(i not in covered and word.isalnum() for i, word in enumerate(old.plain)):
                missing.append(f"{change.old!r} is {change.new!r} now")
        return missing
