"""One update: the same whatever the micro-batches, skipped where it is no number, never half."""

import math

import pytest
import torch

from tests.webagent.training.language.small import Bigram, llama, row, rows
from webagent.errors import ModelError, SetupError
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.objectives import LossPart, PolicyGradient, Preference, Supervised
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit, pair_rows

SINGLE = [TrainingUnit((each,), better=i % 2) for i, each in enumerate(rows(12))]
PAIRS = [pair_rows(a, b) for a, b in zip(rows(6, 1), rows(6, 2), strict=True)]
OBJECTIVES = {
    "sft": (Supervised(), SINGLE),
    "dpo": (Preference(), PAIRS),
    "grpo": (PolicyGradient(penalty=0.1), SINGLE),
}


def updated(objective, units, reference=None, model=None, **settings):
    """Gradients of one update, by a rate of 0 and a clip that never clips, with its figures."""
    trainer = Trainer(
        model or llama(1), objective, TrainConfig(clip=0, **settings), reference=reference
    )
    kept = {}
    for name, parameter in trainer.model.named_parameters():
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(
                lambda p, name=name: kept.__setitem__(name, p.grad.clone())
            )
    return kept, trainer.update(units, 0.0).figures


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_loss_and_gradient_are_the_same_whatever_the_micro_batches_and_the_layout(kind):
    objective, units = OBJECTIVES[kind]
    reference = llama(2)
    whole, said = updated(objective, units, reference, micro_batch_tokens=10**6, tree=False)
    assert any(gradient.abs().max() > 1e-4 for gradient in whole.values())
    for settings in ({"micro_batch_tokens": 1}, {"micro_batch_tokens": 120}, {"tree": True}):
        other, figures_there = updated(objective, units, reference, **settings)
        assert figures_there["loss"] == pytest.approx(said["loss"], rel=1e-5)
        for name, gradient in whole.items():
            torch.testing.assert_close(other[name], gradient, rtol=1e-4, atol=1e-5)


def test_out_of_memory_makes_smaller_micro_batches_and_counts_nothing_twice():
    units = [TrainingUnit((row([i], [i + 1] * 4),)) for i in range(8)]
    free, short = Bigram(), Bigram(most=9)
    for module in (free, short):
        trainer = Trainer(module, Supervised(), TrainConfig(learning_rate=0.1))
        result = trainer.update(units)
    assert max(free.calls) == 32 and max(short.calls[-4:]) <= 9
    assert trainer.micro_batch_tokens <= 9
    torch.testing.assert_close(short.table, free.table)
    assert result.figures["loss"] == pytest.approx(math.log(97), rel=1e-5)


def test_out_of_memory_in_the_middle_of_an_update_leaves_nothing_of_the_first_try():
    class Later(Bigram):
        def forward(self, input_ids, **kwargs):
            if len(self.calls) == 2:
                self.calls.append(0)
                raise torch.OutOfMemoryError("another process took it")
            return super().forward(input_ids, **kwargs)

    units = [TrainingUnit((row([i], [i + 1] * 4),)) for i in range(8)]
    tables = []
    for module in (Bigram(), Later()):
        Trainer(module, Supervised(), TrainConfig(micro_batch_tokens=8)).update(units, 0.1)
        tables.append(module.table)
    assert len(module.calls) > 5
    torch.testing.assert_close(tables[0], tables[1])


def test_out_of_memory_with_one_row_at_a_time_says_what_to_do():
    trainer = Trainer(Bigram(most=3), Supervised())
    with pytest.raises(ModelError, match=r"one unit at a time, the largest of 9 tokens.*7 GiB"):
        trainer.update([TrainingUnit((row([1], [2] * 9),)), TrainingUnit((row([1], [2] * 2),))])
    assert trainer.model.table.abs().max() == 0


def test_a_loss_that_is_no_number_changes_nothing():
    class Broken(Supervised):
        def __call__(self, scored, whole):
            return LossPart(super().__call__(scored, whole).loss * float("nan"), {})

    trainer = Trainer(Bigram(), Broken())
    assert trainer.update(SINGLE, 0.1).skipped
    assert trainer.model.table.abs().max() == 0
    assert not trainer.optimizer.state


