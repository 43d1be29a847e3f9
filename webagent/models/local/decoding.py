"""Forward passes over many replies at once, each with keys and values of its own."""

from collections import deque
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
    shift,
    shorten,
)
from webagent.models.local.prompts import EncodedPrompt
from webagent.models.local.requests import Copier, ReplyRow, sample_tokens
from webagent.models.local.source import Generation
from webagent.models.local.weights import LoadedWeights

_ROOM = 256
"""Columns allocated ahead when replies join."""
_RECENT = 8
"""Replies that later ones may copy from."""
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
        self._settings = settings
        self._cache: Cache | None = None
        self._recent: deque[list[int]] = deque(maxlen=_RECENT)
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
        if self._settings.prefix_reuse:
            known = self.prefixes.longest(row.request.adapter, encoded.keys)
            start = encoded.whole(len(known)) if known else 0
            if known and start:
                cache = assemble([CacheSlice(known.pairs, 0, 0, start)], len(encoded) - start)
        row.request.reused = max(row.request.reused, start)
        inputs = self._weights.reader.inputs(encoded, start)
        logits = self._forward(inputs, cache, last_only=True)[:, -1]
        pairs = pairs_of(cache)
        if self._settings.prefix_reuse:
            self.prefixes.keep(row.request.adapter, encoded.keys, pairs)
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
        """One forward pass: at least one id more for each row."""
        rows, cache = self.rows, self._cache
        assert cache is not None
        guesses = self._guess()
        width = 1 + max(map(len, guesses))
        before = columns_of(cache)
        try:
            logits = self._forward(self._make_inputs(guesses, width, before), cache)
        except RuntimeError:
            shorten(cache, before)
            raise
        taken = self._accept_guesses(guesses, logits)
        for row, count, guess in zip(rows, taken, guesses, strict=True):
            row.place += count
            if guess and row.copier:
                row.copier.learn(len(guess), count - 1)
        # The columns of guesses that did not come true go.
        most = max(taken)
        shorten(cache, before + most)
        for place, (row, count) in enumerate(zip(rows, taken, strict=True)):
            if count < most:
                shift(cache, place, row.first, before + count, most - count)
                row.first += most - count
        if any(row.is_over for row in rows):
            # Rows that are over go, and their ids are remembered.
            pieces = self._list_pieces()
            for row, piece in pieces:
                if row.finish and not row.reply:
                    self._recent.append(row.sampled_ids)
                    if self._settings.prefix_reuse:
                        keys = _encode_so_far(row).keys[: len(piece)]
                        self.prefixes.keep(row.request.adapter, keys, copy_slice(piece))
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

    def _make_inputs(
        self, guesses: Sequence[Sequence[int]], width: int, before: int
    ) -> dict[str, Tensor]:
        """Return the last id of each row with its guesses, padded at the right."""
        reader = self._weights.reader
        ids = [
            [row.sampled_ids[-1], *guess, *([0] * (width - 1 - len(guess)))]
            for row, guess in zip(self.rows, guesses, strict=True)
        ]
        inputs = {"input_ids": torch.tensor(ids)}
        if reader.accepts("position_ids"):
            axes = len(_get_prompt(self.rows[0]).positions)
            places = torch.tensor([row.place for row in self.rows])[:, None] + torch.arange(width)
            inputs["position_ids"] = reader.placed(places.expand(axes, -1, -1))
        firsts = torch.tensor([row.first for row in self.rows])
        if firsts.any() or not reader.accepts("position_ids"):
            mask = torch.arange(before + width)[None] >= firsts[:, None]
            inputs["attention_mask"] = mask.long()
        return inputs

    def _guess(self) -> list[list[int]]:
        rows = self.rows
        if not self._settings.copying or len(rows) > self._settings.copying_rows:
            return [[] for _ in rows]
        guesses = []
        for row in rows:
            if row.copier is None:
                texts = [*self._recent, _get_prompt(row).tokens.ids, row.sampled_ids]
                row.copier = Copier(texts, self._settings)
            guesses.append(row.copier.guess(row.request.limit - len(row.sampled_ids) - 1))
        return guesses

    def _accept_guesses(self, guesses: Sequence[Sequence[int]], logits: Tensor) -> list[int]:
        """Sample ids while the guesses come true; return how many each row got."""
        taken, alive = [0] * len(self.rows), list(range(len(self.rows)))
        for at in range(logits.shape[1]):
            self._sample_next([self.rows[place] for place in alive], logits[alive, at])
            for place in alive:
                taken[place] += 1
            alive = [
                place
                for place in alive
                if not self.rows[place].is_over
                and at < len(guesses[place])
                and self.rows[place].sampled_ids[-1] == guesses[place][at]
            ]
            if not alive:
                break
        return taken

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
        self._cache = assemble(pieces, min(_ROOM, left + self._settings.most_copied))
        self.rows = [row for row, _ in held]
        for row, piece in held:
            row.first = width - len(piece)


def _get_prompt(row: ReplyRow) -> EncodedPrompt:
    assert row.request.encoded is not None
    return row.request.encoded


def _encode_so_far(row: ReplyRow) -> EncodedPrompt:
    """Return the prompt with what was said behind it."""
    return _get_prompt(row).extended(row.sampled_ids) if row.sampled_ids else _get_prompt(row)
