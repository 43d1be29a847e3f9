"""Losses as pure functions of tensors, each with its paper's equation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F

from webagent.errors import ModelError, SetupError
from webagent.training.language.rows import TokenRow

__all__ = [
    "Clipping",
    "Desirability",
    "Pairs",
    "Per",
    "TaughtTokens",
    "advantage_regression",
    "aggregate",
    "clipped",
    "desirability",
    "divergence",
    "policy_gradient",
    "preferences",
    "sequence_means",
    "sequence_sums",
    "supervised",
    "taught_tokens",
    "token_log_probs",
    "truncated_importance",
]

Per: TypeAlias = Literal["token", "sequence"]
"""What a loss is a mean over. `token`: all taught tokens of the batch alike, so that long replies
count more (DAPO, arXiv 2503.14476; TRL's default). `sequence`: each sequence's mean over its
tokens, then their mean, so that a token of a long reply counts less (GRPO, arXiv 2402.03300). A
sequence is the reply of one step, so that it is the same whether rows were merged or not."""


def aggregate(
    values: Tensor,
    weights: Tensor,
    sequences: Tensor,
    per: Per = "token",
    denominator: float | None = None,
) -> Tensor:
    """Return the loss of a batch from its tokens' losses.

    `values`, `weights` and `sequences` are (tokens,); `sequences` numbers each token's sequence
    from 0. With w the weights, v the values, T tokens in N sequences, T_i of them in the i-th:

        token:    sum_t w_t v_t / T
        sequence: sum_i (sum_{t in i} w_t v_t / T_i) / N

    Weights are not normalised by their sum: a batch of half weight counts half. `denominator`
    stands in for T or N where a batch is gone through in parts, so that the parts' losses add up
    to the whole's, provided that no sequence is in two of them. Raises `ValueError` for no tokens.
    """
    if not values.numel():
        raise ValueError("a loss of no tokens")
    weighted = values * weights
    if per == "sequence":
        counts = torch.bincount(sequences)
        weighted = weighted / counts[sequences]
        return weighted.sum() / (denominator or int((counts > 0).sum()))
    return weighted.sum() / (denominator or values.numel())


def sequence_sums(values: Tensor, sequences: Tensor, count: int) -> Tensor:
    """(count,): the sum of each sequence's values; `values` and `sequences` are (tokens,)."""
    return values.new_zeros(count).index_add(0, sequences, values)


def sequence_means(values: Tensor, sequences: Tensor, count: int) -> Tensor:
    """(count,): the mean of each sequence's values, 0 for one without tokens."""
    counts = torch.bincount(sequences, minlength=count).clamp(min=1)
    return sequence_sums(values, sequences, count) / counts


def mean(values: Tensor, denominator: float | None = None) -> Tensor:
    """Return the mean, or the sum over the denominator where a batch is gone through in parts."""
    return values.sum() / (denominator or values.numel())


def token_log_probs(
    logits: Tensor,
    ids: Tensor,
    temperature: float | Tensor = 1.0,
    masks: Tensor | None = None,
) -> Tensor:
    """Return the natural logarithm of each id's probability.

    `logits` is (..., vocabulary), `ids` (...): the logits at a place are those its id was sampled
    from, so the caller shifts them by one. `temperature`, greater than 0, is a number or (...).
    `masks`, (..., vocabulary) of booleans, says which ids could be sampled; what is left is
    renormalised, as the sampling did, and the others get no gradient. Half precision is computed
    in single. Raises `ModelError` when an id is outside its mask: then the ids and the constraint
    stored with them do not belong together.
    """
    scores = _scores(logits, temperature, masks)
    chosen = scores.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    outside = int(torch.isneginf(chosen).sum()) if masks is not None else 0
    if outside:
        raise ModelError(
            f"{outside} of {ids.numel()} sampled ids are outside the masks of their constraints;"
            " make the masks with the tokenizer that the sampling had"
        )
    return chosen - torch.logsumexp(scores, -1)


def _scores(logits: Tensor, temperature: float | Tensor, masks: Tensor | None) -> Tensor:
    scores = logits if logits.dtype == torch.float64 else logits.float()
    if isinstance(temperature, Tensor):
        scores = scores / temperature.to(scores.dtype).unsqueeze(-1)
    elif temperature != 1:
        scores = scores / temperature
    return scores if masks is None else scores.masked_fill(~masks, -torch.inf)


@dataclass(frozen=True, slots=True)
class TaughtTokens:
    """Row by row, the tokens of weight other than 0, in their order: T of them."""

    weights: Tensor
    """(T,)."""
    sequences: Tensor
    """(T,), which sequence each belongs to, numbered from 0 as they come."""
    count: int
    """How many sequences there are."""
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
    sequences: list[int] = []
    count = 0
    for row in rows:
        for start, stop in row.spans or ((1, len(row.ids)),):
            places = [place for place in range(start, stop) if row.weights[place]]
            sequences += [count] * len(places)
            count += bool(places)
            weights += [row.weights[place] for place in places]
            advantages += [row.advantages[place] for place in places if row.advantages]
            behaviour += [row.log_probs[place] for place in places if row.log_probs]

    def whole(values: list[float]) -> Tensor | None:
        return torch.tensor(values, device=device) if len(values) == len(weights) else None

    return TaughtTokens(
        weights=torch.tensor(weights, device=device),
        sequences=torch.tensor(sequences, dtype=torch.int64, device=device),
        count=count,
        advantages=whole(advantages),
        behaviour=whole(behaviour),
    )


def supervised(
    log_probs: Tensor,
    weights: Tensor,
    sequences: Tensor,
    per: Per = "token",
    denominator: float | None = None,
) -> Tensor:
    """Supervised fine-tuning: the negative log-likelihood of what was shown,

        L = -sum_t w_t log pi(y_t | x, y_<t) / Z

    with Z as `aggregate` says; all arguments are its, `log_probs` (tokens,). With weights of 1 per
    token it is TRL's `nll`. Weights of 0 for wrong steps are the partial masking of STeP (arXiv
    2505.20023). On sampled replies that succeeded it is rejection fine-tuning (RFT, arXiv
    2308.01825). Deviation: log-probabilities are under the constraint of the row, so that nothing
    is taught that the constraint decides.
    """
    return aggregate(-log_probs, weights, sequences, per, denominator)


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
    """Coefficient of the divergence from the reference policy. Each token's counts by its ratio,
    gradient included, which makes the estimate right for replies of an earlier policy
    (DeepSeek-V3.2; TRL's default)."""
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
    """GRPO, DAPO or GSPO, by their options:

        L = aggregate(-c_t surrogate_t + divergence * r_t * k3_t)

    with the surrogate of `clipped`, and r_t the ratio. All tensors are (tokens,). `old` is the
    policy at the start of the update; then the ratio is to it, and c_t = `truncated_importance`
    makes up for how it had moved since the sampling. Without `old` the ratio is to the stored
    behaviour and c_t = 1.

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
        values = values + options.divergence * divergence(log_probs, reference) * ratios.exp()
    return aggregate(values, taught.weights, taught.sequences, options.per, denominator)


def clipped(log_ratios: Tensor, advantages: Tensor, low: float = 0.2, high: float = 0.2) -> Tensor:
    """Return the clipped surrogate (PPO, arXiv 1707.06347, equation 7; bounds apart as in DAPO,
    arXiv 2503.14476, equation 8), to be maximised:

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
    `baseline` is z0, max(0, mean of log pi(y'|x) / ref(y'|x)) over replies y' paired
    with prompts of others; no gradient goes through it.
    """
    above = weights.beta * (log_ratios - baseline)
    value = torch.sigmoid(torch.where(is_desirable, above, -above))
    weight = torch.where(is_desirable, weights.desirable, weights.undesirable)
    return mean(weight.to(value.dtype) * (1 - value), denominator)


def advantage_regression(
    log_ratios: Tensor,
    advantages: Tensor,
    beta: float = 1.0,
    denominator: float | None = None,
) -> Tensor:
    """WebRL's policy update (arXiv 2411.02337). Its objective is reward with a penalty on leaving
    the policy of the phase before,

        max E_pi [sum_t r(s_t, a_t) + beta log ref(a_t | s_t)] + beta H(pi),

    whose optimum is pi*(a|s) = ref(a|s) exp(A*(s, a) / beta). The loss fits the policy to it on
    actions that any policy chose:

        L = E_(s, a) (beta log pi(a|s) / ref(a|s) - A(s, a))^2

    `log_ratios` (steps,) are sums over the tokens of a step's action, `advantages` (steps,).
    Deviation: none from the paper's equation. The authors' published code differs from it: it
    divides the ratio by a token count, squashes advantages to 1 or -0.6, leaves out the negative
    ones, bounds beta by the ratio and uses a smooth L1.
    """
    return mean((beta * log_ratios - advantages).square(), denominator)
