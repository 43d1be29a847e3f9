"""How rows are read: masks and pictures of their sampling, and how likely they are now."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from loop.training.images import Images
from webagent.models.constrain import Masks, replay
from webagent.models.local.weights import Weights
from webagent.training.language.intake import Unit
from webagent.training.language.likelihood import Reading, log_probs
from webagent.training.language.packing import Packing
from webagent.training.language.selection import within_perplexity

_MASKED_REPLIES = 4096
"""Replies whose masks are kept from one epoch to the next."""


def reading(weights: Weights, runs: Sequence[Path]) -> Reading:
    """What the model needs beside rows of these runs to read them."""
    images = Images(runs)

    @lru_cache(maxsize=_MASKED_REPLIES)
    def packed(allowed: str, ids: tuple[int, ...]) -> Masks:
        ends = tuple(sorted(weights.endings.stop))
        return replay(allowed, ids, weights.tokenizer, width=weights.width, ends=ends)

    def masks(allowed: str, ids: Sequence[int]) -> NDArray[np.bool_]:
        return packed(allowed, tuple(ids)).unpacked()

    def pictures(references: Sequence[str]) -> Mapping[str, Tensor]:
        return weights.reader.pixels([images.get(reference) for reference in references])

    return Reading(masks=masks, pictures=pictures, never=weights.endings.never)


def replayed(
    units: Sequence[Unit], weights: Weights, how: Reading, low: float, high: float
) -> list[Unit]:
    """Units of one row each whose replies the model now finds neither certain nor strange."""
    rows = [row for unit in units for row in unit.rows]
    with torch.no_grad():
        found = log_probs(weights.module, rows, Packing(), how)
    values = [each.tolist() for each in found]
    return [Unit((row,)) for row in within_perplexity(rows, values, low, high)]
