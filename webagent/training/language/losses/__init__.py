"""Losses as pure functions of tensors, each with its paper's equation."""

from webagent.training.language.losses.log_probs import token_entropies, token_log_probs

__all__ = ["token_entropies", "token_log_probs"]
