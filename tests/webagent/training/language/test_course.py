"""A whole training: what is left out is counted, what is resumed is the same run."""

import json
from dataclasses import replace

import pytest
import torch

from tests.webagent.training.language.small import Bigram, llama, row, rows
from webagent.errors import ModelError, SetupError, StoreError
from webagent.training.language import run
from webagent.training.language.checkpoint import CheckpointFolder
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.objectives import LossPart, PolicyGradient, Supervised
from webagent.training.language.run import train
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import accept_units

CONFIG = TrainConfig(units_per_step=4, learning_rate=1e-2)


def trained(folder=None, offered=None, model=None, objective=None, **settings):
    """The report of a training of a Llama, or of another module."""
    trainer = Trainer(model or llama(1), objective or Supervised(), replace(CONFIG, **settings))
    return train(trainer, rows(12) if offered is None else offered, folder), trainer


def lines(folder):
    """The metrics written."""
    return [json.loads(line) for line in (folder / run.FILE).read_text().splitlines()]


def test_a_training_learns_and_writes_down_each_update(tmp_path):
    report, _ = trained(tmp_path, epochs=6, track=("tensorboard",))
    written = lines(tmp_path)
    assert [line["step"] for line in written] == list(range(1, 19))
    assert report.updates == 18 and report.loss < 0.8 * written[0]["loss"]
    wanted = {"loss", "gradient_norm", "tokens", "tokens_per_second", "learning_rate"}
    sampling = {"ratio", "ratio_deviation", "kl_sampling"}
    assert wanted | sampling | {"imagined", "peak_memory"} <= written[0].keys()
    assert written[-1]["total_tokens"] == report.tokens == 6 * sum(len(r.ids) for r in rows(12))
    assert written[-1]["learning_rate"] < 0.05 * written[3]["learning_rate"]
    assert list((tmp_path / "tensorboard").glob("events*"))


def test_the_same_seed_gives_the_same_weights_and_another_does_not():
    tables = [trained(model=Bigram(), seed=seed)[1].model.table for seed in (1, 1, 2)]
    assert torch.equal(tables[0], tables[1]) and not torch.equal(tables[0], tables[2])


@pytest.mark.parametrize(("limits", "updates"), [({"steps": 5}, 5), ({"tokens": 300}, 4), ({}, 6)])
def test_a_training_ends_by_epochs_updates_or_tokens(limits, updates):
    offered = [row([i] * 10, [i] * 10) for i in range(12)]
    report, _ = trained(model=Bigram(), offered=offered, epochs=2, **limits)
    assert report.updates == updates


def test_a_training_that_has_ended_is_not_done_again(tmp_path):
    first, _ = trained(tmp_path, model=Bigram())
    again, trainer = trained(tmp_path, model=Bigram())
    assert again.resumed == again.updates == first.updates and again.loss == first.loss
    assert trainer.model.table.abs().max() > 0


def stopped(folder, after, **settings):
    """A training that fails after some updates, as a machine that goes away would stop it."""

    class Stops(Supervised):
        count, update = 0, None

        def __call__(self, scored, whole):
            Stops.count += whole is not Stops.update
            Stops.update = whole
            if Stops.count > after:
                raise ModelError("gone")
            return super().__call__(scored, whole)

        def __repr__(self):
            return repr(Supervised())

    with pytest.raises(ModelError, match="gone"):
        trained(folder, objective=Stops(), checkpoint_every=2, **settings)


