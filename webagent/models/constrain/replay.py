"""The masks under which stored ids were sampled, made again for training."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webagent.models.constrain.compiled import compile_constraint
from webagent.models.model import Constraint


@dataclass(frozen=True, slots=True)
class Masks:
    """Which ids were allowed at each place of a reply, eight to a byte."""

    packed: NDArray[np.uint8]
    """(T, ceil(width / 8)), the lowest bit first."""
    width: int

    def __len__(self) -> int:
        return len(self.packed)

    def unpacked(self, start: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
        """The masks of the places from `start` to `stop`, (places, width)."""
        bits = np.unpackbits(self.packed[start:stop], axis=1, count=self.width, bitorder="little")
        return bits.view(np.bool_)


def replay(
    allowed: str,
    sampled_ids: Sequence[int],
    tokenizer: Any,
    *,
    width: int | None = None,
    ends: Sequence[int] = (),
) -> Masks:
    """The mask of each sampled id, the one that ended the reply included.

    `allowed` is the constraint as it was stored with them (`Decision.allowed`); `width` and `ends`
    are what it was compiled with. A reply that was cut short has masks as far as it goes.

    Raises `ModelError` for text that is no constraint, and for ids that break it.
    """
    matcher = compile_constraint(Constraint.loads(allowed), tokenizer, width=width, ends=ends)()
    wide = len(matcher.mask())
    packed = np.zeros((len(sampled_ids), (wide + 7) // 8), dtype=np.uint8)
    for place, token in enumerate(sampled_ids):
        packed[place] = np.packbits(matcher.mask(), bitorder="little")
        matcher.accept(token)
    return Masks(packed, wide)
