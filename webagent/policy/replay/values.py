"""What a recorded text is to be now: as the user says, as the goal says, or as it was."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from webagent.policy.replay.goals import Alignment, Words, align

_SPEAKS_OF_CASE = re.compile(r"\b(case|capital\w*|upper\w*|lower\w*)\b", re.IGNORECASE)
_CASES: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper, str.capitalize, str.title)


@dataclass(frozen=True, slots=True)
class Carried:
    """A recorded text as it is to be now, and how that is known."""

    text: str
    how: str
    """`given`, `goal` where the goal says it, `unsure` where the goal says it and it cannot be told
    what stands for it now, `elsewhere` where the goal does not say it."""

    @property
    def is_told(self) -> bool:
        """Whether it follows from the goal or from the user."""
        return self.how in ("given", "goal")


@dataclass(frozen=True, slots=True)
class Values:
    """Carries texts of a recording over to the task that is played now."""

    alignment: Alignment
    given: Mapping[str, str] = field(default_factory=dict)
    """Old texts to what the user wants in their place."""
    is_another_task: bool = False
    """Whether another seed or another goal is played, so that the page's own content differs."""

    @classmethod
    def between(
        cls, old: str, new: str, given: Mapping[str, str], *, is_another_task: bool
    ) -> "Values":
        """From the goal that was recorded to the one that is played."""
        return cls(align(old, new), dict(given), is_another_task or old != new)

    def carried(self, text: str) -> Carried:
        """What a text is to be that was typed, chosen or answered."""
        if text in self.given:
            return Carried(self.given[text], "given")
        found = self._by_goal(text)
        if found is not None:
            return found
        inside = self.within(text)
        return Carried(inside, "goal") if inside != text else Carried(text, "elsewhere")

    def within(self, text: str) -> str:
        """A longer text, such as an element's name, with what has changed in it put in place."""
        pairs = {**{each.old: each.new for each in self.alignment.changes}, **self.given}
        words, parts, done = Words.of(text), list[str](), 0
        for start, end, new in _places(words, pairs):
            at, to = words.places[start][0], words.places[end - 1][1]
            if at >= done:
                parts += [text[done:at], new]
                done = to
        return "".join([*parts, text[done:]])

    def unaccounted(self, texts: Iterable[str]) -> list[str]:
        """Parts of the goal that have changed and stand in none of the texts, each in words."""
        known = [Words.of(text) for text in (*texts, *self.given)]
        return [
            f"{change.old!r} is {change.new!r} now"
            for change in self.alignment.changes
            if not _is_said(Words.of(change.old), known)
        ]

    def _by_goal(self, text: str) -> Carried | None:
        if not Words.of(text).plain:
            return None
        found = self.alignment.counterparts(text)
        if not found:
            return None
        texts = {each for each in found if each is not None}
        if len(found) > 1 or None in found:
            return Carried(text, "unsure")
        new = texts.pop()
        old = self.alignment.old
        start = next(old.finds(Words.of(text).plain))
        said = old.cut(start, start + len(Words.of(text).plain))
        fitting = [case for case in _CASES if case(said) == text]
        made = {case(new) for case in fitting}
        if said == new or not fitting:
            return Carried(text if said == new else new, "goal" if said == new else "unsure")
        if len(made) > 1 and _SPEAKS_OF_CASE.search(old.text):
            return Carried(text, "unsure")
        return Carried(fitting[0](new), "goal")


def _places(words: Words, pairs: Mapping[str, str]) -> list[tuple[int, int, str]]:
    """Where old texts stand in a text, with what stands for them; longer ones first."""
    found = []
    for old, new in sorted(pairs.items(), key=lambda pair: -len(pair[0])):
        plain = Words.of(old).plain
        found += [(at, at + len(plain), new) for at in words.finds(plain)]
    return _apart(found)


def _apart(found: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    kept: list[tuple[int, int, str]] = []
    for start, end, new in found:
        if not any(start < to and at < end for at, to, _ in kept):
            kept.append((start, end, new))
    return sorted(kept)


def _is_said(change: Words, texts: Sequence[Words]) -> bool:
    """Whether every word of what has changed is in one of the texts, in its own surroundings."""
    if any(True for text in texts for _ in text.finds(change.plain)):
        return True
    said = {
        at + offset
        for text in texts
        for at in change.finds(text.plain)
        for offset in range(len(text.plain))
    }
    return all(i in said or not word.isalnum() for i, word in enumerate(change.plain))
