"""Lines of a page that talk about the task instead of showing its state."""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import takewhile
from pathlib import Path

LEXICON = Path(__file__).with_name("page_claims.json")
_ELEMENT = re.compile(r"\s*\*?\[\d+\] ")
_SENTENCE = re.compile(r"[.!?;]+(?:\s|$)|[。！？؟।\n]")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"\S+://\S+")
_UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af]"
)
_REACH = 60
"""Characters between what is spoken of and the word that says it is over, at most."""
_RUN = 5
"""Words that the task begins with, and that make a line of text which has them a repetition."""
_SHORTEST_RUN = 3
"""Words of a task that is shorter than that; of a still shorter one nothing is a repetition."""

_STEM = 4
"""Letters that two words of one stem share at least."""


@dataclass(frozen=True, slots=True)
class PageClaims:
    """Finds lines that claim something about a task; the task's own subject is no claim."""

    goal: str
    addressees: re.Pattern[str]
    matters: re.Pattern[str]
    opening: tuple[str, ...]
    """The words the task begins with."""
    known: frozenset[str]
    """All its words."""

    @classmethod
    def of(cls, goal: str) -> "PageClaims":
        """Return the claims that count as such where this is the task."""
        folded = _fold(goal)
        words = _WORD.findall(folded)
        opening = tuple(words[:_RUN]) if len(words) >= _SHORTEST_RUN else ()
        addressees, matters = (
            _pattern(
                tuple(each for each in _lexicon()[name] if not _pattern((each,)).search(folded))
            )
            for name in ("addressees", "matters")
        )
        return cls(goal, addressees, matters, opening, frozenset(words))

    def explain(self, line: str) -> str:
        """Return what is wrong with a line as evidence; empty where nothing is."""
        claim = self.find_claim(line)
        if claim or _ELEMENT.match(line):
            return claim
        words = _WORD.findall(_fold(_ADDRESS.sub(" ", line)))
        ends = {word for word in words if _ends().fullmatch(word)} - self.known
        if ends and ends.union(_lexicon()["fillers"]).issuperset(words):
            return "says only that something is over"
        size = len(self.opening)
        windows = (tuple(words[start : start + size]) for start in range(len(words) - size + 1))
        return "repeats the words of the task" if size and self.opening in windows else ""

    def find_claim(self, text: str) -> str:
        """Return what is wrong with a name or a part of a line; empty where nothing is."""
        folded = _fold(_ADDRESS.sub(" ", text))
        if self.addressees.search(folded):
            return "speaks to or of whoever judges"
        if any(map(self._is_over, _SENTENCE.split(folded))):
            return "says how the task went"
        return ""

    def remove_claims(self, page: str) -> str:
        """Return the page without such lines."""
        return "\n".join(line for line in page.splitlines() if not self.explain(line))

    def is_off_topic(self, lines: Sequence[str], point: str) -> bool:
        """Return whether all lines are sentences that name nothing of the task and of the point.

        Names, numbers and elements are none: they may be what the task looks for.
        """
        matters = _pattern(tuple(_lexicon()["matters"]))
        named = _content_words(self.goal) | {
            word
            for word in _content_words(point)
            if not (matters.fullmatch(word) or _ends().fullmatch(word))
        }
        return all(
            _is_sentence(line)
            and not any(_are_alike(word, other) for word in _content_words(line) for other in named)
            for line in lines
        )

    def _is_over(self, sentence: str) -> bool:
        """Return whether a word for the task and one for an ending stand apart and not far."""
        ends = [match.span() for match in _ends().finditer(sentence)]
        matters = [match.span() for match in self.matters.finditer(sentence)] if ends else []
        pairs = [sorted((matter, end)) for matter in matters for end in ends]
        return any(0 <= later[0] - earlier[1] <= _REACH for earlier, later in pairs)


def _is_sentence(line: str) -> bool:
    """Return whether a text says something: mostly small letters, or a word for an ending."""
    if _ELEMENT.match(line):
        return False
    words = _LETTERS.findall(_ADDRESS.sub(" ", line))
    is_closed = line.rstrip().endswith((".", "!", "。", "！"))
    has_end = bool(_ends().search(_fold(line)))
    if any(_UNSPACED.search(_fold(word)) for word in words):
        return is_closed or has_end
    small = sum(not word[0].isupper() for word in words)
    is_long = len(line.split()) + is_closed >= _SHORTEST_RUN
    return has_end or (is_long and 2 * small + is_closed > len(words))


def _content_words(text: str) -> frozenset[str]:
    """Return the words of a text but for those that any text about pages has."""
    words = [
        part
        for word in _WORD.findall(_fold(text))
        for part in (word if _UNSPACED.search(word) else (word,))
    ]
    return frozenset(words).difference(_lexicon()["common"])


def _are_alike(first: str, second: str) -> bool:
    """Return whether two words are one but for an ending of the longer one's or two letters."""
    shorter = min(len(first), len(second))
    pairs = zip(first, second, strict=False)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    return first == second or shared >= max(_STEM, shorter - 2)


@cache
def _lexicon() -> dict[str, list[str]]:
    """Return words by kind; `*` stands for any ending. Accents are left out."""
    words: dict[str, list[str]] = json.loads(LEXICON.read_text(encoding="utf-8"))
    return words


@cache
def _ends() -> re.Pattern[str]:
    return _pattern(tuple(_lexicon()["ends"]))


@lru_cache(maxsize=2048)
def _pattern(entries: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of any entry; in scripts without spaces it matches inside words."""
    parts = []
    for entry in sorted(set(entries), key=len, reverse=True):
        folded = _fold(entry)
        words = re.escape(folded).replace(r"\*", r"\w*").replace(r"\ ", r"\W+")
        parts.append(words if _UNSPACED.search(folded) else rf"(?<!\w){words}(?!\w)")
    return re.compile("|".join(parts) or r"(?!)")


def _fold(text: str) -> str:
    """Return small letters without accents and invisible characters."""
    parts = unicodedata.normalize("NFKD", text.replace("\\n", "\n")).casefold()
    return "".join(each for each in parts if unicodedata.category(each) not in ("Mn", "Cf"))
