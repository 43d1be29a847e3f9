"""What each objective makes of a model: the good more likely than the bad."""

from dataclasses import replace

import pytest
import torch

from tests.webagent.training.language.small import llama, rows
from webagent.training.language.config import TrainConfig
from webagent.training.language.likelihood import compute_log_probs
from webagent.training.language.objectives import PolicyGradient, Preference
from webagent.training.language.packing import Packing
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit, pair_rows


def sums(model, each):
    """Log-probabilities of the rows' replies."""
    with torch.no_grad():
        return [float(found.sum()) for found in compute_log_probs(model, each, Packing())]


def as_sampled(model, each):
    """The rows as if this model had sampled them, good and bad by turns."""
    with torch.no_grad():
        found = compute_log_probs(model, each, Packing())
    made = []
    for number, (row, values) in enumerate(zip(each, found, strict=True)):
        behaviour = (0.0,) * row.spans[0][0] + tuple(values.tolist())
        made.append(replace(row, log_probs=behaviour).with_advantage((-1.0) ** number))
    return made


@pytest.mark.parametrize("objective", [PolicyGradient(), Preference(beta=0.5)], ids=repr)
def test_the_good_becomes_likelier_and_the_bad_less_likely(objective):
    model = llama(1)
    each = as_sampled(model, rows(8))
    good, bad = each[::2], each[1::2]
    if isinstance(objective, Preference):
        units = [pair_rows(one, other) for one, other in zip(good, bad, strict=True)]
    else:
        units = [TrainingUnit((row,), better=number % 2 == 0) for number, row in enumerate(each)]
    before = sums(model, good), sums(model, bad)
    trainer = Trainer(model, objective, TrainConfig())
    first = trainer.update(units, 2e-3).figures
    for _ in range(9):
        last = trainer.update(units, 2e-3).figures
    after = sums(model, good), sums(model, bad)
    assert last["loss"] < first["loss"] or isinstance(objective, PolicyGradient)
    rises = [sum(now) - sum(then) for now, then in zip(after, before, strict=True)]
    assert rises[0] - rises[1] > 1


def test_pairs_of_episodes_are_compared_by_the_sums_over_all_their_steps():
    model, reference = llama(1), llama(2)
    each = rows(4)
    trainer = Trainer(model, Preference(beta=1.0), TrainConfig(), reference=reference)
    found = trainer.update([pair_rows(each[:2], each[2:])], 0.0).figures
    now, then = sums(model, each), sums(reference, each)
    ratios = [a - b for a, b in zip(now, then, strict=True)]
    assert found["margin"] == pytest.approx(sum(ratios[:2]) - sum(ratios[2:]), rel=1e-4)