def test_a_stopped_training_goes_on_after_its_last_checkpoint(tmp_path):
    settings = {"epochs": 3, "lora": LoraSettings(rank=2, dropout=0.3)}
    stopped(tmp_path / "a", 5, **settings)
    assert len(lines(tmp_path / "a")) == 5
    report, trainer = trained(tmp_path / "a", checkpoint_every=1, **settings)
    whole, other = trained(tmp_path / "b", **settings)
    assert report.resumed == 4 and report.updates == whole.updates == 9
    assert report.loss == whole.loss
    for one, two in zip(trainer.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(one, two)
    assert [line["step"] for line in lines(tmp_path / "a")] == list(range(1, 10))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"learning_rate": 0.5}, "learning_rate was 0.01, is 0.5"),
        ({"offered": rows(11)}, "the rows changed"),
        ({"objective": PolicyGradient()}, "the objective changed"),
        ({"model": Bigram()}, "weights of another model"),
        ({"lora": LoraSettings(), "model": llama(2)}, "lora was None"),
    ],
)
def test_a_folder_of_another_run_is_named(tmp_path, changes, words):
    trained(tmp_path)
    with pytest.raises(StoreError, match=words):
        trained(tmp_path, **changes)


def test_an_adapters_checkpoint_on_another_base_is_named(tmp_path):
    trained(tmp_path, lora=LoraSettings(rank=2))
    with pytest.raises(StoreError, match="the base model changed"):
        trained(tmp_path, lora=LoraSettings(rank=2), model=llama(2))


def test_a_damaged_checkpoint_is_named(tmp_path):
    trained(tmp_path, model=Bigram())
    (CheckpointFolder(tmp_path / "checkpoints").last() / "states.pt").write_bytes(b"")
    with pytest.raises(StoreError, match=r"states\.pt is damaged"):
        trained(tmp_path, model=Bigram())


def test_several_updates_without_a_number_end_the_training(tmp_path):
    class Broken(Supervised):
        def __call__(self, scored, whole):
            return LossPart(super().__call__(scored, whole).loss * float("inf"), {})

    with pytest.raises(ModelError, match="no number in 5 updates in a row, until update 5"):
        trained(tmp_path, objective=Broken(), epochs=9)
    assert [line["skipped"] for line in lines(tmp_path)] == [1, 2, 3, 4, 5]


def test_one_update_without_a_number_is_skipped_and_counted(tmp_path):
    class Once(Supervised):
        calls = 0

        def __call__(self, scored, whole):
            Once.calls += 1
            outcome = super().__call__(scored, whole)
            return LossPart(outcome.loss * float("nan"), {}) if Once.calls == 2 else outcome

    report, _ = trained(tmp_path, objective=Once(), epochs=2)
    assert report.skipped == 1 and report.updates == 6 and report.loss == report.loss


def test_what_may_not_be_trained_on_is_left_out_and_counted():
    model = llama(max_position_embeddings=40)
    offered = [
        row([1] * 10, [2] * 10),
        row([1] * 35, [2] * 10),
        replace(row([1], [2]), weights=(0.0, 0.0)),
        row([1] * 10, [2] * 10, weights_version="v3"),
        row([1] * 30, [2] * 9, imagined=True),
        row([1] * 20, [2] * 9, imagined=True),
    ]
    found = accept_units(offered, model, replace(CONFIG, imagined=0.45))
    assert found.dropped == {"too long": 1, "teaches nothing": 1, "imagined above its share": 1}
    assert [len(unit.rows[0].ids) for unit in found.units] == [20, 20, 29]
    assert [unit.imagined for unit in found.units] == [False, False, True]


@pytest.mark.parametrize(
    ("offered", "words"),
    [
        ([], "no rows were given"),
        ([row([1], [97])], r"row 0 \(episode \?\) has the id 97, but the model knows ids 0 to 96"),
        ([row([1] * 300, [2])], r"too long: 1\).*301 tokens, 256 may be read"),
        ([row([1], [2], images=("a.png",))], "shows 1 images, but the model reads text only"),
        ([row([1], [2], imagined=True)], "imagined above its share: 1"),
    ],
)
def test_rows_that_cannot_be_trained_on_are_named(offered, words):
    with pytest.raises(SetupError, match=words):
        trained(offered=offered)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"learning_rate": 0.0}, "learning_rate is 0.0; it must be above 0"),
        ({"imagined": 1.5}, "imagined is 1.5; it is a share"),
    ],
)
def test_settings_that_make_no_sense_are_named(setting, words):
    with pytest.raises(SetupError, match=words):
        TrainConfig(**setting)
