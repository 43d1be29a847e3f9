"""From values of tokens to one number: which tokens or sequences count how much."""

from typing import Literal, TypeAlias

import torch
from torch import Tensor

Per: TypeAlias = Literal["token", "sequence", "constant"]
"""What a loss is a mean over. `token`: all taught tokens of the batch alike, so that long replies
count more (DAPO, arXiv 2503.14476; TRL's default). `sequence`: each sequence's mean over its
tokens, then their mean, so that a token of a long reply counts less (GRPO, arXiv 2402.03300).
`constant`: the sum over a number that does not depend on what was sampled (Dr. GRPO, arXiv
2503.20783)."""


def aggregate(
    values: Tensor,
    weights: Tensor,
    sequences: Tensor,
    per: Per = "token",
    denominator: float | None = None,
) -> Tensor:
    """The loss of a batch from its tokens' losses.

    `values`, `weights` and `sequences` are (tokens,); `sequences` numbers each token's sequence
    from 0. With w the weights, v the values, T tokens in N sequences, T_i of them in the i-th:

        token:    sum_t w_t v_t / T
        sequence: sum_i (sum_{t in i} w_t v_t / T_i) / N
        constant: sum_t w_t v_t / denominator

    Weights are not normalised by their sum: a batch of half weight counts half. `denominator`
    stands in for T or N where a batch is gone through in parts, so that the parts' losses add up
    to the whole's, provided that no sequence is in two of them; `constant` needs it. Raises
    `ValueError` without it, or for no tokens.
    """
    if not values.numel():
        raise ValueError("a loss of no tokens")
    weighted = values * weights
    if per == "sequence":
        counts = torch.bincount(sequences)
        weighted = weighted / counts[sequences]
        return weighted.sum() / (denominator or int((counts > 0).sum()))
    if per == "constant" and not denominator:
        raise ValueError("a constant normalisation needs its constant, the denominator")
    return weighted.sum() / (denominator or values.numel())


def sequence_sums(values: Tensor, sequences: Tensor, count: int) -> Tensor:
    """(count,): the sum of each sequence's values; `values` and `sequences` are (tokens,)."""
    return values.new_zeros(count).index_add(0, sequences, values)


def sequence_means(values: Tensor, sequences: Tensor, count: int) -> Tensor:
    """(count,): the mean of each sequence's values, 0 for one without tokens."""
    counts = torch.bincount(sequences, minlength=count).clamp(min=1)
    return sequence_sums(values, sequences, count) / counts


def mean(values: Tensor, denominator: float | None = None) -> Tensor:
    """The mean, or the sum over the denominator where a batch is gone through in parts."""
    return values.sum() / (denominator or values.numel())
