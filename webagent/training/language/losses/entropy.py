"""Entropy kept in bounds: a policy that neither freezes nor falls apart."""

import math
from typing import Literal

import torch
from torch import Tensor

from webagent.training.language.losses.aggregate import mean


def entropy_smoothing(
    entropies: Tensor,
    history: float,
    bounds: tuple[float, float] = (0.8, 1.2),
    penalty: Literal["distance", "indicator"] = "distance",
    denominator: float | None = None,
) -> Tensor:
    """EPO's smoothing regulariser (arXiv 2509.22576): the mean over tokens of a penalty that is 0
    where kappa_l h < H_t < kappa_r h, with h the mean entropy of earlier updates.

    `entropies` (tokens,) are H_t in nats, `history` is h, `bounds` the kappas. `indicator` is the
    paper's penalty, 1 outside of the bounds: it is constant on either side, so it has no gradient
    and changes only the number reported, as in the authors' code. Deviation: `distance`, the
    default, is how far outside H_t is in nats, which has one. The paper's coefficient alpha and
    weight beta_k multiply the result; see `smoothing_weight`.
    """
    low, high = (bound * history for bound in bounds)
    if penalty == "indicator":
        outside = ~((entropies > low) & (entropies < high))
        return mean(outside.to(entropies.dtype), denominator)
    below, above = torch.relu(low - entropies), torch.relu(entropies - high)
    return mean(below + above, denominator)


def smoothing_weight(progress: float, slow: float = 2.0, fast: float = 3.0) -> float:
    """EPO's beta_k as its authors' code has it, with `progress` from 0 to 1 over the training:
    1 - 0.2 (1 - exp(-slow p)) in the first half, 0.8 exp(-fast p) in the second, p counting from
    0 to 1 in each."""
    half = 2 * min(max(progress, 0.0), 1.0)
    if half <= 1:
        return 1 - 0.2 * (1 - math.exp(-slow * half))
    return 0.8 * math.exp(-fast * (half - 1))
