"""Grammars, followed by llguidance with masks in numpy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webagent.errors import ModelError
from webagent.models.constrain.trie import refusal
from webagent.models.constrain.vocabulary import Vocabulary


def parse_grammar(text: str, vocabulary: Vocabulary) -> Any:
    """llguidance's own matcher at the beginning of a reply, to be copied for each.

    Raises `ModelError` with the reason for a grammar it refuses, `SetupError` where it is not
    installed or the tokenizer does not suit it.
    """
    known = vocabulary.guidance
    from llguidance import LLMatcher

    start = LLMatcher(known, LLMatcher.grammar_from_lark(text), log_level=0)
    if start.is_error():
        raise ModelError(f"llguidance refuses the grammar: {_reason(start)}")
    return start


class GrammarMatcher:
    """Follows one reply through a grammar."""

    def __init__(self, start: Any, vocabulary: Vocabulary, width: int) -> None:
        self._matcher = start.deep_copy()
        self._vocabulary = vocabulary
        self._width = width
        self._mask: NDArray[np.bool_] | None = None
        self._is_complete = False

    def mask(self) -> NDArray[np.bool_]:
        """Which ids may come next, (width,); none once the reply has ended.

        Raises `ModelError` where the grammar demands what the tokenizer cannot spell.
        """
        return self._current().copy()

    def _current(self) -> NDArray[np.bool_]:
        if self._mask is None:
            self._mask = self._computed()
        return self._mask

    def _computed(self) -> NDArray[np.bool_]:
        allowed = np.zeros(self._width, dtype=np.bool_)
        if self._is_complete:
            return allowed
        packed = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        if self._matcher.is_error():
            raise ModelError(f"llguidance gave up: {_reason(self._matcher)}")
        bits = np.unpackbits(packed, count=self._vocabulary.size, bitorder="little")
        fitting = bits.copy()
        fitting[self._vocabulary.oversized] = 0
        bits = fitting if fitting.any() else bits
        shared = min(self._width, len(bits))
        allowed[:shared] = bits[:shared]
        if not allowed.any():
            raise ModelError(
                "the grammar demands what no id spells: the tokenizer of"
                f" {self._vocabulary.name} stands before a dead end"
            )
        return allowed

    def accept(self, token: int) -> None:
        """The id that came. Raises `ModelError` for one that may not."""
        if not 0 <= token < self._width or not self._current()[token]:
            raise ModelError(refusal(token, self._is_complete))
        self._mask = None
        if token in self._vocabulary.ends:
            self._is_complete = True
        elif not self._matcher.consume_token(token):
            raise ModelError(f"llguidance gave up: {_reason(self._matcher)}")

    @property
    def is_complete(self) -> bool:
        """Whether the reply has ended."""
        return self._is_complete


def _reason(matcher: Any) -> str:
    return " ".join(matcher.get_error().split())
