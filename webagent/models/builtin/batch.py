"""Batches: prompts of different lengths padded into the tensors the network reads."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from webagent.models.builtin.features import FEATURES
from webagent.models.builtin.network import Batch
from webagent.models.builtin.prefix import Prefix
from webagent.models.builtin.tokens import SLOT_KINDS

SLOT_INDEX = {kind: i for i, kind in enumerate(SLOT_KINDS)}


def collate(
    prefixes: Sequence[Prefix], inputs: Sequence[Sequence[int]], slots: Sequence[Sequence[int]]
) -> Batch:
    """Pads B prompts and decoder inputs; `slots` are indices into `SLOT_KINDS`."""
    count, size = len(prefixes), max(len(p) for p in prefixes)
    ids, places, lines = (np.zeros((count, size), np.int64) for _ in range(3))
    fields = np.full((count, size), -1, np.int64)
    features = np.zeros((count, size, FEATURES), np.float32)
    relations = np.zeros((count, size, size), np.int32)
    for row, prefix in enumerate(prefixes):
        n = len(prefix)
        ids[row, :n], fields[row, :n] = prefix.ids, prefix.fields
        places[row, :n], lines[row, :n] = prefix.places, prefix.lines
        features[row, :n], relations[row, :n, :n] = prefix.features, prefix.relations
    return Batch(
        ids=torch.from_numpy(ids),
        fields=torch.from_numpy(fields),
        places=torch.from_numpy(places),
        lines=torch.from_numpy(lines),
        features=torch.from_numpy(features),
        relations=torch.from_numpy(relations),
        inputs=_pad(inputs),
        slots=_pad(slots),
    )


def _pad(rows: Sequence[Sequence[int]]) -> Tensor:
    out = torch.zeros(len(rows), max((len(row) for row in rows), default=0), dtype=torch.long)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row, dtype=torch.long)
    return out
