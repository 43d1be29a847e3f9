from pathlib import Path

import pytest

from webagent.errors import SetupError
from webagent.models.fresh import ModelShape, create_model
from webagent.models.local.loading import load_weights
from webagent.models.local.source import ModelSource

TEXTS = ('[12] button "Send"', "Action: click(12)", "the task: press the button")
SMALL = ModelShape(vocabulary=300, width=32, layers=1, heads=2, context=64)


def test_a_fresh_model_loads_spells_everything_and_answers_in_turn(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    parameters = create_model(tmp_path / "new", TEXTS, SMALL)
    words = AutoTokenizer.from_pretrained(tmp_path / "new")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "new")
    assert parameters == model.num_parameters() < 50_000
    for text in ("Grüße ☃ \x00\n\t", *TEXTS):
        assert words.decode(words.encode(text, add_special_tokens=False)) == text
    chat = words.apply_chat_template(
        [{"role": "user", "content": "hello"}], add_generation_prompt=True, tokenize=False
    )
    assert chat == "<|user|>hello<|end|><|assistant|>"
    assert words.eos_token == "<|end|>" and model.config.eos_token_id == words.eos_token_id


def test_a_model_is_written_and_read_without_a_word_of_the_library(tmp_path, capfd):
    from transformers.utils import logging

    logging.enable_progress_bar()
    create_model(tmp_path / "model", ["one two three"], ModelShape(300, 16, 1, 1, 64))
    logging.enable_progress_bar()
    load_weights(ModelSource(str(tmp_path / "model")))
    assert capfd.readouterr() == ("", "")


def test_the_same_texts_and_seed_give_the_same_model(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        create_model(tmp_path / name, TEXTS, SMALL, seed=seed)
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in "abc"]
    words = [(tmp_path / name / "tokenizer.json").read_bytes() for name in "abc"]
    assert weights[0] == weights[1] != weights[2]
    assert words[0] == words[1] == words[2]


@pytest.mark.parametrize("width", [32, 128])
def test_layers_of_any_width_keep_the_size_of_what_they_read(tmp_path: Path, width: int) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    shape = ModelShape(vocabulary=300, width=width, layers=1, heads=2, context=64)
    create_model(tmp_path / "new", TEXTS, shape)
    layer = AutoModelForCausalLM.from_pretrained(tmp_path / "new").model.layers[0].self_attn
    read = torch.randn(256, width, generator=torch.Generator().manual_seed(0))
    for matrix in (layer.q_proj, layer.k_proj, layer.v_proj):
        assert 0.8 < matrix(read).std().item() < 1.2


def test_a_mark_is_spelt_digit_by_digit(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    create_model(tmp_path / "new", ["click(123) " * 50], SMALL)
    assert AutoTokenizer.from_pretrained(tmp_path / "new").tokenize("123") == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (ModelShape(width=30, heads=4), "shared by 4 heads"),
        (ModelShape(vocabulary=100), "no room for the 256 bytes"),
    ],
)
def test_a_shape_that_cannot_be_is_named(tmp_path: Path, shape: ModelShape, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        create_model(tmp_path / "new", TEXTS, shape)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SetupError, match="is not empty"):
        create_model(tmp_path, TEXTS, SMALL)
