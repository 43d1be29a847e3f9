"""Losses as pure functions of tensors, each with its paper's equation."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from webagent.errors import ModelError, SetupError
from webagent.training.language.rows import TokenRow

__all__ = [
    "Pairs",
    "TaughtTokens",
    "aggregate",
    "divergence",
    "policy_gradient",
    "preferences",
    "supervised",
    "taught_tokens",
    "token_log_probs",
]


def aggregate(values: Tensor, weights: Tensor, denominator: float | None = None) -> Tensor:
    """Return the loss of a batch from its tokens' losses, sum_t w_t v_t / T: all taught tokens of
    the batch count alike (DAPO, arXiv 2503.14476; TRL's default).

    `values` v and `weights` w are (tokens,). Weights are not normalised by their sum: a batch of
    half weight counts half. `denominator` stands in for T where a batch is gone through in parts,
    so that the parts' losses add up to the whole's. Raises `ValueError` for no tokens.
    """
    if not values.numel():
        raise ValueError("a loss of no tokens")
    return mean(values * weights, denominator)


def mean(values: Tensor, denominator: float | None = None) -> Tensor:
    """Return the mean, or the sum over the denominator where a batch is gone through in parts."""
    return values.sum() / (denominator or values.numel())


def token_log_probs(
    logits: Tensor, ids: Tensor, temperature: float | Tensor = 1.0, masks: Tensor | None = None
) -> Tensor:
    """Return the natural logarithm of each id's probability.

    `logits` is (..., vocabulary), `ids` (...): the logits at a place are those its id was sampled
    from, so the caller shifts them by one. `temperature`, greater than 0, is a number or (...).
    `masks`, (..., vocabulary) of booleans, says which ids could be sampled; what is left is
    renormalised, as the sampling did, and the others get no gradient. Half precision is computed
    in single. Raises `ModelError` when an id is outside its mask: then the ids and the constraint
    stored with them do not belong together.
    """
    scores = logits if logits.dtype == torch.float64 else logits.float()
    if isinstance(temperature, Tensor):
        scores = scores / temperature.to(scores.dtype).unsqueeze(-1)
    elif temperature != 1:
        scores = scores / temperature
    if masks is not None:
        scores = scores.masked_fill(~masks, -torch.inf)
    chosen = scores.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    outside = int(torch.isneginf(chosen).sum()) if masks is not None else 0
    if outside:
        raise ModelError(
            f"{outside} of {ids.numel()} sampled ids are outside the masks of their constraints;"
            " make the masks with the tokenizer that the sampling had"
        )
    return chosen - torch.logsumexp(scores, -1)


@dataclass(frozen=True, slots=True)
class TaughtTokens:
    """Row by row, the tokens of weight other than 0, in their order: T of them."""

    weights: Tensor
    """(T,)."""
    advantages: Tensor | None = None
    """(T,), or None where a row has none."""
    behaviour: Tensor | None = None
    """(T,), log-probabilities at the sampling, or None where a row was not sampled."""

    def __len__(self) -> int:
        return self.weights.numel()


def taught_tokens(rows: Sequence[TokenRow], device: torch.device | str = "cpu") -> TaughtTokens:
    """Return the tensors of these rows, in their order. An advantage or a behaviour log-probability
    is there for all tokens or for none."""
    weights: list[float] = []
    advantages: list[float] = []
    behaviour: list[float] = []
    for row in rows:
        for start, stop in row.spans or ((1, len(row.ids)),):
            places = [place for place in range(start, stop) if row.weights[place]]
            weights += [row.weights[place] for place in places]
            advantages += [row.advantages[place] for place in places if row.advantages]
            behaviour += [row.log_probs[place] for place in places if row.log_probs]

    def whole(values: list[float]) -> Tensor | None:
        return torch.tensor(values, device=device) if len(values) == len(weights) else None

    return TaughtTokens(
        weights=torch.tensor(weights, device=device),
        advantages=whole(advantages),
        behaviour=whole(behaviour),
    )


def supervised(log_probs: Tensor, weights: Tensor, denominator: float | None = None) -> Tensor:
    """Supervised fine-tuning: the negative log-likelihood of what was shown,

        L = -sum_t w_t log pi(y_t | x, y_<t) / T

    All arguments are those of `aggregate`, `log_probs` (tokens,). With weights of 1 per token it is
    TRL's `nll`. Weights of 0 for wrong steps are the partial masking of STeP (arXiv 2505.20023). On
    sampled replies that succeeded it is rejection fine-tuning (RFT, arXiv 2308.01825). Deviation:
    log-probabilities are under the constraint of the row, so that nothing is taught that the
    constraint decides.
    """
    return aggregate(-log_probs, weights, denominator)


def policy_gradient(
    log_probs: Tensor,
    taught: TaughtTokens,
    *,
    penalty: float = 0.0,
    cap: float = 2.0,
    reference: Tensor | None = None,
    denominator: float | None = None,
) -> Tensor:
    """GRPO (arXiv 2402.03300), with one update on what was sampled:

        L = aggregate(-c_t r_t A_t + penalty * r_t * k3_t),  r = pi / old

    All tensors are (tokens,). `old` is the policy as it is now, so that r is 1 and has a gradient;
    no ratio leaves the bounds within which PPO keeps it. c_t = min(old / behaviour, cap), without
    gradient, makes up for how the policy has moved since the sampling, its variance bounded
    (truncated importance sampling of IMPALA, arXiv 1802.01561; TRL's `token_truncate`). k3 is the
    divergence from the reference policy. Each token's counts by its ratio, gradient included, which
    makes the estimate right for replies of an earlier policy (DeepSeek-V3.2; TRL's default).

    Raises `SetupError` for rows without behaviour or advantages, or for a penalty without
    reference.
    """
    if taught.behaviour is None or taught.advantages is None:
        missing = "behaviour log-probabilities" if taught.behaviour is None else "advantages"
        raise SetupError(
            f"rows have no {missing}; a policy gradient needs sampled rows with advantages, and"
            " demonstrations are for supervised training"
        )
    if penalty and reference is None:
        raise SetupError("a divergence from the reference needs its log-probabilities")
    old = log_probs.detach()
    ratios = (log_probs - old).exp()
    importance = (old - taught.behaviour).exp().clamp(max=cap)
    values = -importance * ratios * taught.advantages
    if penalty and reference is not None:
        values = values + penalty * divergence(log_probs, reference) * ratios
    return aggregate(values, taught.weights, denominator)


def divergence(log_probs: Tensor, reference: Tensor) -> Tensor:
    """Estimate k3 of KL(pi || ref) of each token (Schulman 2020; GRPO, arXiv 2402.03300, equation
    4): ref / pi - log(ref / pi) - 1, which is never negative."""
    ratios = reference.detach() - log_probs
    return ratios.exp() - ratios - 1


@dataclass(frozen=True, slots=True)
class Pairs:
    """Log-probabilities of whole replies or episodes, summed over their tokens, each (pairs,)."""

    chosen: Tensor
    rejected: Tensor
    reference_chosen: Tensor
    """Under the frozen reference policy."""
    reference_rejected: Tensor


def preferences(pairs: Pairs, beta: float = 0.1, denominator: float | None = None) -> Tensor:
    """Direct preference optimisation (arXiv 2305.18290, equation 7):

        D = beta (log pi(y_w|x) / ref(y_w|x) - log pi(y_l|x) / ref(y_l|x))
        L = mean over pairs of -log sigma(D)

    A pair may be two steps from one page or two episodes of one task; for episodes the sums go
    over all their steps, as in ETO (arXiv 2403.02502).
    """
    won = pairs.chosen - pairs.reference_chosen
    lost = pairs.rejected - pairs.reference_rejected
    return mean(-F.logsigmoid(beta * (won - lost)), denominator)
