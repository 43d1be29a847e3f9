"""Preferences: what was better is made more likely than what was worse, against a reference."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from webagent.training.language.losses.aggregate import mean


@dataclass(frozen=True, slots=True)
class Pairs:
    """Log-probabilities of whole replies or episodes, summed over their tokens, each (pairs,)."""

    chosen: Tensor
    rejected: Tensor
    reference_chosen: Tensor
    """Under the frozen reference policy."""
    reference_rejected: Tensor


def preferences(
    pairs: Pairs,
    beta: float = 0.1,
    label_smoothing: float = 0.0,
    denominator: float | None = None,
) -> Tensor:
    """Direct preference optimisation (arXiv 2305.18290, equation 7), smoothed as cDPO:

        D = beta (log pi(y_w|x) / ref(y_w|x) - log pi(y_l|x) / ref(y_l|x))
        L = mean over pairs of -(1 - s) log sigma(D) - s log sigma(-D)

    `label_smoothing` s is the chance that a pair is the wrong way round. A pair may be two steps
    from one page or two episodes of one task; for episodes the sums go over all their steps, as in
    ETO (arXiv 2403.02502).
    """
    won = pairs.chosen - pairs.reference_chosen
    lost = pairs.rejected - pairs.reference_rejected
    margin = beta * (won - lost)
    losses = -F.logsigmoid(margin) * (1 - label_smoothing)
    if label_smoothing:
        losses = losses - F.logsigmoid(-margin) * label_smoothing
    return mean(losses, denominator)


@dataclass(frozen=True, slots=True)
class Desirability:
    """How KTO weighs good against bad."""

    beta: float = 0.1
    desirable: float = 1.0
    """Weight of the good; the paper wants weight times count within 1 to 4/3 of the bad's."""
    undesirable: float = 1.0


def desirability(
    log_ratios: Tensor,
    is_desirable: Tensor,
    baseline: Tensor | float,
    weights: Desirability = Desirability(),
    denominator: float | None = None,
) -> Tensor:
    """Kahneman-Tversky optimisation (arXiv 2402.01306, equations 7 and 8), for good and bad
    replies that are not paired:

        v(good) = lambda_D sigma(beta (r - z0)),  v(bad) = lambda_U sigma(beta (z0 - r))
        L = mean of lambda - v

    `log_ratios` (replies,) are r = log pi(y|x) / ref(y|x), `is_desirable` (replies,) of booleans.
    `baseline` is z0, as `desirability_baseline` estimates it; no gradient goes through it.
    """
    above = weights.beta * (log_ratios - baseline)
    value = torch.sigmoid(torch.where(is_desirable, above, -above))
    weight = torch.where(is_desirable, weights.desirable, weights.undesirable)
    return mean(weight.to(value.dtype) * (1 - value), denominator)


def desirability_baseline(log_ratios: Tensor) -> Tensor:
    """KTO's z0, the divergence from the reference, from replies paired with prompts of others:

        z0 = max(0, mean of log pi(y'|x) / ref(y'|x))

    `log_ratios` is (mismatched replies,); the result carries no gradient.
    """
    return log_ratios.detach().mean().clamp(min=0)
