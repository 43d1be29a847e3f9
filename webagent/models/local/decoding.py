"""Forward passes over many replies at once, each with keys and values of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache

from webagent.errors import ModelError
from webagent.models.local.cache import (
    CacheSlice,
    PrefixCache,
    assemble,
    columns_of,
    copy_slice,
    new_cache,
    pairs_of,
    shorten,
)
from webagent.models.local.prompts import EncodedPrompt
from webagent.models.local.requests import ReplyRow, sample_tokens
from webagent.models.local.source import Generation
from webagent.models.local.weights import LoadedWeights

_ROOM = 256
"""Columns allocated ahead when replies join."""
_NO_ID = (
    "no id can be sampled: the logits are not numbers, or the constraint allows none of the ids"
    " that the model knows; check the weights (a smaller dtype may overflow) and the constraint"
)


@dataclass(frozen=True, slots=True)
class Joining:
    """Rows whose prompt has been read and whose first id is sampled."""

    rows: list[ReplyRow]
    piece: CacheSlice


class Decoder:
    """The batch: its rows, aligned at the right in one cache."""

    def __init__(self, weights: LoadedWeights, settings: Generation) -> None:
        self._weights = weights
        self._cache: Cache | None = None
        self.prefixes = PrefixCache(settings.prefix_entries, settings.prefix_bytes)
        self.rows: list[ReplyRow] = []
        self.passes = 0
        """Forward passes so far."""

    @torch.no_grad()
    def read(self, rows: list[ReplyRow]) -> Joining:
        """Read the prompt of these rows once, and say the first id of each."""
        row = rows[0]
        encoded = _encode_so_far(row)
        cache, start = new_cache(), 0
        if known := self.prefixes.longest(encoded.keys):
            start = encoded.whole(len(known))
            if start:
                cache = assemble([CacheSlice(known.pairs, 0, 0, start)], len(encoded) - start)
        row.request.reused = max(row.request.reused, start)
        inputs = self._weights.reader.inputs(encoded, start)
        logits = self._forward(inputs, cache, last_only=True)[:, -1]
        pairs = pairs_of(cache)
        self.prefixes.keep(encoded.keys, pairs)
        for one in rows:
            one.place = encoded.place
        self._sample_next(rows, logits.expand(len(rows), -1))
        return Joining(rows, CacheSlice(pairs, 0, 0, len(encoded)))

    def join(self, joining: Sequence[Joining]) -> None:
        """Take rows in, and let those go that are over."""
        held = self._list_pieces()
        held += [(row, one.piece) for one in joining for row in one.rows]
        self._hold([(row, piece) for row, piece in held if not row.is_over])

    def drop(self) -> list[ReplyRow]:
        """Let every row go, and the cache with them."""
        rows, self.rows, self._cache = self.rows, [], None
        return rows

    @torch.no_grad()
    def step(self) -> None:
        """One forward pass: one id more for each row."""
        rows, cache = self.rows, self._cache
        assert cache is not None
        before, reader = columns_of(cache), self._weights.reader
        inputs = {"input_ids": torch.tensor([row.sampled_ids[-1:] for row in rows])}
        if reader.accepts("position_ids"):
            axes = len(_get_prompt(rows[0]).positions)
            places = torch.tensor([[row.place] for row in rows])
            inputs["position_ids"] = reader.placed(places.expand(axes, -1, -1))
        firsts = torch.tensor([row.first for row in rows])
        if firsts.any() or not reader.accepts("position_ids"):
            mask = torch.arange(before + 1)[None] >= firsts[:, None]
            inputs["attention_mask"] = mask.long()
        try:
            logits = self._forward(inputs, cache)
        except RuntimeError:
            shorten(cache, before)
            raise
        self._sample_next(rows, logits[:, -1])
        for row in rows:
            row.place += 1
        if any(row.is_over for row in rows):
            # Rows that are over go, and their ids are remembered.
            pieces = self._list_pieces()
            for row, piece in pieces:
                if row.finish and not row.reply:
                    keys = _encode_so_far(row).keys[: len(piece)]
                    self.prefixes.keep(keys, copy_slice(piece))
            self._hold([(row, piece) for row, piece in pieces if not row.is_over])

    def _forward(
        self, inputs: dict[str, Tensor], cache: Cache, *, last_only: bool = False
    ) -> Tensor:
        self.passes += 1
        given: dict[str, Any] = {
            name: value.to(self._weights.device) for name, value in inputs.items()
        }
        if last_only and self._weights.reader.accepts("logits_to_keep"):
            given["logits_to_keep"] = 1
        out = self._weights.module(**given, past_key_values=cache, use_cache=True)
        logits: Tensor = out.logits
        return logits

    def _sample_next(self, rows: Sequence[ReplyRow], logits: Tensor) -> None:
        """Sample the next id of each row. What one row fails by fails its request alone."""
        draws, speaking = [], []
        for place, row in enumerate(rows):
            try:
                draws.append(row.draw())
                speaking.append(place)
            except ModelError as error:
                row.request.fail(error)
        if not speaking:
            return
        tokens, log_probs = sample_tokens(logits[speaking], draws, self._weights.never)
        for place, token, log_prob in zip(speaking, tokens, log_probs, strict=True):
            try:
                if not -torch.inf < log_prob <= 0:
                    raise ModelError(_NO_ID)
                rows[place].append(token, log_prob, self._weights.endings.stop)
            except ModelError as error:
                rows[place].request.fail(error)

    def _list_pieces(self) -> list[tuple[ReplyRow, CacheSlice]]:
        if self._cache is None:
            return []
        pairs, last = pairs_of(self._cache), columns_of(self._cache)
        return [(row, CacheSlice(pairs, at, row.first, last)) for at, row in enumerate(self.rows)]

    def _hold(self, held: Sequence[tuple[ReplyRow, CacheSlice]]) -> None:
        """Make the cache anew from the pieces of these rows."""
        if not held:
            self.drop()
            return
        width = max(len(piece) for _, piece in held)
        left = max(row.request.limit - len(row.sampled_ids) for row, _ in held)
        pieces = [piece for _, piece in held]
        self._cache = assemble(pieces, min(_ROOM, left))
        self.rows = [row for row, _ in held]
        for row, piece in held:
            row.first = width - len(piece)


def _get_prompt(row: ReplyRow) -> EncodedPrompt:
    assert row.request.encoded is not None
    return row.request.encoded


def _encode_so_far(row: ReplyRow) -> EncodedPrompt:
    """Return the prompt with what was said behind it."""
    return _get_prompt(row).extended(row.sampled_ids) if row.sampled_ids else _get_prompt(row)
