"""Policy gradients with clipped ratios, for replies sampled by an earlier policy."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from webagent.errors import SetupError
from webagent.training.language.losses.aggregate import Per, aggregate, sequence_means
from webagent.training.language.losses.taught import TaughtTokens


@dataclass(frozen=True, slots=True)
class Clipping:
    """The options of `policy_gradient`; as they are, with the bounds and the mean of TRL's GRPO."""

    low: float = 0.2
    """Ratios below 1 - low get no gradient where the advantage is negative."""
    high: float = 0.2
    """Ratios above 1 + high get none where it is positive; larger than `low` it lets rare tokens
    grow (clip-higher of DAPO, which takes 0.28)."""
    level: Literal["token", "sequence"] = "token"
    """Whether ratios are of tokens (GRPO) or of sequences (GSPO: there take per="sequence" and
    bounds of 3e-4 and 4e-4)."""
    per: Per = "token"
    divergence: float = 0.0
    """Coefficient of the divergence from the reference policy."""
    corrected: bool = True
    """Whether each token's divergence counts by its ratio, gradient included, which makes the
    estimate right for replies of an earlier policy (DeepSeek-V3.2; TRL's default)."""
    cap: float = 2.0
    """Most that a token counts for having become likelier since it was sampled."""


def policy_gradient(
    log_probs: Tensor,
    taught: TaughtTokens,
    options: Clipping = Clipping(),
    *,
    old: Tensor | None = None,
    reference: Tensor | None = None,
    denominator: float | None = None,
) -> Tensor:
    """GRPO, DAPO, Dr. GRPO or GSPO, by their options:

        L = aggregate(-c_t surrogate_t + divergence * r_t * k3_t)

    with the surrogate of `clipped`, and r_t the ratio where `corrected`, else 1. All tensors are
    (tokens,). `old` is the policy at the start of the update; then the ratio is to it, and c_t =
    `truncated_importance` makes up for how it had moved since the sampling. Without `old` the
    ratio is to the stored behaviour and c_t = 1.

    Raises `SetupError` for rows without behaviour or advantages, or for a divergence without
    reference.
    """
    if taught.behaviour is None or taught.advantages is None:
        missing = "behaviour log-probabilities" if taught.behaviour is None else "advantages"
        raise SetupError(
            f"rows have no {missing}; a policy gradient needs sampled rows with advantages, and"
            " demonstrations are for supervised training"
        )
    if options.divergence and reference is None:
        raise SetupError("a divergence from the reference needs its log-probabilities")
    base = taught.behaviour if old is None else old
    ratios = log_probs - base.detach()
    if options.level == "sequence":
        ratios = sequence_means(ratios, taught.sequences, taught.count)[taught.sequences]
    values = -clipped(ratios, taught.advantages, options.low, options.high)
    if old is not None:
        values = values * truncated_importance(old, taught.behaviour, options.cap)
    if options.divergence and reference is not None:
        away = divergence(log_probs, reference)
        values = values + options.divergence * (away * ratios.exp() if options.corrected else away)
    return aggregate(values, taught.weights, taught.sequences, options.per, denominator)


def clipped(log_ratios: Tensor, advantages: Tensor, low: float = 0.2, high: float = 0.2) -> Tensor:
    """The clipped surrogate (PPO, arXiv 1707.06347, equation 7; bounds apart as in DAPO, arXiv
    2503.14476, equation 8), to be maximised:

        min(r A, clip(r, 1 - low, 1 + high) A),  r = exp(log_ratio)

    For GRPO r is the token's pi / old. For GSPO (arXiv 2507.18071, equations 5 and 7) every token
    has its sequence's r = (pi(y|x) / old(y|x))^(1/|y|), and the mean over the sequence is its
    clipped s_i A_i.
    """
    ratios = log_ratios.exp()
    return torch.minimum(ratios * advantages, ratios.clamp(1 - low, 1 + high) * advantages)


def truncated_importance(old: Tensor, behaviour: Tensor, cap: float = 2.0) -> Tensor:
    """min(old / behaviour, cap) of each token, without gradient: what corrects for stale or
    differently computed sampling, its variance bounded (truncated importance sampling of IMPALA,
    arXiv 1802.01561; TRL's `token_truncate`).
    """
    return (old - behaviour).detach().exp().clamp(max=cap)


def divergence(log_probs: Tensor, reference: Tensor) -> Tensor:
    """Estimate k3 of KL(pi || ref) of each token (Schulman 2020; GRPO, arXiv 2402.03300, equation
    4): ref / pi - log(ref / pi) - 1, which is never negative."""
    ratios = reference.detach() - log_probs
    return ratios.exp() - ratios - 1
