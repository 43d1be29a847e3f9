"""Which models read trees, which do not and why; and a model that sees."""

import io
import zlib

import pytest
import torch
from PIL import Image
from transformers import (
    AutoModelForImageTextToText,
    AutoProcessor,
    GPT2Config,
    GPT2LMHeadModel,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from tests.fakes.tiny_models import llava
from tests.webagent.training.language.small import SIZES, Bigram, llama, row
from webagent.errors import ModelError
from webagent.store.database import ImageFolder
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.likelihood import (
    ForwardOptions,
    compute_log_probs,
    find_image_tree_obstacle,
    find_tree_obstacle,
    image_ids,
)
from webagent.training.language.objectives import Supervised
from webagent.training.language.packing import Packing
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit


def test_models_that_read_trees_are_known():
    torch.manual_seed(0)
    gpt2 = GPT2LMHeadModel(GPT2Config(vocab_size=97, n_embd=32, n_layer=2, n_head=4))
    for model in (llama(), Qwen2ForCausalLM(Qwen2Config(**SIZES)), gpt2):
        assert find_tree_obstacle(model) == ""


def test_models_that_do_not_say_why():
    mistral = MistralForCausalLM(MistralConfig(**SIZES, sliding_window=16))
    assert "sliding" in find_tree_obstacle(mistral)
    assert "names no attention" in find_tree_obstacle(Bigram())


def test_a_model_that_leaks_between_rows_is_found_by_trying():
    class Leaks(type(llama())):
        def forward(self, input_ids=None, attention_mask=None, position_ids=None, **kwargs):
            return super().forward(input_ids=input_ids, **kwargs)

    torch.manual_seed(0)
    assert "off by" in find_tree_obstacle(Leaks(llama().config))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A LLaVA."""
    return llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture
def seeing(folder, tmp_path):
    """The LLaVA with an image store of two screenshots, and rows on them."""
    model = AutoModelForImageTextToText.from_pretrained(folder)
    processor = AutoProcessor.from_pretrained(folder)
    store = ImageFolder(tmp_path)
    references = []
    for colour in ("red", "blue"):
        held = io.BytesIO()
        Image.new("RGB", (80, 40), colour).save(held, "PNG")
        references.append(store.add(held.getvalue()))
    [image] = image_ids(model)
    prompt = [20, 21, *[image] * 16, 22]
    rows = [
        row(prompt, [30 + i, 40, 50 + i], images=(references[i % 2],), episode=f"e{i}")
        for i in range(6)
    ]
    rows += [row([20, 21, 22], [33, 44], episode="text")]

    def pictures(shown):
        images = [Image.open(io.BytesIO(store.get(each))).convert("RGB") for each in shown]
        return dict(processor.image_processor(images=images, return_tensors="pt"))

    return model, rows, ForwardOptions(pictures=pictures), store


def test_images_are_read_alike_in_every_layout(seeing):
    model, rows, reading, _ = seeing
    packing = {"image_ids": image_ids(model)}
    layouts = [
        Packing(tokens=1, tree=False, **packing),
        Packing(tree=False, **packing),
        Packing(attention=10**9, **packing),
        Packing(attention=10**9, image_tree=False, **packing),
    ]
    assert find_tree_obstacle(model) == find_image_tree_obstacle(model) == ""
    found, gradients = [], []
    for layout in layouts:
        model.zero_grad()
        each = torch.cat(compute_log_probs(model, rows, layout, reading))
        each.sum().backward()
        found.append(each.detach())
        gradients.append([p.grad for p in model.parameters() if p.grad is not None])
    for each, gradient in zip(found[1:], gradients[1:], strict=True):
        torch.testing.assert_close(each, found[0], rtol=1e-5, atol=1e-5)
        for one, other in zip(gradient, gradients[0], strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_an_image_matters(seeing):
    model, rows, reading, _ = seeing
    packing = Packing(image_ids=image_ids(model))
    same = [row(rows[0].ids[:19], [30, 40], images=rows[i].images) for i in (0, 1)]
    with torch.no_grad():
        red, blue = compute_log_probs(model, same, packing, reading)
    assert not torch.allclose(red, blue, atol=1e-6)


@pytest.mark.parametrize("lora", [None, LoraSettings(rank=2, targets=("q_proj", "v_proj"))])
def test_a_model_that_sees_is_trained(seeing, lora):
    model, rows, reading, _ = seeing
    trainer = Trainer(model, Supervised(), TrainConfig(lora=lora), reading=reading)
    units = [TrainingUnit((each,)) for each in rows]
    losses = [trainer.update(units, 1e-2).figures["loss"] for _ in range(8)]
    assert losses[-1] < 0.97 * losses[0]


def test_images_without_pictures_and_places_that_do_not_fit_are_named(seeing):
    model, rows, reading, _ = seeing
    with pytest.raises(ModelError, match="rows show 6 images; pass `pictures`"):
        compute_log_probs(model, rows[:6], Packing(tree=False, image_ids=image_ids(model)))
    short = row([20, *rows[0].ids[2:10]], [3], images=rows[0].images)
    with pytest.raises(ModelError, match="images do not fit their places"):
        compute_log_probs(model, [short], Packing(image_ids=image_ids(model)), reading)


def qwen():
    """A tiny Qwen2.5-VL, whose images have positions in two dimensions."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}
    ends = {"bos_token_id": 1, "eos_token_id": 2}
    text = SIZES | {"vocab_size": 120, "initializer_range": 0.2, "rope_parameters": rope} | ends
    vision = {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "out_hidden_size": 32,
        "window_size": 56,
        "fullatt_block_indexes": [1],
    }
    tokens = {"image_token_id": 110, "video_token_id": 111, "vision_start_token_id": 112}
    torch.manual_seed(0)
    return Qwen2_5_VLForConditionalGeneration(
        Qwen2_5_VLConfig(text_config=text, vision_config=vision, **tokens, **ends)
    )


def patches(references):
    """What its image processor would make of images of 56 by 56 pixels."""
    seeds = [torch.Generator().manual_seed(zlib.crc32(each.encode())) for each in references]
    pixels = [torch.randn(16, 3 * 2 * 14 * 14, generator=seed) for seed in seeds]
    grid = torch.tensor([[1, 4, 4]] * len(references))
    return {"pixel_values": torch.cat(pixels), "image_grid_thw": grid}


def test_images_with_positions_in_two_dimensions_are_padded_while_text_is_woven():
    model, reading = qwen(), ForwardOptions(pictures=patches)
    prompt = [5, 6, 112, *[110] * 4, 113, 7]
    rows = [row(prompt, [20 + i, 30, 40 + i], images=("ab"[i % 2],)) for i in range(4)]
    rows += [row([5, 6, 7], [8, 9]), row([5, 6, 7], [8, 3, 2])]
    known = {"image_ids": image_ids(model)}
    assert find_tree_obstacle(model) == "" and "two dimensions" in find_image_tree_obstacle(model)
    with torch.no_grad():
        alone, padded, woven, forced = (
            torch.cat(compute_log_probs(model, rows, packing, reading))
            for packing in (
                Packing(tokens=1, tree=False, **known),
                Packing(tree=False, **known),
                Packing(attention=10**9, image_tree=False, **known),
                Packing(attention=10**9, image_tree=True, **known),
            )
        )
    torch.testing.assert_close(padded, alone, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(woven, alone, rtol=1e-5, atol=1e-5)
    assert (forced - alone).abs().max() > 0.1
