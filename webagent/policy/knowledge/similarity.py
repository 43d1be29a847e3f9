"""How alike texts are: by their words, or by the vectors a model gives them."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from webagent.errors import SetupError

Compare: TypeAlias = Callable[[str], list[float]]
"""From a text to how alike each of the indexed ones is, at most 1."""
Index: TypeAlias = Callable[[Sequence[str]], Compare]
"""From texts to what compares with them."""
Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""From texts to vectors of one length, a vector for each."""

_WORD = re.compile(r"\w+")


def compare_by_words(texts: Sequence[str]) -> Compare:
    """Return cosine of word counts on a logarithmic scale, rare words weighing more."""
    counts = [_words(text) for text in texts]
    documents = Counter(word for each in counts for word in each)
    rarity = {word: math.log(1 + len(texts) / n) for word, n in documents.items()}
    unseen = math.log(1 + len(texts)) if texts else 1.0
    vectors = [_weighed(each, rarity, unseen) for each in counts]

    def compare(text: str) -> list[float]:
        query = _weighed(_words(text), rarity, unseen)
        return [
            math.fsum(value * vector[word] for word, value in query.items() if word in vector)
            for vector in vectors
        ]

    return compare


def compare_by_embedding(embed: Embed) -> Index:
    """Return cosine of the vectors that `embed` gives.

    What compares raises `SetupError` when it gives vectors of different lengths, or too few.
    """

    def index(texts: Sequence[str]) -> Compare:
        vectors = _vectors(embed, texts) if texts else []
        lengths = [_length(vector) for vector in vectors]

        def compare(text: str) -> list[float]:
            if not vectors:
                return []
            (query,) = _vectors(embed, [text])
            if len(query) != len(vectors[0]):
                raise SetupError(
                    f"embeddings of {len(vectors[0])} numbers and of {len(query)}; expected one"
                    " model for all"
                )
            length = _length(query)
            cosines = []
            for vector, other in zip(vectors, lengths, strict=True):
                product = math.fsum(x * y for x, y in zip(query, vector, strict=True))
                cosines.append(product / (length * other) if length * other else 0.0)
            return cosines

        return compare

    return index


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


def _weighed(
    counts: Mapping[str, int], rarity: Mapping[str, float], unseen: float
) -> dict[str, float]:
    """Return a vector of length 1 by word; none for a text without words."""
    raw = {w: (1 + math.log(n)) * rarity.get(w, unseen) for w, n in counts.items()}
    length = _length(raw.values())
    return {word: value / length for word, value in raw.items()} if length else {}


def _vectors(embed: Embed, texts: Sequence[str]) -> list[Sequence[float]]:
    vectors = list(embed(texts))
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1:
        raise SetupError(
            f"{len(texts)} texts were embedded as {len(vectors)} vectors of lengths"
            f" {sorted({len(vector) for vector in vectors})}; expected one vector a text, all of"
            " one length"
        )
    return vectors


def _length(vector: Iterable[float]) -> float:
    return math.sqrt(math.fsum(value * value for value in vector))
