"""Stored ids and images give the log-probabilities of the sampling again, in one plain pass."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.webagent.models.local.conftest import Make, log_probs, picture, said
from webagent.errors import ModelError
from webagent.models import Constraint, Tokens
from webagent.models.constrain import compile_constraint

CHOICES = Constraint(choices=("click(12)", "click(3)", "stop", "scroll(0)"))


def redrawn(model, reply, temperature, constraint):
    """Logits to log-probabilities under the same temperature and masks, made again."""

    def apply(logits: Tensor) -> Tensor:
        logits = logits.double() / (temperature or 1.0)
        logits[:, list(model.weights.endings.never)] = -np.inf
        if constraint:
            matcher = compile_constraint(constraint, model.weights.tokenizer)()
            for place, token in enumerate(reply.token_ids):
                allowed = np.flatnonzero(matcher.mask())
                kept = torch.full_like(logits[place], -np.inf)
                kept[allowed] = logits[place, allowed]
                logits[place] = kept
                matcher.accept(token)
        return torch.log_softmax(logits, -1)

    return apply


@pytest.mark.parametrize("constraint", [None, CHOICES], ids=["free", "constrained"])
@pytest.mark.parametrize("temperature", [0.0, 1.0, 0.6])
@pytest.mark.parametrize("kind", ["causal", "llava"])
async def test_log_probs_of_sampling_come_out_of_a_plain_pass(
    make, llava_folder, kind, temperature, constraint
):
    model = make(llava_folder if kind == "llava" else None, dtype="float32")
    images = (picture("red"), picture("blue")) if kind == "llava" else ()
    asked = await model.complete(
        said("hello", *images),
        n=3,
        temperature=temperature,
        seed=2,
        max_tokens=25,
        constraint=constraint,
    )
    for reply in asked.replies:
        tokens = Tokens(asked.prompt_ids + reply.token_ids, images)
        draw = redrawn(model, reply, temperature, constraint)
        found = log_probs(model, tokens, len(asked.prompt_ids), draw)
        assert found.tolist() == pytest.approx(list(reply.log_probs), abs=1e-4)


async def test_a_stored_reply_is_trained_on_and_becomes_more_probable(make, llava_folder):
    model = make(llava_folder, dtype="float32")
    shown = (picture("red"),)
    asked = await model.complete(said("go", *shown), temperature=1.0, seed=1, max_tokens=12)
    stored = json.loads(json.dumps([asked.prompt_ids, asked.replies[0].token_ids]))
    tokens = Tokens(tuple(stored[0] + stored[1]), shown)
    module = model.weights.module.train()
    before = log_probs(model, tokens, len(stored[0])).sum()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    (-before).backward()
    seen = [
        p.grad for name, p in module.named_parameters() if "vision" in name and p.grad is not None
    ]
    assert any(float(grad.abs().sum()) > 0 for grad in seen)
    optimizer.step()
    assert log_probs(model, tokens, len(stored[0])).sum() > before
    again = await model.complete(said("go", *shown), temperature=1.0, seed=1, max_tokens=12)
    assert again.model != asked.model and again.usage["cached_input_tokens"] == 0


async def test_inputs_are_those_of_the_processor(make: Make, llava_folder: Path):
    import io

    from PIL import Image
    from transformers import AutoProcessor

    model = make(llava_folder, dtype="float32")
    image = picture("red", (640, 360))
    asked = await model.complete(said("hello", image), max_tokens=1)
    reader = model.weights.reader
    inputs = reader.inputs(reader.read(Tokens(asked.prompt_ids, (image,))))
    theirs = AutoProcessor.from_pretrained(llava_folder)(
        images=Image.open(io.BytesIO(image)),
        text="<|system|>Press buttons.<|end|><|user|>hello<image><|end|><|assistant|>",
        return_tensors="pt",
    )
    assert inputs["input_ids"].tolist() == theirs["input_ids"].tolist()
    assert torch.equal(inputs["pixel_values"], theirs["pixel_values"])


async def test_images_that_do_not_belong_to_the_ids_are_refused(make: Make, llava_folder: Path):
    model = make(llava_folder)
    red = picture("red")
    asked = await model.complete(said("hello", red, red), max_tokens=1)
    with pytest.raises(ModelError, match=r"places for 32 parts.*3 image\(s\) have 48"):
        model.weights.reader.read(Tokens(asked.prompt_ids, (red, red, red)))
    with pytest.raises(ModelError, match=r"0 image\(s\) have 0"):
        await model.complete(Tokens(asked.prompt_ids), max_tokens=1)
