"""What cannot be loaded or asked is named, with what to do next."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from tests.fakes import tiny_models
from tests.webagent.models.local.conftest import Make, picture, said
from webagent.errors import ModelError, SetupError
from webagent.models import Tokens
from webagent.models.local import LocalModel, ModelSource


@pytest.fixture
def copied(causal_folder: Path, tmp_path: Path) -> Path:
    """The causal model in a folder to be damaged."""
    return Path(shutil.copytree(causal_folder, tmp_path / "model"))


def changed(path: Path, **values: object) -> None:
    """Set or remove (None) entries of a JSON file."""
    whole = json.loads(path.read_text()) | values
    path.write_text(json.dumps({key: value for key, value in whole.items() if value is not None}))


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("{folder}/nowhere", r"no folder .*nowhere.*save_pretrained.*hub name"),
        ("nobody/nothing", r"nobody/nothing does not load.*check the name"),
        ("{folder}", r"has no config.json"),
    ],
    ids=["a missing folder", "a hub name without network", "a folder without a model"],
)
def test_a_name_of_no_model(tmp_path: Path, name: str, complaint: str):
    with pytest.raises(SetupError, match=complaint):
        LocalModel.load(name.format(folder=tmp_path))


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"model_type": "wonder"}, "does not load as a model of transformers"),
        ({"num_hidden_layers": 3}, r"lacks 9 tensors .*layers.2"),
    ],
)
def test_a_configuration_that_does_not_fit(copied: Path, values: dict, complaint: str):
    changed(copied / "config.json", **values)
    with pytest.raises(SetupError, match=complaint):
        LocalModel.load(str(copied))


def test_an_adapter_in_place_of_a_model(tmp_path: Path):
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "the/base"}')
    with pytest.raises(SetupError, match="holds an adapter, not a model; load the/base"):
        LocalModel.load(str(tmp_path))


@pytest.mark.parametrize("left", [4, 100, 20_000])
def test_weights_that_were_cut_short(copied: Path, left: int):
    path = copied / "model.safetensors"
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(SetupError, match=rf"has {left:,} bytes .*cut short"):
        LocalModel.load(str(copied))


def test_a_missing_shard(copied: Path):
    index = {"weight_map": {"a": "model-00001.safetensors", "b": "model.safetensors"}}
    (copied / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(SetupError, match="lacks 1 of 2 weight files"):
        LocalModel.load(str(copied))


def test_no_chat_template_is_named_and_a_file_helps(causal_folder: Path, tmp_path: Path):
    copied = Path(shutil.copytree(causal_folder, tmp_path / "model"))
    (copied / "chat_template.jinja").unlink()
    with pytest.raises(SetupError, match=r"no chat template.*in chat_template"):
        LocalModel.load(str(copied))
    with pytest.raises(SetupError, match=r"no file .*template.jinja"):
        LocalModel.load(ModelSource(str(copied), chat_template=str(tmp_path / "template.jinja")))
    (tmp_path / "template.jinja").write_text(tiny_models.CHAT_TEMPLATE)
    LocalModel.load(ModelSource(str(copied), chat_template=str(tmp_path / "template.jinja")))


def test_no_token_that_ends_a_reply(copied: Path):
    changed(copied / "tokenizer_config.json", eos_token=None)
    changed(copied / "config.json", eos_token_id=None)
    changed(copied / "generation_config.json", eos_token_id=None)
    with pytest.raises(SetupError, match=r"the token that ends a reply; set eos_token"):
        LocalModel.load(str(copied))


def test_a_tokenizer_of_a_larger_model(copied: Path):
    words = tiny_models.tokenizer()
    words.add_tokens([f"<more {number}>" for number in range(99)])
    words.save_pretrained(copied)
    with pytest.raises(SetupError, match=r"tokenizer of .* has \d+ ids and the model knows \d+"):
        LocalModel.load(str(copied))


def test_an_image_model_whose_tokenizer_knows_no_images(llava_folder: Path, tmp_path: Path):
    copied = Path(shutil.copytree(llava_folder, tmp_path / "model"))
    changed(copied / "config.json", image_token_index=5000, image_token_id=5000)
    with pytest.raises(SetupError, match=r"lacks the token that stands for an image \(id 5000"):
        LocalModel.load(str(copied))


def test_a_gpu_where_there_is_none(causal_folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SetupError, match="there is no GPU; use cpu or auto"):
        LocalModel.load(ModelSource(str(causal_folder), device="cuda"))


@pytest.mark.parametrize(
    ("prompt", "error", "complaint"),
    [
        (said("?", picture("red")), SetupError, r"1 image\(s\) to a model of text only"),
        (Tokens((7, 8), (picture("red"),)), SetupError, "text only"),
        (Tokens((9,) * 8192), ModelError, r"8,192 ids and the model reads 8,192; show less"),
        (Tokens((5, 99999)), ModelError, r"holds the id 99999, and the model knows 0 to"),
        (Tokens(()), ModelError, "the prompt is empty"),
    ],
    ids=["images", "images beside ids", "too long", "ids of another tokenizer", "empty"],
)
async def test_a_prompt_that_does_not_fit(make: Make, prompt, error, complaint):
    with pytest.raises(error, match=complaint):
        await make().complete(prompt)


async def test_an_image_that_is_none(make: Make, llava_folder: Path):
    with pytest.raises(ModelError, match="image 2 of the prompt cannot be opened"):
        await make(llava_folder).complete(said("look", picture("red"), b"not an image"))


async def test_a_reply_ends_where_the_context_ends(make: Make, copied: Path):
    changed(copied / "config.json", max_position_embeddings=50)
    asked = await make(copied).complete(Tokens((9,) * 45), temperature=3.0, seed=1, max_tokens=100)
    assert asked.replies[0].finish_reason == "length"
    assert len(asked.replies[0].token_ids) == 5
