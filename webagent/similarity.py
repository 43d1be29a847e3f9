"""Texts as TF-IDF vectors of their words."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

Array: TypeAlias = NDArray[np.float64]
Split: TypeAlias = Callable[[str], Sequence[str]]
"""From a text to the terms that count in it."""


class TermVectors:
    """Texts as TF-IDF vectors of length one over the terms of the texts it was fitted to.

    Counts are on a logarithmic scale and document frequencies smoothed, as in scikit-learn.
    """

    def __init__(self, texts: Sequence[str], split: Split) -> None:
        self._vectorizer = _fit(texts, split) if any(map(split, texts)) else None

    def transform(self, texts: Sequence[str]) -> Array:
        """Return (texts, terms); a text without a known term is all zeros."""
        if self._vectorizer is None:
            return np.zeros((len(texts), 0))
        return np.asarray(self._vectorizer.transform(texts).toarray(), dtype=np.float64)


def _fit(texts: Sequence[str], split: Split) -> "TfidfVectorizer":
    # Imported here: scikit-learn takes over a second to load, and few commands compare texts.
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer=split, sublinear_tf=True).fit(texts)


def normalize_rows(rows: Array) -> Array:
    """Return each row at length one; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))