def test_with_an_adapter_the_base_without_it_is_the_reference():
    adapted = TrainConfig(lora=LoraSettings(rank=4))
    for given in (None, llama(1)):
        trainer = Trainer(llama(1), Preference(), adapted, reference=given)
        with torch.no_grad():
            for name, parameter in trainer.model.named_parameters():
                if "lora_B" in name:
                    parameter.fill_(0.03)
        said = trainer.update(PAIRS, 0.0).figures
        if given is None:
            expected = said
    assert said["kl"] == pytest.approx(expected["kl"], rel=1e-4) and said["kl"] > 1e-3


def test_an_adapter_that_goes_on_refers_to_itself_as_it_was():
    first = Trainer(llama(1), Preference(), TrainConfig(lora=LoraSettings(rank=4)))
    for _ in range(2):
        first.update(PAIRS, 1e-2)
    again = Trainer(first.model, Preference(), TrainConfig(lora=LoraSettings(rank=4)))
    weights = {n: p.detach().clone() for n, p in again.model.named_parameters()}
    assert again.update(PAIRS, 0.0).figures["kl"] == pytest.approx(0, abs=1e-6)
    assert all(torch.equal(p, weights[n]) for n, p in again.model.named_parameters())
    # FSDP gathers a split adapter from where it lay when it was split.
    places = set()
    again.model.register_forward_pre_hook(
        lambda model, _: places.add(tuple(each.data_ptr() for each in model.parameters()))
    )
    again.update(PAIRS, 1e-2)
    assert again.update(PAIRS, 0.0).figures["kl"] > 1e-5
    assert len(places) == 1


def test_only_the_adapter_learns_and_the_frozen_copy_stays():
    trainer = Trainer(llama(1), Supervised(), TrainConfig(lora=LoraSettings(rank=4)))
    before = {n: p.detach().clone() for n, p in trainer.model.named_parameters()}
    trainer.update(SINGLE, 0.1)
    changed = {n for n, p in trainer.model.named_parameters() if not torch.equal(p, before[n])}
    assert changed and all("lora_" in name for name in changed)


def test_a_copy_of_the_model_is_the_reference_where_none_is_given():
    trainer = Trainer(llama(1), Preference(), TrainConfig())
    assert trainer.update(PAIRS, 1e-2).figures["kl"] == pytest.approx(0, abs=1e-6)
    assert trainer.update(PAIRS, 0.0).figures["kl"] > 1e-3


def test_gradient_checkpointing_changes_nothing():
    plain, said = updated(Supervised(), SINGLE)
    other, there = updated(Supervised(), SINGLE, gradient_checkpointing=True)
    assert there["loss"] == pytest.approx(said["loss"], rel=1e-6)
    for name, gradient in plain.items():
        torch.testing.assert_close(other[name], gradient, rtol=1e-4, atol=1e-6)


def test_bfloat16_is_near_single_precision():
    _, said = updated(Supervised(), SINGLE)
    _, there = updated(Supervised(), SINGLE, bf16=True)
    assert there["loss"] != said["loss"]
    assert there["loss"] == pytest.approx(said["loss"], rel=0.02)


@pytest.mark.parametrize(
    ("objective", "units", "words"),
    [
        (Preference(), SINGLE, "12 units have no chosen or no rejected"),
        (PolicyGradient(), [TrainingUnit((row([1], [2]),))], "rows have no (behaviour|advantages)"),
        (Supervised(), [], "at least one unit"),
    ],
)
def test_units_that_an_objective_cannot_learn_from_are_named(objective, units, words):
    with pytest.raises(SetupError, match=words):
        Trainer(llama(), objective, reference=llama()).update(units)


def test_a_frozen_model_is_named():
    with pytest.raises(SetupError, match="all are frozen"):
        Trainer(llama().requires_grad_(False), Supervised())


def test_a_module_that_knows_no_attention_is_trained_without_a_tree_and_says_why():
    assert "names no attention" in Trainer(Bigram(), Supervised()).no_tree
    assert Trainer(llama(), Supervised()).no_tree == ""
