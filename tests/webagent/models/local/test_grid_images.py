"""A Qwen2.5-VL, whose processor may not load, acts through its image processor alone."""

import json
from pathlib import Path

import pytest
import torch

from tests.fakes import tiny_models
from tests.webagent.models.local.conftest import Make, log_probs, picture, said
from webagent.errors import SetupError
from webagent.models import Tokens
from webagent.models.local import LocalModel

TEMPLATE = tiny_models.CHAT_TEMPLATE.replace("<image>", "<|system|><image><|system|>")
"""Images stand between two tokens, as in the real one."""


@pytest.fixture(scope="session")
def qwen_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two layers, two vision layers, images of any size."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    folder = tmp_path_factory.mktemp("qwen")
    words = tiny_models.tokenizer(chat=TEMPLATE)
    text = {
        "vocab_size": len(words),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "rope_parameters": {
            "rope_type": "default",
            "mrope_section": [2, 3, 3],
            "rope_theta": 10000.0,
        },
        "bos_token_id": None,
        "eos_token_id": words.eos_token_id,
        "pad_token_id": words.pad_token_id,
    }
    vision = {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": 64,
        "window_size": 56,
        "fullatt_block_indexes": [1],
    }
    config = Qwen2_5_VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=words.convert_tokens_to_ids("<image>"),
        video_token_id=words.pad_token_id,
        vision_start_token_id=words.convert_tokens_to_ids("<|system|>"),
    )
    torch.manual_seed(0)
    Qwen2_5_VLForConditionalGeneration(config).save_pretrained(folder)
    words.save_pretrained(folder)
    Qwen2VLImageProcessorPil(min_pixels=28 * 28, max_pixels=28 * 28 * 64).save_pretrained(folder)
    path = folder / "preprocessor_config.json"
    made = json.loads(path.read_text()) | {"processor_class": "Qwen2_5_VLProcessor"}
    path.write_text(json.dumps(made))
    return folder


async def reference(model: LocalModel, ids: tuple[int, ...], images: tuple[bytes, ...]):
    """What transformers itself writes greedily."""
    reader = model.weights.reader
    inputs = reader.inputs(reader.read(Tokens(ids, images)))
    inputs.pop("position_ids")
    written = model.weights.module.generate(**inputs, max_new_tokens=20, do_sample=False)
    return written[0, len(ids) :].tolist()


async def test_images_take_as_many_places_as_their_grid_behind_a_cached_beginning_too(
    make: Make, qwen_folder: Path
):
    model = make(qwen_folder)
    place = model.weights.tokenizer.convert_tokens_to_ids("<image>")
    small, wide = picture("red", (56, 56)), picture("blue", (280, 84))
    for images, places in (((small, small), 8), ((small, wide), 34)):
        asked = await model.complete(said("look", *images), max_tokens=20)
        assert asked.prompt_ids.count(place) == places
        expected = await reference(model, asked.prompt_ids, images)
        assert list(asked.replies[0].token_ids) == expected
    assert asked.usage["cached_input_tokens"] > 10


async def test_log_probs_come_out_of_a_plain_pass(make: Make, qwen_folder: Path):
    model = make(qwen_folder, dtype="float32")
    images = (picture("red", (56, 56)), picture("blue", (280, 84)))
    asked = await model.complete(said("look", *images), n=2, temperature=1.0, seed=1, max_tokens=20)
    for reply in asked.replies:
        tokens = Tokens(asked.prompt_ids + reply.token_ids, images)
        found = log_probs(model, tokens, len(asked.prompt_ids))
        assert found.tolist() == pytest.approx(list(reply.log_probs), abs=1e-4)


async def test_a_template_that_writes_no_place_for_an_image_is_named(make, qwen_folder, tmp_path):
    template = tmp_path / "template.jinja"
    template.write_text(TEMPLATE.replace("<image>", ""))
    model = make(qwen_folder, chat_template=str(template))
    with pytest.raises(SetupError, match=r"writes '<image>' 0 times for 1 image"):
        await model.complete(said("look", picture("red")))
