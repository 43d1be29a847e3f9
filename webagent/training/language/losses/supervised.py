"""Imitation: taught tokens are made more likely."""

from torch import Tensor

from webagent.training.language.losses.aggregate import Per, aggregate


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
    2308.01825). Deviation: log-probabilities are at the temperature and under the constraint of
    the row, so that nothing is taught that the constraint decides.
    """
    return aggregate(-log_probs, weights, sequences, per, denominator)
