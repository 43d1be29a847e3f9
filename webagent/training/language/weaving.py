"""Whether a model reads a tree of rows as it reads the rows themselves."""

import torch
from torch import nn

from webagent.errors import ModelError
from webagent.training.language.likelihood import PLAIN, attention_kind, log_probs, takes
from webagent.training.language.packing import Packing
from webagent.training.language.projection import text_config
from webagent.training.language.rows import TokenRow

_CLOSE = {torch.float32: 1e-3, torch.float64: 1e-6}
_CLOSE_IN_HALF = 0.25


def no_tree(model: nn.Module) -> str:
    """Why the rows of this model cannot be woven into a tree; empty where they can.

    What its configuration says is asked first; then the model itself, with rows of three tokens
    read both ways.
    """
    kind = attention_kind(model)
    if kind not in ("sdpa", "eager"):
        found = f"{kind} attention" if kind else "a module that names no attention"
        return f"{found}; a mask of our own needs sdpa or eager attention"
    text = text_config(model)
    layers = set(getattr(text, "layer_types", None) or ()) - {"full_attention"}
    if layers:
        return f"layers of the kind {', '.join(sorted(layers))} take no mask of our own"
    if getattr(text, "sliding_window", None) and getattr(text, "use_sliding_window", True):
        return f"attention through a sliding window of {text.sliding_window}"
    vocabulary = int(getattr(text, "vocab_size", 0))
    if vocabulary < 8:
        return "a vocabulary too small to try it on"
    ids = [vocabulary // 2 + i for i in range(4)]
    rows = [
        TokenRow(ids=(ids[0], ids[1], *tail), weights=(0.0, 1.0, 1.0, 1.0))
        for tail in ((ids[2], ids[3]), (ids[3], ids[2]), (ids[0], ids[2]))
    ]
    tree, plain = Packing(attention=10**9), Packing(tokens=1, tree=False)
    was_training = model.training
    model.train(False)
    try:
        with torch.no_grad():
            there = log_probs(model, rows, tree, PLAIN)
            here = log_probs(model, rows, plain, PLAIN)
    except (ValueError, RuntimeError, TypeError, ModelError) as error:
        return f"its forward refuses a tree: {error}"
    finally:
        model.train(was_training)
    off = max(float((a - b).abs().max()) for a, b in zip(there, here, strict=True))
    allowed = _CLOSE.get(next(model.parameters()).dtype, _CLOSE_IN_HALF)
    return "" if off <= allowed else f"log-probabilities in a tree are off by {off:.2g}"


def no_image_tree(model: nn.Module) -> str:
    """Why rows with images cannot, where rows of text can; empty where they can as well."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model  # type: ignore[operator]
    inner = getattr(base, "model", base)
    if hasattr(inner, "get_rope_index"):
        return "positions in two dimensions, which the model counts along whole rows"
    if takes(model, "token_type_ids"):
        return "images that look at themselves both ways"
    return ""


def attention_span(model: nn.Module) -> int:
    """The length at which attention costs as much as all else: six times the width."""
    return 6 * int(getattr(text_config(model), "hidden_size", 0) or 1024)
