"""A model made ready to be trained: its adapter, its optimiser and its reference."""

import copy
import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from webagent.errors import SetupError
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.likelihood import ForwardOptions, compute_likelihood
from webagent.training.language.packing import Sheet
from webagent.training.language.rows import TokenRow
from webagent.training.language.sharding import shard_model

_BASE = "base.json"
"""Beside an adapter's weights: the fingerprint of the base it was trained on."""
_SAMPLE = 32
"""Values of each tensor that a fingerprint looks at."""


def with_adapter(model: nn.Module, settings: LoraSettings, folder: Path | None = None) -> nn.Module:
    """Return the model with a trainable adapter, a new one or the one saved in the folder.

    Raises `SetupError` for target modules that the model does not have, and for an adapter of
    another base.
    """
    if is_adapted(model):
        return model
    if folder is not None:
        return _load_adapter(model, folder)
    from peft import LoraConfig, get_peft_model

    if settings.targets != ("all-linear",):
        names = [name for name, _ in model.named_modules()]
        missing = [
            t for t in settings.targets if not any(f".{name}".endswith(f".{t}") for name in names)
        ]
        if missing:
            modules = model.named_modules()
            linear = sorted({n.rpartition(".")[2] for n, m in modules if isinstance(m, nn.Linear)})
            raise SetupError(
                f"the model has no module {', '.join(map(repr, missing))} to put an adapter on; its"
                f" linear ones are {', '.join(linear[:20]) or 'none'}, or take 'all-linear'"
            )
    wanted = settings.targets
    decoder = getattr(model, "get_decoder", lambda: model)()
    reading = {id(module) for module in decoder.modules()}
    others = [
        name
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and id(module) not in reading
    ]
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules="all-linear" if wanted == ("all-linear",) else list(wanted),
        exclude_modules=others if others and wanted == ("all-linear",) else None,
        task_type="CAUSAL_LM",
    )
    with _ignore_renames():
        adapted: nn.Module = get_peft_model(model, config)
    return adapted


@contextmanager
def _ignore_renames() -> Iterator[None]:
    """peft 0.21 asks by names that transformers 5.23 warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def save_adapter(
    model: nn.Module, folder: Path, base: str = "", weights: Mapping[str, Tensor] | None = None
) -> None:
    """Write the adapter so that peft loads it, with the fingerprint of its base, which is given
    with the weights where this process holds a part of them only."""
    saved: Any = model
    saved.save_pretrained(str(folder), state_dict=weights)
    (folder / _BASE).write_text(json.dumps({"fingerprint": base or fingerprint(model)}) + "\n")


def is_adapted(model: nn.Module) -> bool:
    """Whether the model is a base with an adapter of peft."""
    return hasattr(model, "peft_config") and hasattr(model, "disable_adapter")


def fingerprint(model: nn.Module) -> str:
    """Return 16 hex digits that tell one base from another by the names, shapes and some values of
    its frozen weights; the same with an adapter or without, and in half precision."""
    digest = hashlib.sha256()
    adapted = is_adapted(model)
    weights = [
        (name.removeprefix("base_model.model.").replace(".base_layer", ""), values)
        for name, values in model.named_parameters()
        if not (adapted and ("lora_" in name or "modules_to_save" in name))
    ]
    for name, values in sorted(weights):
        flat = values.detach().flatten()
        every = max(1, len(flat) // _SAMPLE)
        sample = flat[::every][:_SAMPLE].to("cpu", torch.bfloat16).contiguous().view(torch.int16)
        digest.update(f"{name} {tuple(values.shape)}".encode())
        digest.update(sample.numpy().tobytes())
    return digest.hexdigest()[:16]


def _load_adapter(model: nn.Module, folder: Path) -> nn.Module:
    from peft import PeftModel

    if not (folder / "adapter_config.json").is_file():
        raise SetupError(f"{folder} holds no adapter: adapter_config.json is missing")
    check_base(model, folder)
    try:
        with _ignore_renames():
            adapted: nn.Module = PeftModel.from_pretrained(model, str(folder), is_trainable=True)
    except (RuntimeError, ValueError) as error:
        raise SetupError(
            f"the adapter in {folder} does not fit this model: {str(error).splitlines()[0]};"
            " load the base it was trained on"
        ) from error
    return adapted


def check_base(model: nn.Module, folder: Path) -> None:
    """Raise `SetupError` where the adapter in a folder says that it was trained on other weights
    than this base, which has no adapter on."""
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


def prepare_model(model: nn.Module, config: TrainConfig, adapter: Path | None) -> nn.Module:
    """Return the model with its adapter and whatever else the config asks of it.

    Raises `SetupError` for what the model cannot do, and when no weight may change.
    """
    if config.gradient_checkpointing:
        # By the name it has in transformers 5.23, else by the one it had before.
        names = ("activation_checkpointing_enable", "gradient_checkpointing_enable")
        enable = next((found for name in names if (found := getattr(model, name, None))), None)
        if enable is None:
            raise SetupError(
                f"{type(model).__name__} knows no gradient checkpointing; switch it off, or make"
                " the micro-batches smaller"
            )
        enable({"use_reentrant": False})
    if config.lora is not None:
        model = with_adapter(model, config.lora, adapter)
    elif adapter is not None:
        raise SetupError(f"the adapter in {adapter} was given, but lora is None: full weights")
    if not any(p.requires_grad for p in model.parameters()):
        raise SetupError("the model has no weight that may change: all are frozen")
    return model


def build_optimizer(
    model: nn.Module, config: TrainConfig, device: torch.device
) -> torch.optim.Optimizer:
    """Return AdamW over the weights that are not frozen, without weight decay."""
    learnt = [p for p in model.parameters() if p.requires_grad]
    fused = device.type == "cuda"
    return torch.optim.AdamW(learnt, lr=config.learning_rate, weight_decay=0.0, fused=fused)


class Reference:
    """Log-probabilities of taught ids under weights that stay as they are."""

    def __init__(self, model: nn.Module, given: nn.Module | None = None) -> None:
        """`given` is another model; without it the model as it is now: of an adapted one the
        adapter is copied, which in rounds is that of the round before (WebRL's previous phase)."""
        if given is None and not is_adapted(model):
            given = copy.deepcopy(model)
        self._model = None if given is None else given.requires_grad_(False).train(False)
        self._trained = model
        self._adapter: list[tuple[nn.Parameter, Tensor]] = []
        if given is None:
            learnt = [each for each in model.parameters() if each.requires_grad]
            self._adapter = [(each, each.detach().clone()) for each in learnt]

    def __call__(self, sheet: Sheet, rows: Sequence[TokenRow], reading: ForwardOptions) -> Tensor:
        """(taught,), in the sheet's order."""
        with torch.no_grad():
            if self._model is not None:
                return compute_likelihood(self._model, sheet, rows, reading)
            # The model with its adapter as it was, without dropout.
            was_training = self._trained.training
            self._trained.train(False)
            self._swap()
            try:
                return compute_likelihood(self._trained, sheet, rows, reading)
            finally:
                self._swap()
                self._trained.train(was_training)

    def to(self, device: torch.device, sharded: bool = False) -> None:
        """Move what is held to the device, or this process's part of it."""
        if self._model is not None and sharded:
            shard_model(self._model, device)
        elif self._model is not None:
            self._model.to(device)

    def _swap(self) -> None:
        for place, (parameter, other) in enumerate(self._adapter):
            self._adapter[place] = (parameter, parameter.detach().clone())
            parameter.copy_(other)  # in place: FSDP reads split weights from this memory
