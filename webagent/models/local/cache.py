"""Keys and values: of many replies in one cache that grows in place, and of recent prompts."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

Pairs = list[tuple[Tensor, Tensor]]
"""Keys and values of each layer, (rows, heads, columns, width)."""

_LEAST_ROOM = 64
Keys: TypeAlias = NDArray[np.int64]
"""One number a column: the id, or for the place of an image what the image shows."""


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
        """Append columns; return all keys and values."""
        if not self.is_initialized:
            self.hold(key_states, value_states, key_states.shape[-2])
            return self.keys, self.values
        first = self.keys.shape[-2]
        last = first + key_states.shape[-2]
        assert self._buffers is not None
        if self._buffers[0].shape[-2] < last:
            columns = last + max(_LEAST_ROOM, last // 4)
            old = self._buffers
            keys, values = (one.new_zeros((*one.shape[:2], columns, one.shape[3])) for one in old)
            keys[:, :, :first], values[:, :, :first] = old[0][:, :, :first], old[1][:, :, :first]
            self._buffers = (keys, values)
        keys, values = self._buffers
        keys[:, :, first:last] = key_states
        values[:, :, first:last] = value_states
        self.keys, self.values = keys[:, :, :last], values[:, :, :last]
        return self.keys, self.values

    def shorten(self, columns: int) -> None:
        """Forget all columns behind these."""
        self.keys, self.values = self.keys[:, :, :columns], self.values[:, :, :columns]


@dataclass(frozen=True, slots=True)
class CacheSlice:
    """Columns of one row of a cache."""

    pairs: Pairs
    row: int
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first


def new_cache() -> Cache:
    """Return an empty cache whose layers grow in place."""
    return Cache(layer_class_to_replicate=GrowingLayer)


def pairs_of(cache: Cache) -> Pairs:
    """Return the filled keys and values of each layer; layers that keep nothing hold empty ones."""
    nothing = torch.empty(0)
    return [
        (layer.keys, layer.values) if layer.is_initialized else (nothing, nothing)
        for layer in _layers(cache)
    ]


def assemble(pieces: Sequence[CacheSlice], room: int) -> Cache:
    """Return a cache with a row for each piece, copied and aligned at the right, and room to grow.

    The columns to the left of a shorter piece are zero and must be masked.
    """
    width = max(len(piece) for piece in pieces)
    cache = new_cache()
    for place in range(len(pieces[0].pairs)):
        layer = GrowingLayer()
        cache.layers.append(layer)
        if pieces[0].pairs[place][0].dim() < 4:
            continue
        aligned = []
        for which, like in enumerate(pieces[0].pairs[place]):
            tensor = like.new_zeros((len(pieces), like.shape[1], width + room, like.shape[3]))
            for row, piece in enumerate(pieces):
                part = piece.pairs[place][which][piece.row, :, piece.first : piece.last]
                tensor[row, :, width - len(piece) : width] = part
            aligned.append(tensor)
        layer.hold(aligned[0], aligned[1], width)
    return cache


def copy_slice(piece: CacheSlice) -> Pairs:
    """Return a copy of the piece alone, one row wide."""
    return pairs_of(assemble([piece], 0))


def columns_of(cache: Cache) -> int:
    """Return the number of filled columns."""
    return int(cache.get_seq_length()) if cache.layers else 0


def shorten(cache: Cache, columns: int) -> None:
    """Forget all columns behind these, in every layer; a pass that broke off leaves them uneven."""
    for layer in _layers(cache):
        if layer.is_initialized and layer.keys.shape[-2] > columns:
            layer.shorten(columns)


def _layers(cache: Cache) -> list[GrowingLayer]:
    return cast(list[GrowingLayer], cache.layers)


@dataclass(frozen=True, slots=True)
class _ReadPrompt:
    keys: Keys
    pairs: Pairs
    bytes: int


class PrefixCache:
    """The most recently used prompts, bounded in number and in bytes."""

    def __init__(self, entries: int, most_bytes: int) -> None:
        self._entries: OrderedDict[int, _ReadPrompt] = OrderedDict()
        self._most = entries
        self._most_bytes = most_bytes
        self._next = 0

    @property
    def bytes(self) -> int:
        """What is held now."""
        return sum(entry.bytes for entry in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def longest(self, keys: Keys) -> CacheSlice | None:
        """Return the longest beginning that a recent prompt has in common with this one."""
        best, length = None, 0
        for number, entry in self._entries.items():
            if (common := count_shared(entry.keys, keys)) > length:
                best, length = number, common
        if best is None:
            return None
        self._entries.move_to_end(best)
        return CacheSlice(self._entries[best].pairs, 0, 0, length)

    def keep(self, keys: Keys, pairs: Pairs) -> None:
        """Remember a prompt; the older ones that it continues go, and the oldest over the bound."""
        size = sum(part.numel() * part.element_size() for pair in pairs for part in pair)
        if size > self._most_bytes or not self._most:
            return
        for number, entry in list(self._entries.items()):
            if count_shared(entry.keys, keys) == len(entry.keys):
                del self._entries[number]
        self._entries[self._next] = _ReadPrompt(keys, pairs, size)
        self._next += 1
        while len(self._entries) > self._most or self.bytes > self._most_bytes:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()


def count_shared(one: Keys, other: Keys) -> int:
    """Return how many numbers the two have in common from the first on."""
    length = min(len(one), len(other))
    different = np.flatnonzero(one[:length] != other[:length])
    return int(different[0]) if len(different) else length
