"""What a training will hold in memory and take in time, from a model's configuration alone.

The model is built on torch's meta device, where tensors have shapes and no bytes: its forward pass
is run there, and what autograd would keep is counted.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from webagent.errors import SetupError
from webagent.models.local.source import check_model
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.likelihood import ForwardOptions, takes, text_config
from webagent.training.language.preparation import with_adapter

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

_ATTENTION = "planned"
_PROBE = 64
"""Tokens of the forward pass that is counted; what is kept grows with them in proportion."""
_LOGIT_COPIES = 4
"""Times that logits are held at their peak: themselves, scaled, their softmax, their gradient."""
_EFFICIENCY = 0.4
"""Share of a matrix product's speed that a whole model reaches, as others report for 7 B."""
_FIT = 0.92
"""Share of a device that may be planned for; fragments and the libraries take the rest."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long the rows of a training are, in tokens."""

    longest: int
    usual: int
    taught: int
    """Of a usual row, those that are learnt."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Bytes at the peak of an update, and of the keys and values of generation."""

    parameters: int
    """Of the model; a count."""
    weights: int
    optimizer: int
    """Gradients and both moments of AdamW, of the weights that are trained."""
    activations: int
    logits: int
    reference: int
    cache: int
    available: int

    @property
    def training(self) -> int:
        """Return the peak of an update."""
        held = self.weights + self.optimizer + self.reference
        return held + self.activations + self.logits

    @property
    def needed(self) -> int:
        """Return the larger of training and generation, which take turns."""
        return max(self.training, self.weights + self.cache)

    @property
    def fits(self) -> bool:
        """Return whether the device holds it, with a little left."""
        return self.needed <= _FIT * self.available


def build_module(name: str, dtype: torch.dtype, attention: str) -> nn.Module:
    """Return a model of this shape, on the default device, with weights that mean nothing.

    Raises `SetupError` for a folder without one.
    """
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

    if not (Path(name) / "config.json").is_file():
        check_model(name)
    config = AutoConfig.from_pretrained(name)
    kind: Any = AutoModelForImageTextToText if sees_images(config) else AutoModelForCausalLM
    module: nn.Module = kind.from_config(config, dtype=dtype, attn_implementation=attention)
    return module


def sees_images(config: "PreTrainedConfig") -> bool:
    """Return whether a model of this configuration looks at images."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

    return config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES


def build_meta_model(name: str, dtype: torch.dtype, lora: LoraSettings | None) -> nn.Module:
    """Return a model without bytes, its adapter on. Raises `SetupError` as loading does."""
    from transformers import AttentionInterface

    def attend(
        module: nn.Module, query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any
    ) -> tuple[Tensor, None]:
        result: Tensor = _Attention.apply(query, key, value)  # type: ignore[no-untyped-call]
        return result.transpose(1, 2).contiguous(), None

    AttentionInterface.register(_ATTENTION, attend)
    with torch.device("meta"):
        module = build_module(name, dtype, _ATTENTION)
        return (module if lora is None else with_adapter(module, lora)).train()


class _Attention(torch.autograd.Function):
    """Keeps what fused attention keeps: queries, keys, values, the result and a number a row."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        result = torch.empty_like(query)
        ctx.save_for_backward(query, key, value, result, query.new_empty(query.shape[:-1]))
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        query, key, value, *_ = ctx.saved_tensors
        return torch.empty_like(query), torch.empty_like(key), torch.empty_like(value)


def count_kept(model: nn.Module) -> float:
    """Return the bytes that autograd keeps a token of a forward pass, parameters left out."""
    known = {each.untyped_storage()._cdata for each in model.parameters()}
    kept: dict[int, tuple[Tensor, int]] = {}

    def keep(value: Tensor) -> Tensor:
        storage = value.untyped_storage()
        if storage._cdata not in known:
            kept[storage._cdata] = (value, storage.nbytes())
        return value

    base: Any = getattr(model, "get_base_model", lambda: model)()
    described, dtype = text_config(model), next(model.parameters()).dtype
    shown = torch.zeros(1, _PROBE, described.hidden_size, dtype=dtype, device="meta")
    # arXiv 2205.05198, equation 2, without scores.
    usual = float(17 * described.num_hidden_layers * described.hidden_size * dtype.itemsize)
    decoder = base.get_decoder() if hasattr(base, "get_decoder") else base
    if not takes(decoder, "inputs_embeds"):
        return usual
    try:
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
            shown.requires_grad_(base.get_input_embeddings().weight.requires_grad)
            decoder(inputs_embeds=shown, use_cache=False)
    except RuntimeError as error:
        if "meta" not in str(error):
            raise
        return usual  # it asks for values, of which there are none
    return sum(size for _, size in kept.values()) / _PROBE


