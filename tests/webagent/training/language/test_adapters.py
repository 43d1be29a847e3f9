"""Adapters: saved, loaded, and refused on a base they do not belong to."""

import pytest
import torch

from tests.webagent.training.language.small import llama, rows
from webagent.errors import SetupError
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.objectives import Supervised
from webagent.training.language.preparation import fingerprint, with_adapter
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit

CONFIG = TrainConfig(lora=LoraSettings(rank=4))
UNITS = [TrainingUnit((each,)) for each in rows(4)]


def saved(folder):
    """A trainer whose adapter has learnt something and is saved."""
    trainer = Trainer(llama(1), Supervised(), CONFIG)
    trainer.update(UNITS, 0.05)
    trainer.save(folder)
    return trainer


def test_a_saved_adapter_goes_on_where_it_was(tmp_path):
    first = saved(tmp_path)
    again = Trainer(llama(1), Supervised(), CONFIG, adapter=tmp_path)
    learnt = sum(p.requires_grad for p in again.model.parameters())
    assert learnt == sum(p.requires_grad for p in first.model.parameters()) > 0
    losses = [trainer.update(UNITS, 0.0).figures["loss"] for trainer in (first, again)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


@pytest.mark.parametrize(
    ("note", "base", "complaint"),
    [
        (None, {"seed": 2}, "belongs to another base"),
        ("", {"seed": 2, "hidden_size": 64}, "does not fit this model"),
        ("{", {"seed": 1}, "damaged"),
        ('{"other": 1}', {"seed": 1}, "damaged"),
    ],
)
def test_an_adapter_that_does_not_belong_to_the_base_is_named(tmp_path, note, base, complaint):
    saved(tmp_path)
    if note is not None:
        (tmp_path / "base.json").write_text(note)
    if note == "":
        (tmp_path / "base.json").unlink()
    with pytest.raises(SetupError, match=complaint):
        Trainer(llama(**base), Supervised(), CONFIG, adapter=tmp_path)


def test_a_folder_without_an_adapter_and_one_without_adapter_settings_are_named(tmp_path):
    with pytest.raises(SetupError, match="holds no adapter"):
        Trainer(llama(1), Supervised(), CONFIG, adapter=tmp_path)
    with pytest.raises(SetupError, match="lora is None"):
        Trainer(llama(1), Supervised(), adapter=tmp_path)


def test_modules_that_the_model_does_not_have_are_named_with_those_it_has():
    with pytest.raises(SetupError, match=r"no module 'c_attn' .*down_proj.*q_proj"):
        with_adapter(llama(), LoraSettings(targets=("q_proj", "c_attn")))


def test_the_fingerprint_tells_bases_apart_and_not_dtypes_or_adapters():
    base = fingerprint(llama(1))
    assert fingerprint(llama(2)) != base
    assert fingerprint(llama(1).to(torch.bfloat16)) == base
    assert fingerprint(with_adapter(llama(1), LoraSettings())) == base


def test_full_weights_are_saved_as_transformers_loads_them(tmp_path):
    from transformers import AutoModelForCausalLM

    trainer = Trainer(llama(1), Supervised())
    trainer.update(UNITS, 0.05)
    trainer.save(tmp_path)
    again = AutoModelForCausalLM.from_pretrained(tmp_path)
    for one, two in zip(again.parameters(), trainer.model.parameters(), strict=True):
        assert torch.equal(one, two)
