"""How alike texts are by their words, rare words weighing more."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

Compare: TypeAlias = Callable[[str], list[float]]
"""From a text to how alike each of the indexed ones is, at most 1."""

_WORD = re.compile(r"\w+")


def compare_by_words(texts: Sequence[str]) -> Compare:
    """Return cosine of word counts on a logarithmic scale, rare words weighing more."""
    counts = [Counter(_WORD.findall(text.lower())) for text in texts]
    documents = Counter(word for each in counts for word in each)
    rarity = {word: math.log(1 + len(texts) / n) for word, n in documents.items()}
    unseen = math.log(1 + len(texts)) if texts else 1.0
    vectors = [_weigh(each, rarity, unseen) for each in counts]

    def compare(text: str) -> list[float]:
        query = _weigh(Counter(_WORD.findall(text.lower())), rarity, unseen)
        return [
            math.fsum(value * vector[word] for word, value in query.items() if word in vector)
            for vector in vectors
        ]

    return compare


def _weigh(
    counts: Mapping[str, int], rarity: Mapping[str, float], unseen: float
) -> dict[str, float]:
    """Return a vector of length 1 by word; none for a text without words."""
    raw = {w: (1 + math.log(n)) * rarity.get(w, unseen) for w, n in counts.items()}
    length = math.sqrt(math.fsum(value * value for value in raw.values()))
    return {word: value / length for word, value in raw.items()} if length else {}