def plan_memory(
    name: str,
    config: TrainConfig,
    lengths: Lengths,
    *,
    device: torch.device,
    rows: int = 1,
    has_reference: bool = False,
) -> MemoryPlan:
    """Return what training this model so takes, and generating `rows` replies at once.

    `has_reference` is whether the objective compares with earlier weights, which are a copy where
    all weights are trained. Raises `SetupError` for a model that does not load.
    """
    held: torch.dtype = getattr(torch, config.held_in)
    model = build_meta_model(name, held, config.lora)
    described = text_config(model)
    weights = sum(each.nbytes for each in model.parameters())
    trained = sum(3 * each.nbytes for each in model.parameters() if each.requires_grad)
    compute = torch.bfloat16 if config.bf16 else torch.float32
    kept = count_kept(model.to(compute))
    layers = int(described.num_hidden_layers)
    width = int(described.hidden_size) * compute.itemsize
    tokens = max(config.micro_batch_tokens, lengths.longest)
    if config.gradient_checkpointing:
        kept = kept / layers + layers * width
    taught = max(1, tokens * lengths.taught // lengths.usual)
    logits = min(taught * int(described.vocab_size), ForwardOptions().logits) * 4 * _LOGIT_COPIES
    heads = getattr(described, "num_key_value_heads", None) or described.num_attention_heads
    size = getattr(described, "head_dim", None) or (
        described.hidden_size // described.num_attention_heads
    )
    cached = 2 * layers * heads * size * held.itemsize * lengths.longest * rows
    return MemoryPlan(
        parameters=sum(each.numel() for each in model.parameters()),
        weights=weights,
        optimizer=trained,
        activations=int(kept * tokens),
        logits=logits,
        reference=weights if has_reference and config.lora is None else 0,
        cache=cached,
        available=find_memory(device),
    )


def find_memory(device: torch.device) -> int:
    """Return the bytes of a GPU, or those that this machine has free."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise SetupError("this machine does not say how much memory is free")


def find_fitting(name: str, config: TrainConfig, lengths: Lengths, **how: Any) -> str:
    """Return the flags with which the training fits, the least of them; empty where none do."""
    lower = min(config.micro_batch_tokens, lengths.longest)
    flags, tried = [], config
    for flag, changed in (
        (f"--micro-batch-tokens {lower}", {"micro_batch_tokens": lower}),
        ("--gradient-checkpointing on", {"gradient_checkpointing": True}),
        ("--lora 16", {"lora": config.lora or LoraSettings()}),
        ("--bf16 on", {"bf16": True}),
    ):
        changed_config = replace(tried, **changed)
        if changed_config == tried:
            continue
        flags.append(flag)
        tried = changed_config
        if plan_memory(name, tried, lengths, **how).fits:
            return " ".join(flags)
    return ""


def find_misfit(
    name: str, config: TrainConfig, lengths: Lengths, plan: MemoryPlan, **how: Any
) -> str:
    """Return what does not fit, with the flags that make it fit; empty where all does."""
    if plan.fits:
        return ""
    flags = find_fitting(name, config, lengths, **how)
    step = f"give {flags}" if flags else "take a smaller model or a larger device"
    sizes = f"{plan.needed / 1e9:.1f} GB of {plan.available / 1e9:.1f}"
    return f"{name} does not fit: {sizes}; {step} (--plan lists what takes how much)"


def measure_speed(device: torch.device, dtype: torch.dtype) -> float:
    """Return the floating-point operations a second of a large matrix product on this device."""
    size = 8192 if device.type == "cuda" else 1024
    one = torch.ones(size, size, device=device, dtype=dtype)

    def run() -> None:
        one @ one
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    run()
    started = time.perf_counter()
    run()
    return float(2 * size**3 / (time.perf_counter() - started))


def estimate_hours(plan: MemoryPlan, tokens: float, speed: float, config: TrainConfig) -> float:
    """Return the hours of training on so many tokens: for each weight and token 2 operations
    forward, 2 for the gradients of activations, 2 for those of weights that are trained, and 2
    where activations are computed again."""
    operations = 4 + 2 * (config.lora is None) + 2 * config.gradient_checkpointing
    return operations * plan.parameters * tokens / (_EFFICIENCY * speed) / 3600


def format_plan(plan: MemoryPlan, config: TrainConfig, lengths: Lengths) -> list[tuple[str, str]]:
    """Return what is planned, each with its name."""
    tokens = max(config.micro_batch_tokens, lengths.longest)
    parts = {
        "weights": plan.weights,
        "gradients and optimiser": plan.optimizer,
        f"activations of {tokens:,} tokens": plan.activations,
        "logits": plan.logits,
        "reference": plan.reference,
        "training in all": plan.training,
        "keys and values": plan.cache,
        "there are": plan.available,
    }
    sizes = [(name, f"{size / 1e9:,.2f} GB") for name, size in parts.items() if size]
    return [("parameters", f"{plan.parameters:,}"), *sizes]
