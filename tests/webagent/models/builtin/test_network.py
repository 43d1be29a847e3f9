"""The network: one pass or token by token, alone or among others, it says the same."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers.utils.logging import enable_progress_bar

from tests.fakes.lessons import FIELD, demonstrations, episode, lesson
from tests.fakes.networks import untrained
from webagent.action.actions import Click, Fill
from webagent.errors import ModelError
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import Batch, collate
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.training.rows import TrainingRow, make_policy_rows

MODEL = untrained()
GRAMMAR = ActionGrammar(Codec(MODEL.vocabulary))


def rows() -> list[TrainingRow]:
    """Two rows of different lengths, one of them copying from its prompt."""
    seen = lesson(random.Random(1))[0]
    short = replace(seen, nodes=seen.nodes[:3])
    turns = ((short, Click(2)), (seen, Fill(FIELD, f"{seen.nodes[2].name} {seen.nodes[1].name}")))
    return [row for turn in turns for row in make_policy_rows(GRAMMAR, episode(turn))]


def batch_of(rows: list[TrainingRow]) -> Batch:
    """The rows padded into one batch."""
    return collate([r.prefix for r in rows], [r.inputs for r in rows], [r.slots for r in rows])


@torch.inference_mode()
def test_decoding_token_by_token_gives_the_logits_of_one_pass() -> None:
    network = MODEL.network.train(False)
    batch = batch_of(rows())
    whole = network(batch)
    memory = network.prefill(batch)
    for place in range(batch.inputs.shape[1]):
        step, memory = network.decode(memory, batch.inputs[:, place], batch.slots[:, place], place)
        for row, length in enumerate(len(r.targets) for r in rows()):
            if place < length:
                assert torch.allclose(step[row], whole[row, place], atol=1e-4)


@torch.inference_mode()
def test_padding_changes_nothing() -> None:
    network = MODEL.network.train(False)
    short, long = rows()
    assert len(short.prefix) < len(long.prefix) and len(short.targets) < len(long.targets)
    alone, together = network(batch_of([short]))[0], network(batch_of([short, long]))[0]
    kept = alone.shape[1]
    assert torch.allclose(together[: len(alone), :kept], alone, atol=1e-5)
    assert (together[:, kept:] <= -1e8).all(), "padding cannot be copied"


@torch.inference_mode()
def test_a_target_sees_nothing_of_what_comes_after_it() -> None:
    network = MODEL.network.train(False)
    batch = batch_of(rows()[1:])
    inputs = batch.inputs.clone()
    inputs[:, -1] = 0
    changed = network(replace(batch, inputs=inputs))
    assert torch.allclose(changed[:, :-1], network(batch)[:, :-1], atol=1e-6)
    assert not torch.allclose(changed[:, -1], network(batch)[:, -1], atol=1e-3)


@torch.inference_mode()
def test_relations_reach_the_result() -> None:
    network = MODEL.network.train(False)
    batch = batch_of(rows())
    blind = network(replace(batch, relations=torch.zeros_like(batch.relations)))
    assert not torch.allclose(blind, network(batch), atol=1e-3)


def test_the_same_seed_makes_the_same_model_and_another_another() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    assert untrained(seed=3).version == untrained(seed=3).version
    assert torch.equal(torch.rand(1), expected), "making models leaves the global generator alone"
    assert untrained(seed=3).version != untrained(seed=4).version


def test_the_version_changes_with_weights_and_with_words() -> None:
    model = untrained()
    first = model.version
    with torch.no_grad():
        model.network.continue_bonus.add_(1e-4)
    second = model.version
    model.vocabulary.grow([["quetzal"]], at_least=1)
    assert len({first, second, model.version}) == 3


def test_a_saved_model_comes_back_the_same(tmp_path: Path) -> None:
    MODEL.save(tmp_path)
    loaded = BuiltinModel.load(tmp_path)
    assert loaded.version == MODEL.version
    assert loaded.vocabulary.id("omega") == MODEL.vocabulary.id("omega") > 0
    batch = batch_of(rows())
    with torch.inference_mode():
        assert torch.equal(loaded.network(batch), MODEL.network.train(False)(batch))


def test_saving_and_loading_print_no_progress_bar_of_the_library(tmp_path: Path, capfd) -> None:
    for act in (MODEL.save, BuiltinModel.load):
        enable_progress_bar()
        act(tmp_path)
    assert capfd.readouterr() == ("", "")


def test_a_folder_without_a_whole_model_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=str(tmp_path)):
        BuiltinModel.load(tmp_path)
    MODEL.save(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match=str(tmp_path)):
        BuiltinModel.load(tmp_path)


def test_words_of_the_demonstrations_are_known_and_rare_ones_are_not() -> None:
    model = untrained(demonstrations(60))
    assert model.vocabulary.id("omega") and model.vocabulary.id("textbox/input:text")
    assert not model.vocabulary.id("quetzal")
