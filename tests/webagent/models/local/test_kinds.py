"""Causal models of other kinds: sliding windows, absolute positions, none at all."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.fakes import tiny_models
from tests.webagent.models.local.conftest import Make, log_probs, said
from webagent.errors import SetupError
from webagent.models import Tokens

SLIDING = {"sliding_window": 16}
MIXED = SLIDING | {"layer_types": ["sliding_attention", "full_attention"]}
KINDS = {
    "mistral": SLIDING,
    "cohere2": MIXED,
    "gpt2": {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 512},
    "bloom": {"n_head": 4, "n_layer": 2},
    "qwen3": {},
}


def saved(folder: Path, kind: str, **settings: Any) -> Path:
    """A model of this kind with random weights."""
    from transformers import AutoConfig, AutoModelForCausalLM

    words = tiny_models.tokenizer()
    usual = {
        "vocab_size": len(words),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": 512,
        "bos_token_id": None,
        "eos_token_id": words.eos_token_id,
        "pad_token_id": words.pad_token_id,
    }
    torch.manual_seed(0)
    config = AutoConfig.for_model(kind, **(usual | settings))
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", KINDS)
async def test_requests_together_get_what_transformers_writes(make, tmp_path, kind):
    attention = "eager" if kind == "bloom" else "sdpa"
    model = make(saved(tmp_path, kind, **KINDS[kind]), attention=attention)
    prompts = [said(f"press the button {number} " * (3 + 3 * number)) for number in range(4)]
    await model.complete(prompts[0], max_tokens=3)
    asked = await asyncio.gather(*(model.complete(one, max_tokens=24) for one in prompts))
    for one in asked:
        written = model.weights.module.generate(
            torch.tensor([one.prompt_ids]), max_new_tokens=24, do_sample=False
        )
        assert written[0, len(one.prompt_ids) :].tolist() == list(one.replies[0].token_ids)
    sampled = await model.complete(prompts[1], n=2, temperature=1.0, seed=1, max_tokens=20)
    for reply in sampled.replies:
        tokens = Tokens(sampled.prompt_ids + reply.token_ids)
        found = log_probs(model, tokens, len(sampled.prompt_ids))
        assert found.tolist() == pytest.approx(list(reply.log_probs), abs=1e-6)


def test_a_model_with_recurrent_layers_is_refused(make: Make, tmp_path: Path):
    folder = saved(tmp_path, "lfm2", layer_types=["conv", "full_attention"])
    with pytest.raises(SetupError, match=r"has recurrent layers.*use an endpoint"):
        make(folder)


def test_a_model_without_the_attention_asked_for_is_told_of_another(make: Make, tmp_path: Path):
    with pytest.raises(SetupError, match="load it with attention='eager'"):
        make(saved(tmp_path, "bloom", **KINDS["bloom"]))


@pytest.mark.parametrize("dtype", ["bfloat16", "auto"])
async def test_a_model_replies_in_other_types(make: Make, dtype: str):
    model = make(dtype=dtype)
    held = next(model.weights.module.parameters()).dtype
    assert held == (torch.bfloat16 if dtype == "bfloat16" else torch.float32)
    asked = await model.complete(said("hello"), n=2, temperature=1.0, seed=1, max_tokens=8)
    assert all(reply.token_ids for reply in asked.replies)
