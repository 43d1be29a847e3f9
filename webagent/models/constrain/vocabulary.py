"""What one tokenizer can spell, and with which ids."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webagent.errors import SetupError

_MOST_BYTES = 32
_UTF8_BYTES = (*range(0xC0), *range(0xC2, 0xF5))
"""Every byte that occurs in text."""


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer's ids, apart from those that mark something and are no text."""

    tokenizer: Any
    ends: tuple[int, ...]
    """The ids of which each ends a reply."""

    @cached_property
    def size(self) -> int:
        """One more than the highest id."""
        return max(len(self.tokenizer), *(id + 1 for id in (*self._added, *self.ends)))

    @cached_property
    def _added(self) -> dict[int, Any]:
        return dict(getattr(self.tokenizer, "added_tokens_decoder", {}))

    @cached_property
    def marks(self) -> frozenset[int]:
        """Ids that stand for no text of a reply: `<image>`, turns of the chat, tool calls.

        Whatever was added to the vocabulary by name counts, but for runs of white space.
        """
        named = {id for id, token in self._added.items() if str(token).replace("▁", " ").strip()}
        return frozenset(named | set(self.tokenizer.all_special_ids) | set(self.ends))

    def spell(self, texts: Sequence[str]) -> list[list[int]]:
        """The canonical ids of each text, none of them a mark, as if it were typed.

        Raises `SetupError` for a text that the ids do not give back.
        """
        spelled = self._encode(texts)
        for place, ids in enumerate(spelled):
            if not self.marks.isdisjoint(ids):
                pieces = self._encode(self._apart(texts[place]))
                spelled[place] = [id for piece in pieces for id in piece]
        written = self.tokenizer.batch_decode(
            spelled, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        for text, ids, back in zip(texts, spelled, written, strict=True):
            if back != text or not self.marks.isdisjoint(ids):
                raise SetupError(
                    f"the tokenizer of {self.name} cannot spell {text!r}: its ids read {back!r};"
                    " constrained replies need a model whose tokenizer knows every text, one that"
                    " is byte-level or falls back to bytes"
                )
        return spelled

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded = self.tokenizer(list(texts), add_special_tokens=False, split_special_tokens=True)
        return [list(ids) for ids in encoded["input_ids"]]

    def _apart(self, text: str) -> list[str]:
        """The text in pieces of which none holds the name of a mark."""
        names = sorted((str(self._added[id]) for id in self.marks & set(self._added)), key=len)
        found = re.search("|".join(map(re.escape, reversed(names))), text) if names else None
        if found is None or len(found[0]) < 2:
            return [text]
        middle = found.start() + 1
        return [text[:middle], *self._apart(text[middle:])]

    @property
    def name(self) -> str:
        """What to call the tokenizer in a message."""
        return getattr(self.tokenizer, "name_or_path", "") or type(self.tokenizer).__name__

    @cached_property
    def guidance(self) -> Any:
        """The tokenizer as llguidance knows it.

        Raises `SetupError` when that is not installed, or the tokenizer cannot spell every byte.
        """
        try:
            from llguidance import LLTokenizer
        except ImportError as error:
            raise SetupError(
                "a grammar needs llguidance; install it with: pip install 'webagent-loop[llm]'"
            ) from error
        try:
            known = LLTokenizer(
                self._description(), n_vocab=self.size, eos_token=list(self.ends), slices=_SLICES
            )
        except (ValueError, AttributeError) as error:
            raise SetupError(self._unfit(str(error))) from error
        missing = [
            byte
            for byte in _UTF8_BYTES
            if known.decode_bytes(known.tokenize_bytes(bytes([byte]))) != bytes([byte])
        ]
        if missing:
            raise SetupError(self._unfit(f"no token for {_bytes_in_words(missing)}"))
        return known

    @cached_property
    def oversized(self) -> NDArray[np.int64]:
        """The ids that a grammar leaves to shorter ones: they spell more than 32 bytes, mostly of
        white space, so that text within n tokens would have no bound in characters."""
        spelled = (self.guidance.decode_bytes([id]) for id in range(self.guidance.vocab_size))
        lengths = np.fromiter((len(each) for each in spelled), dtype=np.int64)
        return np.flatnonzero(lengths > _MOST_BYTES)

    def _description(self) -> str:
        """The tokenizer's file, with every mark declared as one."""
        described = json.loads(self.tokenizer.backend_tokenizer.to_str())
        described |= {"padding": None, "truncation": None}
        for token in described["added_tokens"]:
            token["special"] = token["id"] in self.marks
        return json.dumps(described)

    def _unfit(self, why: str) -> str:
        return (
            f"the tokenizer of {self.name} cannot be held to a grammar ({why}); use a model whose"
            " tokenizer is a fast one, byte-level or with a fallback to bytes"
        )


_MANY = ("{1,10}", "{1,30}", "+")
_PLAIN, _TEXT = r"[ !#-;=-\[\]-~]", r'[^"\\<\x00-\x1F\x7F]'
_SLICES = [r"[ \n\r\t]+", *(kind + many for kind in (_PLAIN, _TEXT) for many in _MANY)]
"""Kinds of tokens that are allowed or refused together, in a third of the time of the usual kinds:
those take `<` along, which free text may not hold before a slash, and ASCII with all the rest."""


def _bytes_in_words(missing: Sequence[int]) -> str:
    shown = ", ".join(repr(chr(byte)) if byte < 0x80 else f"0x{byte:02x}" for byte in missing[:6])
    return f"{shown} and {len(missing) - 6} more bytes" if len(missing) > 6 else shown
