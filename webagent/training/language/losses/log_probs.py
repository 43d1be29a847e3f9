"""Log-probabilities of given ids, at the temperature and under the masks they were sampled with."""

import torch
from torch import Tensor

from webagent.errors import ModelError


def token_log_probs(
    logits: Tensor,
    ids: Tensor,
    temperature: float | Tensor = 1.0,
    masks: Tensor | None = None,
) -> Tensor:
    """The natural logarithm of each id's probability.

    `logits` is (..., vocabulary), `ids` (...): the logits at a place are those its id was drawn
    from, so the caller shifts them by one. `temperature`, greater than 0, is a number or (...).
    `masks`, (..., vocabulary) of booleans, says which ids could be drawn; what is left is
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


def token_entropies(
    logits: Tensor, temperature: float | Tensor = 1.0, masks: Tensor | None = None
) -> Tensor:
    """The entropy in nats of the distribution at each place, (...); arguments as above."""
    log_probs = torch.log_softmax(_scores(logits, temperature, masks), -1)
    finite = log_probs if masks is None else log_probs.masked_fill(~masks, 0.0)
    return -(log_probs.exp() * finite).sum(-1)


def _scores(logits: Tensor, temperature: float | Tensor, masks: Tensor | None) -> Tensor:
    scores = logits if logits.dtype == torch.float64 else logits.float()
    if isinstance(temperature, Tensor):
        scores = scores / temperature.to(scores.dtype).unsqueeze(-1)
    elif temperature != 1:
        scores = scores / temperature
    return scores if masks is None else scores.masked_fill(~masks, -torch.inf)
