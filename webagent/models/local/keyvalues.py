"""Keys and values of many replies in one cache that grows in place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

Pairs = list[tuple[Tensor, Tensor]]
"""Keys and values of each layer, (rows, heads, columns, width)."""

_LEAST_ROOM = 64


class GrowingLayer(DynamicLayer):
    """One layer, written in place: the buffer holds more columns than are in use.

    The layer of transformers copies everything for each new column; this one only now and then.
    """

    keys: Tensor
    values: Tensor

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._buffers: tuple[Tensor, Tensor] | None = None

    def hold(self, keys: Tensor, values: Tensor, columns: int) -> None:
        """Take buffers over whose first columns are filled."""
        self.lazy_initialization(keys, values)
        self._buffers = (keys, values)
        self.keys, self.values = keys[:, :, :columns], values[:, :, :columns]

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: object, **kwargs: object
    ) -> tuple[Tensor, Tensor]:
        """Append columns; gives all keys and values."""
        if not self.is_initialized:
            self.hold(key_states, value_states, key_states.shape[-2])
            return self.keys, self.values
        first = self.keys.shape[-2]
        last = first + key_states.shape[-2]
        assert self._buffers is not None
        if self._buffers[0].shape[-2] < last:
            columns = last + max(_LEAST_ROOM, last // 4)
            self._buffers = (
                _widened(self._buffers[0], first, columns),
                _widened(self._buffers[1], first, columns),
            )
        keys, values = self._buffers
        keys[:, :, first:last] = key_states
        values[:, :, first:last] = value_states
        self.keys, self.values = keys[:, :, :last], values[:, :, :last]
        return self.keys, self.values

    def shorten(self, columns: int) -> None:
        """Forget all columns behind these."""
        self.keys, self.values = self.keys[:, :, :columns], self.values[:, :, :columns]

    def shift(self, row: int, first: int, last: int, by: int) -> None:
        """Move a row's columns to the right."""
        for held in (self.keys, self.values):
            held[row, :, first + by : last + by] = held[row, :, first:last].clone()


@dataclass(frozen=True, slots=True)
class Piece:
    """Columns of one row of a cache."""

    pairs: Pairs
    row: int
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first


def new_cache() -> Cache:
    """An empty cache whose layers grow in place."""
    return Cache(layer_class_to_replicate=GrowingLayer)


def pairs_of(cache: Cache) -> Pairs:
    """The filled keys and values of each layer; layers that keep nothing hold empty ones."""
    nothing = torch.empty(0)
    return [
        (layer.keys, layer.values) if layer.is_initialized else (nothing, nothing)
        for layer in _layers(cache)
    ]


def assembled(pieces: Sequence[Piece], room: int) -> Cache:
    """A cache with a row for each piece, copied and aligned at the right, and room to grow.

    The columns to the left of a shorter piece are zero and must be masked.
    """
    width = max(len(piece) for piece in pieces)
    cache = new_cache()
    for place in range(len(pieces[0].pairs)):
        layer = GrowingLayer()
        cache.layers.append(layer)
        if pieces[0].pairs[place][0].dim() < 4:
            continue
        keys, values = (_aligned(pieces, place, which, width, room) for which in (0, 1))
        layer.hold(keys, values, width)
    return cache


def own(piece: Piece) -> Pairs:
    """A copy of the piece alone, one row wide."""
    return pairs_of(assembled([piece], 0))


def size_of(pairs: Pairs) -> int:
    """Bytes of the keys and values."""
    return sum(part.numel() * part.element_size() for pair in pairs for part in pair)


def columns_of(cache: Cache) -> int:
    """Filled columns."""
    return int(cache.get_seq_length()) if cache.layers else 0


def shorten(cache: Cache, columns: int) -> None:
    """Forget all columns behind these, in every layer; a pass that broke off leaves them uneven."""
    for layer in _layers(cache):
        if layer.is_initialized and layer.keys.shape[-2] > columns:
            layer.shorten(columns)


def shift(cache: Cache, row: int, first: int, last: int, by: int) -> None:
    """Move a row's columns to the right in every layer."""
    for layer in _layers(cache):
        if layer.is_initialized:
            layer.shift(row, first, last, by)


def _layers(cache: Cache) -> list[GrowingLayer]:
    return cast(list[GrowingLayer], cache.layers)


def _aligned(pieces: Sequence[Piece], place: int, which: int, width: int, room: int) -> Tensor:
    like = pieces[0].pairs[place][which]
    heads, depth = like.shape[1], like.shape[3]
    made = like.new_zeros((len(pieces), heads, width + room, depth))
    for row, piece in enumerate(pieces):
        part = piece.pairs[place][which][piece.row, :, piece.first : piece.last]
        made[row, :, width - len(piece) : width] = part
    return made


def _widened(buffer: Tensor, filled: int, columns: int) -> Tensor:
    made = buffer.new_zeros((*buffer.shape[:2], columns, buffer.shape[3]))
    made[:, :, :filled] = buffer[:, :, :filled]
    return made
