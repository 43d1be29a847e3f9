"""The next id of each reply, with its log-probability."""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Noise:
    """The random numbers of one reply: a function of seed, reply and place alone.

    Whatever else is in the batch, and however many ids were guessed ahead, the id at a place is
    drawn with the same number.
    """

    def __init__(self, seed: int | None, reply: int) -> None:
        base = secrets.randbits(63) if seed is None else seed & (2**64 - 1)
        self._source = np.random.default_rng([base, reply])
        self._drawn: list[float] = []

    def at(self, place: int) -> float:
        """In [0, 1)."""
        while len(self._drawn) <= place:
            self._drawn.extend(self._source.random(32).tolist())
        return self._drawn[place]


@dataclass(frozen=True, slots=True)
class Draw:
    """How one row is drawn."""

    temperature: float
    """0 takes the most probable."""
    noise: float = 0.0
    allowed: NDArray[np.bool_] | None = None
    """Which ids a constraint lets through; None for all."""


def draw(logits: Tensor, draws: Sequence[Draw], never: Tensor) -> tuple[list[int], list[float]]:
    """Ids and their natural log-probabilities of (rows, vocabulary) logits.

    `never` holds ids that are taken out. The distribution is the softmax of logits divided by the
    temperature (by 1 where it is 0) over the ids that are left, inverted at the row's noise. A
    row whose logits are no numbers, or that allows no id, has a log-probability that is no number.
    """
    chances = log_softmax(logits, draws, never)
    best = chances.argmax(-1)
    if any(one.temperature for one in draws):
        sums = chances.double().exp().cumsum(-1)
        noise = torch.tensor([one.noise for one in draws], dtype=sums.dtype, device=sums.device)
        found = torch.searchsorted(sums, (noise * sums[:, -1])[:, None], right=True).squeeze(-1)
        cold = torch.tensor([not one.temperature for one in draws], device=best.device)
        best = torch.where(cold | (found >= sums.shape[-1]), best, found)
    log_probs: list[float] = chances.gather(-1, best[:, None]).squeeze(-1).tolist()
    return best.tolist(), log_probs


def log_softmax(logits: Tensor, draws: Sequence[Draw], never: Tensor) -> Tensor:
    """The distributions that `draw` draws from, (rows, vocabulary), as natural logarithms."""
    scaled = logits.to(torch.promote_types(logits.dtype, torch.float32))
    heat = [one.temperature or 1.0 for one in draws]
    if any(value != 1.0 for value in heat):
        scaled = scaled / torch.tensor(heat, dtype=scaled.dtype, device=scaled.device)[:, None]
    if len(never):
        scaled = scaled.index_fill(-1, never, -math.inf)
    if any(one.allowed is not None for one in draws):
        scaled = scaled.masked_fill(~_allowed(draws, scaled), -math.inf)
    return torch.log_softmax(scaled, -1)


def _allowed(draws: Sequence[Draw], logits: Tensor) -> Tensor:
    """The masks one below the other, as wide as the logits; ids without a mask entry are out."""
    masks = np.ones(tuple(logits.shape), dtype=np.bool_)
    for row, one in enumerate(draws):
        if one.allowed is not None:
            width = min(len(one.allowed), masks.shape[1])
            masks[row, :width] = one.allowed[:width]
            masks[row, width:] = False
    return torch.from_numpy(masks).to(logits.device)
