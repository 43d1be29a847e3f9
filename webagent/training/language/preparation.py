"""A model made ready to be trained, and its optimiser."""

from pathlib import Path

import torch
from torch import nn

from webagent.errors import SetupError
from webagent.training.language.adapters import with_adapter
from webagent.training.language.config import TrainConfig


def prepared(model: nn.Module, config: TrainConfig, adapter: Path | None) -> nn.Module:
    """The model with its adapter and whatever else the config asks of it.

    Raises `SetupError` for what the model cannot do, and when no weight may change.
    """
    if config.gradient_checkpointing:
        _checkpoint_activations(model)
    if config.lora is not None:
        model = with_adapter(model, config.lora, adapter)
    elif adapter is not None:
        raise SetupError(f"the adapter in {adapter} was given, but lora is None: full weights")
    if not any(p.requires_grad for p in model.parameters()):
        raise SetupError("the model has no weight that may change: all are frozen")
    return model


def _checkpoint_activations(model: nn.Module) -> None:
    """By the name it has in transformers 5.23, else by the one it had before."""
    for name in ("activation_checkpointing_enable", "gradient_checkpointing_enable"):
        enable = getattr(model, name, None)
        if enable is not None:
            enable({"use_reentrant": False})
            return
    raise SetupError(
        f"{type(model).__name__} knows no gradient checkpointing; switch it off, or make the"
        " micro-batches smaller"
    )


def optimizer(model: nn.Module, config: TrainConfig, device: torch.device) -> torch.optim.Optimizer:
    """AdamW over the weights that are not frozen."""
    learnt = [p for p in model.parameters() if p.requires_grad]
    matrices, vectors = [p for p in learnt if p.ndim > 1], [p for p in learnt if p.ndim <= 1]
    groups = [
        {"params": matrices, "weight_decay": config.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    fused = device.type == "cuda"
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=config.betas, fused=fused)
