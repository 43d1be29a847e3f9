"""Goals as words: what is asked for, which values it names, how alike two of them are."""

import re
from collections.abc import Iterator

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)|«([^»]+)»")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME = re.compile(r"(?<![.?!:]\s)(?<!^)(?<![\"“'«])\b[A-Z][\w-]*(?:\s+[A-Z][\w-]*)*")
_STOP = frozenset(
    """
    a an and any are as at be by can could do for from has have i if in into is it its kindly like
    me my of on onto or our please so some such than that the their them then there these they this
    those to under up via want was were where which will with would you your
    """.split()  # noqa: SIM905
)
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", ""))


def words(text: str) -> list[str]:
    """The words in lower case, in order."""
    return [word.casefold() for word in _WORD.findall(text)]


def stem(word: str) -> str:
    """The word without a plural's or a verb's ending, roughly."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return (word[: -len(ending)] + instead).rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


def content(text: str) -> frozenset[str]:
    """The words that carry meaning, by their stems."""
    return frozenset(stem(word) for word in words(text) if word not in _STOP)


def values(text: str) -> frozenset[str]:
    """What a goal names exactly, in lower case: quoted words, numbers and names."""
    quoted = ["".join(groups) for groups in _QUOTED.findall(text)]
    rest = _QUOTED.sub(" ", text)
    found = [*quoted, *_NUMBER.findall(rest), *(match[0] for match in _NAME.finditer(rest))]
    return frozenset(" ".join(value.casefold().split()) for value in found)


def shingles(text: str, size: int = 4) -> frozenset[str]:
    """Runs of letters over the meaningful words, which forgive endings and order of phrases."""
    kept = [stem(word) for word in words(text) if word not in _STOP]
    return frozenset(run for word in kept for run in _runs(f" {word} ", size))


def likeness(one: str, other: str) -> float:
    """How alike two goals are, 0 to 1: by common words or common runs of letters (Jaccard),
    whichever sees more, or where one holds nearly all of the other by that share."""
    first, second = content(one), content(other)
    if not first or not second:
        return float(one.casefold().split() == other.casefold().split())
    held = len(first & second) / min(len(first), len(second))
    return max(
        _jaccard(first, second),
        _jaccard(shingles(one), shingles(other)),
        held - 0.2 if min(len(first), len(second)) >= 4 else 0.0,
    )


def _runs(text: str, size: int) -> Iterator[str]:
    for start in range(max(1, len(text) - size + 1)):
        yield text[start : start + size]


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0
