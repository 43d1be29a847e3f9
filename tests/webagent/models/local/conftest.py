"""Tiny models whose replies differ from prompt to prompt, and what is asked of them."""

import io
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from tests.fakes import tiny_models
from webagent.models import Message, Tokens
from webagent.models.local import Generation, LocalModel, ModelSource
from webagent.models.local.model import DEFAULT

os.environ.setdefault("HF_HUB_OFFLINE", "1")

Make = Callable[..., LocalModel]


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tiny models are slower on more."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def causal_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama."""
    return tiny_models.causal(tmp_path_factory.mktemp("causal"))


@pytest.fixture(scope="session")
def llava_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LLaVA."""
    return tiny_models.llava(tmp_path_factory.mktemp("llava"))


def sharpen(module: torch.nn.Module) -> None:
    """Make an untrained model say one thing here and another there, not one id for ever."""
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in module.parameters():
            if weight.dim() == 2 and min(weight.shape) >= 32:
                weight.add_(torch.randn_like(weight), alpha=0.15)


@pytest.fixture
async def make(causal_folder: Path) -> AsyncIterator[Make]:
    """Loads models in float64, and closes them after the test."""
    made: list[LocalModel] = []

    def load(
        folder: Path | None = None,
        generation: Generation = DEFAULT,
        dtype: Any = "float64",
        **source: Any,
    ) -> LocalModel:
        from webagent.models.local.loading import load_weights

        weights = load_weights(ModelSource(str(folder or causal_folder), dtype=dtype, **source))
        sharpen(weights.module)
        made.append(LocalModel(weights, generation))
        return made[-1]

    yield load
    for model in made:
        await model.close()


def log_probs(model: LocalModel, tokens: Tokens, prompt: int, draw: Any = None) -> torch.Tensor:
    """Log-probabilities of the ids behind the first `prompt` ones, from one plain pass; `draw`
    makes them of logits, which by default are those of temperature 1 and no constraint."""
    weights = model.weights
    inputs = weights.reader.inputs(weights.reader.read(tokens))
    logits = weights.module(**inputs, use_cache=False).logits[0, prompt - 1 : -1]
    if draw is None:
        logits = logits.index_fill(-1, weights.never, -torch.inf)
    found = draw(logits) if draw else torch.log_softmax(logits, -1)
    return found.gather(-1, inputs["input_ids"][0, prompt:, None]).squeeze(-1)


def said(text: str, *images: bytes) -> tuple[Message, ...]:
    """A conversation with one question."""
    return (Message("system", "Press buttons."), Message("user", text, images))


def picture(colour: str, size: tuple[int, int] = (90, 60)) -> bytes:
    """A PNG of one colour with a dark corner."""
    image = Image.new("RGB", size, colour)
    image.paste("black", (0, 0, size[0] // 3, size[1] // 3))
    file = io.BytesIO()
    image.save(file, "png")
    return file.getvalue()
