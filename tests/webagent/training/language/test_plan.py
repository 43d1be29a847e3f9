"""What a training is planned to take, from a configuration without weights."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from webagent.training.language import plan
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.plan import Lengths, MemoryPlan, plan_memory

CPU = torch.device("cpu")
LENGTHS = Lengths(longest=512, usual=256, taught=16)
CONFIG = TrainConfig(micro_batch_tokens=512)


@pytest.fixture
def shape(tmp_path: Path) -> str:
    """A folder with a configuration and nothing else: 2 layers, 32 wide, 1,000 ids."""
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1000}
    kind = {"architectures": ["LlamaForCausalLM"], "model_type": "llama"}
    (tmp_path / "config.json").write_text(json.dumps(kind | sizes | heads))
    return str(tmp_path)


def planned(shape: str, config: TrainConfig, **how: bool) -> MemoryPlan:
    return plan_memory(shape, config, LENGTHS, device=CPU, rows=3, **how)


def test_weights_optimizer_and_keys_are_counted_from_the_shape(shape: str) -> None:
    found = planned(shape, CONFIG, has_reference=True)
    attention, gates = 32 * 32 * 2 + 32 * 16 * 2, 3 * 32 * 64
    count = 2 * 1000 * 32 + 2 * (attention + gates + 2 * 32) + 32
    assert (found.parameters, found.weights) == (count, 4 * count)
    assert (found.optimizer, found.reference) == (12 * count, 4 * count)
    assert found.cache == 2 * 2 * 16 * 4 * 512 * 3
    assert found.logits == 32 * 1000 * 4 * 4


def test_activations_are_what_autograd_keeps(shape: str) -> None:
    module = plan.build_module(shape, torch.float32, "eager")
    known = {each.data_ptr() for each in module.parameters()}
    kept: dict[int, torch.Tensor] = {}

    def keep(value: torch.Tensor) -> torch.Tensor:
        if value.data_ptr() not in known:
            kept[value.untyped_storage().data_ptr()] = value
        return value

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
        module.train()(input_ids=torch.ones(1, 64, dtype=torch.long), logits_to_keep=1)
    real = sum(each.untyped_storage().nbytes() for each in kept.values()) / 64
    # Plain attention keeps its scores as well, for each of the other tokens.
    assert planned(shape, CONFIG).activations / 512 == pytest.approx(real, rel=0.35)


def test_adapters_checkpointing_and_half_precision_take_less(shape: str) -> None:
    whole = planned(shape, CONFIG)
    adapted = planned(shape, replace(CONFIG, lora=LoraSettings(rank=2)))
    again = planned(shape, replace(CONFIG, lora=LoraSettings(rank=2), gradient_checkpointing=True))
    half = planned(shape, replace(CONFIG, lora=LoraSettings(rank=2), bf16=True))
    assert adapted.optimizer < whole.optimizer / 5
    assert again.activations < adapted.activations
    assert half.weights < 0.6 * adapted.weights and half.activations < adapted.activations


def test_what_does_not_fit_is_explained_with_what_would(shape, monkeypatch):
    found = planned(shape, CONFIG)
    assert plan.find_misfit(shape, CONFIG, LENGTHS, found, device=CPU) == ""
    small = replace(found, available=int(0.8 * found.training))
    monkeypatch.setattr(plan, "find_memory", lambda device: small.available)
    sentence = plan.find_misfit(shape, CONFIG, LENGTHS, small, device=CPU)
    assert "does not fit" in sentence and "give --gradient-checkpointing" in sentence
    monkeypatch.setattr(plan, "find_memory", lambda device: 1000)
    sentence = plan.find_misfit(shape, CONFIG, LENGTHS, small, device=CPU)
    assert "take a smaller model or a larger device" in sentence


def test_linear_layers_outside_the_decoder_get_no_adapter() -> None:
    from webagent.training.language.preparation import with_adapter

    class Seeing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tower, self.decoder = nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 8))

        def prepare_inputs_for_generation(self) -> None: ...

        def get_decoder(self) -> nn.Module:
            return self.decoder

    adapted = with_adapter(Seeing(), LoraSettings(rank=2, targets=("all-linear",)))
    names = {name.split(".lora_")[0] for name, _ in adapted.named_parameters() if "lora_" in name}
    assert names == {"base_model.model.decoder.0"}


@pytest.mark.parametrize(
    ("message", "is_hidden"), [("Tensor.item() on meta tensors", True), ("sizes differ", False)]
)
def test_a_forward_that_needs_values_is_estimated_and_one_that_fails_is_not(
    message, is_hidden, shape, monkeypatch
):
    def fail(self: nn.Module, inputs_embeds: torch.Tensor, use_cache: bool) -> None:
        raise RuntimeError(message)

    monkeypatch.setattr("transformers.LlamaModel.forward", fail)
    if is_hidden:
        assert planned(shape, CONFIG).activations == 17 * 2 * 32 * 4 * 512
    else:
        with pytest.raises(RuntimeError, match=message):
            planned(shape, CONFIG)
