"""How alike short texts are, without a model: weighted words, and words that keep company."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

_WORDS = """
a about after again all also an and any are as at be been before but by can could did do does doing
done for from get got had has have he her his how i if in into is it its itself just me more most my
no not of on once one only or other our out over own really same she should so some still such than
that the their them then there these they this those through to too up very was we were what when
where which while who why will with would you your agent bot didn't don't doesn't wasn't even though
because instead
"""
_COMMON = frozenset(_WORDS.split())
_ENDINGS = ("ingly", "edly", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s")


def terms(text: str) -> list[str]:
    """The words that say something, without their endings."""
    words = re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.casefold().replace("’", "'"))
    return [stem(word) for word in words if word not in _COMMON]


def stem(word: str) -> str:
    """The word without an English ending, where enough of it is left."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            rest = word[: -len(ending)]
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


@dataclass(frozen=True, slots=True)
class Vectors:
    """Texts as unit vectors over the terms of those that they were fitted to."""

    vocabulary: dict[str, int]
    weights: Array
    """Inverse document frequency of each term."""

    @classmethod
    def fitted(cls, texts: Sequence[str]) -> "Vectors":
        """With the terms of these texts and how rare they are (Spärck Jones, 1972, smoothed)."""
        held = [set(terms(text)) for text in texts]
        counts = Counter(term for theirs in held for term in theirs)
        vocabulary = {term: i for i, term in enumerate(sorted(counts))}
        rare = [np.log((1 + len(texts)) / (1 + counts[term])) + 1 for term in vocabulary]
        return cls(vocabulary, np.array(rare, dtype=np.float64))

    def of(self, texts: Sequence[str]) -> Array:
        """(texts, terms), each of length one; zeros for a text without a known term."""
        found = np.zeros((len(texts), len(self.vocabulary)))
        for row, text in enumerate(texts):
            for term, count in Counter(terms(text)).items():
                if term in self.vocabulary:
                    column = self.vocabulary[term]
                    found[row, column] = (1 + np.log(count)) * self.weights[column]
        return unit(found)


def unit(rows: Array) -> Array:
    """Each row at length one; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))
