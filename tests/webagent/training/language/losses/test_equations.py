"""Losses against their papers' equations, written out slowly."""

import math
import random
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from webagent.errors import SetupError
from webagent.training.language.losses import (
    Pairs,
    TaughtTokens,
    aggregate,
    divergence,
    policy_gradient,
    preferences,
    supervised,
)

DICE = random.Random(4)
WEIGHTS = [1.0, 1.0, 0.5, 1.0, 2.0, 1.0, 1.0, 1.0]
ADVANTAGES = [0.7, 0.7, 0.7, -1.2, 0.4, 0.4, 0.4, 0.4]
BEHAVIOUR = [-1.0, -0.3, -2.0, -0.7, -1.5, -0.2, -0.9, -3.0]
NOW = [-0.6, -0.35, -2.6, -0.4, -1.45, -0.8, -0.7, -2.1]
REFERENCE = [-0.9, -0.5, -2.2, -1.4, -0.45, -0.9, -0.6, -2.3]


def tensor(values: Sequence[float], grad: bool = False) -> Tensor:
    """In double precision."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=grad)


TAUGHT = TaughtTokens(tensor(WEIGHTS), tensor(ADVANTAGES), tensor(BEHAVIOUR))


def test_every_token_counts_alike_and_parts_of_a_batch_add_up_to_the_whole() -> None:
    values, weights = tensor(NOW), tensor(WEIGHTS)
    expected = sum(weight * value for weight, value in zip(WEIGHTS, NOW, strict=True)) / 8
    assert float(aggregate(values, weights)) == pytest.approx(expected)
    parts = [aggregate(values[part], weights[part], 8) for part in (slice(0, 4), slice(4, 8))]
    assert float(sum(parts)) == pytest.approx(expected)


def test_no_tokens_have_no_loss() -> None:
    with pytest.raises(ValueError, match="no tokens"):
        aggregate(tensor([]), tensor([]))


def test_supervised_is_the_weighted_negative_log_likelihood() -> None:
    expected = -sum(w * v for w, v in zip(WEIGHTS, NOW, strict=True)) / 8
    assert float(supervised(tensor(NOW), TAUGHT.weights)) == pytest.approx(expected)


def test_preferences_follow_the_equation() -> None:
    won, lost, frozen_won, frozen_lost = (
        [DICE.uniform(-9, -1) for _ in range(3)] for _ in range(4)
    )
    losses = []
    for w, l, rw, rl in zip(won, lost, frozen_won, frozen_lost, strict=True):  # noqa: E741
        margin = 0.3 * ((w - rw) - (l - rl))
        losses.append(math.log(1 + math.exp(-margin)))
    pairs = Pairs(*(tensor(values) for values in (won, lost, frozen_won, frozen_lost)))
    assert float(preferences(pairs, 0.3)) == pytest.approx(sum(losses) / 3)


def test_the_divergence_is_zero_at_the_reference_and_positive_elsewhere() -> None:
    assert divergence(tensor(NOW), tensor(NOW)).abs().max() == 0
    assert divergence(tensor(NOW), tensor(REFERENCE)).min() > 0


def test_the_divergence_is_right_on_average() -> None:
    policy, reference = tensor([0.5, 0.3, 0.2]), tensor([0.2, 0.2, 0.6])
    expected = (policy * (policy / reference).log()).sum()
    found = (policy * divergence(policy.log(), reference.log())).sum()
    assert float(found) == pytest.approx(float(expected))


def test_rows_without_behaviour_or_advantages_are_refused() -> None:
    with pytest.raises(SetupError, match="behaviour"):
        policy_gradient(tensor(NOW), TaughtTokens(tensor(WEIGHTS), tensor(ADVANTAGES)))
    bare = TaughtTokens(tensor(WEIGHTS), behaviour=tensor(BEHAVIOUR))
    with pytest.raises(SetupError, match="no advantages"):
        policy_gradient(tensor(NOW), bare)
    with pytest.raises(SetupError, match="reference"):
        policy_gradient(tensor(NOW), TAUGHT, penalty=0.1)


def test_the_gradient_is_that_of_reinforce_by_importance_that_is_cut_off_above_only() -> None:
    """And, with a penalty, that of the divergence at a ratio whose gradient counts."""
    now = tensor(NOW, grad=True)
    policy_gradient(now, TAUGHT, cap=1.5).backward()
    importance = [min(math.exp(a - b), 1.5) for a, b in zip(NOW, BEHAVIOUR, strict=True)]
    assert 1.5 in importance and min(importance) < 1
    expected = [
        -weight * ratio * advantage / 8
        for weight, ratio, advantage in zip(WEIGHTS, importance, ADVANTAGES, strict=True)
    ]
    assert now.grad is not None and now.grad.tolist() == pytest.approx(expected)
    penalised = tensor(NOW, grad=True)
    policy_gradient(penalised, TAUGHT, cap=1.5, penalty=0.2, reference=tensor(REFERENCE)).backward()
    gaps = [b - a for a, b in zip(NOW, REFERENCE, strict=True)]
    # The derivative of r (exp(gap) - gap - 1) at r = 1 is -gap, as the gap falls by log r.
    further = [-0.2 * weight * gap / 8 for weight, gap in zip(WEIGHTS, gaps, strict=True)]
    assert penalised.grad is not None
    assert penalised.grad.tolist() == pytest.approx(
        [one + more for one, more in zip(expected, further, strict=True)]
    )
