"""Low-rank adapters on a frozen base, and whose base it is."""

import hashlib
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from webagent.errors import SetupError
from webagent.training.language.config import LoraSettings

_BASE = "base.json"
"""Beside an adapter's weights: the fingerprint of the base it was trained on."""
_SAMPLE = 32


def with_adapter(model: nn.Module, settings: LoraSettings, folder: Path | None = None) -> nn.Module:
    """The model with a trainable adapter, a new one or the one saved in the folder.

    Raises `SetupError` for target modules that the model does not have, and for an adapter of
    another base.
    """
    if is_adapted(model):
        return model
    if folder is not None:
        return _loaded(model, folder)
    from peft import LoraConfig, get_peft_model

    _check_targets(model, settings.targets)
    wanted = settings.targets
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules="all-linear" if wanted == ("all-linear",) else list(wanted),
        task_type="CAUSAL_LM",
    )
    with _quiet():
        adapted: nn.Module = get_peft_model(model, config)
    return adapted


@contextmanager
def _quiet() -> Iterator[None]:
    """peft 0.21 asks by names that transformers 5.23 warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def save_adapter(model: nn.Module, folder: Path) -> None:
    """Write the adapter so that peft loads it, with the fingerprint of its base."""
    saved: Any = model
    saved.save_pretrained(str(folder))
    (folder / _BASE).write_text(json.dumps({"fingerprint": fingerprint(model)}) + "\n")


def is_adapted(model: nn.Module) -> bool:
    """Whether the model is a base with an adapter of peft."""
    return hasattr(model, "peft_config") and hasattr(model, "disable_adapter")


def fingerprint(model: nn.Module) -> str:
    """16 hex digits that tell one base from another by the names, shapes and some values of its
    frozen weights; the same with an adapter or without, and in half precision."""
    digest = hashlib.sha256()
    for name, values in sorted(_base_weights(model)):
        flat = values.detach().flatten()
        every = max(1, len(flat) // _SAMPLE)
        sample = flat[::every][:_SAMPLE].to("cpu", torch.bfloat16).contiguous().view(torch.int16)
        digest.update(f"{name} {tuple(values.shape)}".encode())
        digest.update(sample.numpy().tobytes())
    return digest.hexdigest()[:16]


def _base_weights(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    adapted = is_adapted(model)
    for name, values in model.named_parameters():
        if adapted and ("lora_" in name or "modules_to_save" in name):
            continue
        yield name.removeprefix("base_model.model.").replace(".base_layer", ""), values


def _check_targets(model: nn.Module, targets: tuple[str, ...]) -> None:
    if targets == ("all-linear",):
        return
    names = [name for name, _ in model.named_modules()]
    missing = [
        target
        for target in targets
        if not any(name == target or name.endswith(f".{target}") for name in names)
    ]
    if missing:
        linear = sorted(
            {
                name.rpartition(".")[2]
                for name, module in model.named_modules()
                if isinstance(module, nn.Linear)
            }
        )
        raise SetupError(
            f"the model has no module {', '.join(map(repr, missing))} to put an adapter on; its"
            f" linear ones are {', '.join(linear[:20]) or 'none'}, or take 'all-linear'"
        )


def _loaded(model: nn.Module, folder: Path) -> nn.Module:
    from peft import PeftModel

    if not (folder / "adapter_config.json").is_file():
        raise SetupError(f"{folder} holds no adapter: adapter_config.json is missing")
    _check_base(model, folder)
    try:
        with _quiet():
            adapted: nn.Module = PeftModel.from_pretrained(
                model,
                str(folder),
                is_trainable=True,
            )
    except (RuntimeError, ValueError) as error:
        raise SetupError(
            f"the adapter in {folder} does not fit this model: {str(error).splitlines()[0]};"
            " load the base it was trained on"
        ) from error
    return adapted


def _check_base(model: nn.Module, folder: Path) -> None:
    note = folder / _BASE
    if not note.is_file():
        return
    try:
        theirs = json.loads(note.read_text())["fingerprint"]
    except (ValueError, KeyError, TypeError) as error:
        raise SetupError(f"{note} is damaged; save the adapter again") from error
    ours = fingerprint(model)
    if theirs != ours:
        raise SetupError(
            f"the adapter in {folder} belongs to another base: it was trained on weights {theirs},"
            f" these are {ours}; load the base it was trained on"
        )
