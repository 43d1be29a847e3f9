"""Losses as pure functions of tensors, each with its paper's equation."""

from webagent.training.language.losses.aggregate import (
    Per,
    aggregate,
    sequence_means,
    sequence_sums,
)
from webagent.training.language.losses.entropy import entropy_smoothing, smoothing_weight
from webagent.training.language.losses.log_probs import token_entropies, token_log_probs
from webagent.training.language.losses.policy_gradient import (
    Clipping,
    clipped,
    divergence,
    policy_gradient,
    truncated_importance,
)
from webagent.training.language.losses.preference import (
    Desirability,
    Pairs,
    desirability,
    desirability_baseline,
    preferences,
)
from webagent.training.language.losses.regression import advantage_regression, attribution
from webagent.training.language.losses.supervised import supervised
from webagent.training.language.losses.taught import TaughtTokens, Unit, taught_tokens

__all__ = [
    "Clipping",
    "Desirability",
    "Pairs",
    "Per",
    "TaughtTokens",
    "Unit",
    "advantage_regression",
    "aggregate",
    "attribution",
    "clipped",
    "desirability",
    "desirability_baseline",
    "divergence",
    "entropy_smoothing",
    "policy_gradient",
    "preferences",
    "sequence_means",
    "sequence_sums",
    "smoothing_weight",
    "supervised",
    "taught_tokens",
    "token_entropies",
    "token_log_probs",
    "truncated_importance",
]
