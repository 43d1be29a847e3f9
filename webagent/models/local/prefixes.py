"""Recent prompts with their keys and values, so that none is read twice."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from webagent.models.local.keyvalues import Pairs, Piece, size_of

Keys: TypeAlias = NDArray[np.int64]
"""One number a column: the id, or for the place of an image what the image shows."""


@dataclass(frozen=True, slots=True)
class _Entry:
    adapter: str | None
    keys: Keys
    pairs: Pairs
    bytes: int


class Prefixes:
    """The most recently used prompts, bounded in number and in bytes."""

    def __init__(self, entries: int, most_bytes: int) -> None:
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._most = entries
        self._most_bytes = most_bytes
        self._next = 0

    @property
    def bytes(self) -> int:
        """What is held now."""
        return sum(entry.bytes for entry in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def longest(self, adapter: str | None, keys: Keys) -> Piece | None:
        """The columns that a recent prompt has in common with this one, from the first on."""
        best, length = None, 0
        for number, entry in self._entries.items():
            if entry.adapter == adapter and (common := shared(entry.keys, keys)) > length:
                best, length = number, common
        if best is None:
            return None
        self._entries.move_to_end(best)
        return Piece(self._entries[best].pairs, 0, 0, length)

    def keep(self, adapter: str | None, keys: Keys, pairs: Pairs) -> None:
        """Remember a prompt; the older ones that it continues go, and the oldest over the bound."""
        size = size_of(pairs)
        if size > self._most_bytes or not self._most:
            return
        for number, entry in list(self._entries.items()):
            if entry.adapter == adapter and shared(entry.keys, keys) == len(entry.keys):
                del self._entries[number]
        self._entries[self._next] = _Entry(adapter, keys, pairs, size)
        self._next += 1
        while len(self._entries) > self._most or self.bytes > self._most_bytes:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()


def shared(one: Keys, other: Keys) -> int:
    """How many numbers the two have in common from the first on."""
    length = min(len(one), len(other))
    different = np.flatnonzero(one[:length] != other[:length])
    return int(different[0]) if len(different) else length
