"""Losses against their papers' equations, written out slowly, and their gradients in float64."""

import math
import random
from collections.abc import Callable, Sequence
from itertools import groupby

import pytest
import torch
from torch import Tensor

from webagent.errors import SetupError
from webagent.training.language.losses import (
    Clipping,
    Desirability,
    Pairs,
    Per,
    TaughtTokens,
    advantage_regression,
    aggregate,
    clipped,
    desirability,
    divergence,
    policy_gradient,
    preferences,
    sequence_means,
    sequence_sums,
    supervised,
    truncated_importance,
)

DICE = random.Random(4)
SEQUENCES = [0, 0, 0, 1, 2, 2, 2, 2]
WEIGHTS = [1.0, 1.0, 0.5, 1.0, 2.0, 1.0, 1.0, 1.0]
ADVANTAGES = [0.7, 0.7, 0.7, -1.2, 0.4, 0.4, 0.4, 0.4]
BEHAVIOUR = [-1.0, -0.3, -2.0, -0.7, -1.5, -0.2, -0.9, -3.0]
NOW = [-0.6, -0.35, -2.6, -0.4, -1.45, -0.8, -0.7, -2.1]
REFERENCE = [-0.9, -0.5, -2.2, -1.4, -0.45, -0.9, -0.6, -2.3]


def tensor(values: Sequence[float], grad: bool = False) -> Tensor:
    """In double precision."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=grad)


NUMBERS = torch.tensor(SEQUENCES)
TAUGHT = TaughtTokens(tensor(WEIGHTS), NUMBERS, 3, tensor(ADVANTAGES), tensor(BEHAVIOUR))
EVEN = TaughtTokens(torch.ones(8).double(), NUMBERS, 3, tensor(ADVANTAGES), tensor(BEHAVIOUR))


def by_sequence(values: Sequence[float]) -> list[list[float]]:
    """The tokens' values, one list a sequence."""
    pairs = zip(SEQUENCES, values, strict=True)
    return [[value for _, value in group] for _, group in groupby(pairs, key=lambda one: one[0])]


WEIGHTED = [weight * value for weight, value in zip(WEIGHTS, NOW, strict=True)]
TOTAL = sum(WEIGHTED)
PER_SEQUENCE = sum(sum(values) / len(values) for values in by_sequence(WEIGHTED)) / 3


@pytest.mark.parametrize(
    ("per", "expected"), [("token", sum(WEIGHTED) / 8), ("sequence", PER_SEQUENCE)]
)
def test_every_token_or_every_sequence_counts_alike(per: Per, expected: float) -> None:
    found = aggregate(tensor(NOW), tensor(WEIGHTS), NUMBERS, per)
    assert float(found) == pytest.approx(expected)


@pytest.mark.parametrize(("per", "whole"), [("token", 8), ("sequence", 3)])
def test_parts_of_a_batch_add_up_to_the_whole(per: str, whole: float) -> None:
    values, weights = tensor(NOW), tensor(WEIGHTS)
    at_once = aggregate(values, weights, NUMBERS, per, whole)  # type: ignore[arg-type]
    first, rest = slice(0, 4), slice(4, 8)
    parts = [
        aggregate(values[part], weights[part], NUMBERS[part], per, whole)  # type: ignore[arg-type]
        for part in (first, rest)
    ]
    assert float(sum(parts)) == pytest.approx(float(at_once))


def test_no_tokens_have_no_loss() -> None:
    with pytest.raises(ValueError, match="no tokens"):
        aggregate(tensor([]), tensor([]), torch.tensor([], dtype=torch.int64))


def test_sums_and_means_go_by_sequence() -> None:
    sums = [sum(values) for values in by_sequence(NOW)]
    means = [sum(values) / len(values) for values in by_sequence(NOW)]
    assert sequence_sums(tensor(NOW), NUMBERS, 4).tolist() == pytest.approx([*sums, 0])
    assert sequence_means(tensor(NOW), NUMBERS, 4).tolist() == pytest.approx([*means, 0])


def test_supervised_is_the_weighted_negative_log_likelihood() -> None:
    expected = -sum(w * v for w, v in zip(WEIGHTS, NOW, strict=True)) / 8
    assert float(supervised(tensor(NOW), TAUGHT.weights, NUMBERS)) == pytest.approx(expected)


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


def test_desirability_follows_the_equation() -> None:
    ratios, good, z0 = [0.8, -1.5, 2.0], [True, False, False], 0.4
    losses = []
    for ratio, is_good in zip(ratios, good, strict=True):
        above = 0.5 * (ratio - z0) if is_good else 0.5 * (z0 - ratio)
        weight = 1.2 if is_good else 0.9
        losses.append(weight - weight / (1 + math.exp(-above)))
    weights = Desirability(beta=0.5, desirable=1.2, undesirable=0.9)
    found = desirability(tensor(ratios), torch.tensor(good), z0, weights)
    assert float(found) == pytest.approx(sum(losses) / 3)


def test_webrl_follows_the_papers_equation() -> None:
    beta = 0.7
    policy, reference = by_sequence(NOW), by_sequence(REFERENCE)
    advantages = [values[0] for values in by_sequence(ADVANTAGES)]
    total = 0.0
    for actions, frozen, advantage in zip(policy, reference, advantages, strict=True):
        likely = math.prod(math.exp(value) for value in actions)
        before = math.prod(math.exp(value) for value in frozen)
        total += (beta * math.log(likely / before) - advantage) ** 2
    ratios = sequence_sums(tensor(NOW) - tensor(REFERENCE), NUMBERS, 3)
    found = advantage_regression(ratios, tensor(advantages), beta)
    assert float(found) == pytest.approx(total / 3, abs=1e-12)


def test_webrls_optimum_is_the_reference_reweighted_by_the_advantage() -> None:
    reference, advantages, beta = tensor([0.5, 0.3, 0.2]), tensor([1.0, 0.0, -1.0]), 2.0
    best = reference * (advantages / beta).exp()
    constant = beta * best.sum().log()
    ratios = (best / best.sum() / reference).log()
    assert float(advantage_regression(ratios, advantages - constant, beta)) < 1e-24


@pytest.mark.parametrize(("low", "high"), [(3e-4, 4e-4), (0.3, 0.4), (0.1, 0.6)])
def test_gspo_follows_the_papers_equation(low: float, high: float) -> None:
    policy, old = by_sequence(NOW), by_sequence(BEHAVIOUR)
    advantages = [values[0] for values in by_sequence(ADVANTAGES)]
    total = 0.0
    for tokens, before, advantage in zip(policy, old, advantages, strict=True):
        likely = math.prod(math.exp(value) for value in tokens)
        sampled = math.prod(math.exp(value) for value in before)
        ratio = (likely / sampled) ** (1 / len(tokens))
        bounded = min(max(ratio, 1 - low), 1 + high)
        total += min(ratio * advantage, bounded * advantage)
    options = Clipping(low=low, high=high, level="sequence", per="sequence")
    found = policy_gradient(tensor(NOW), EVEN, options)
    assert float(found) == pytest.approx(-total / 3, abs=1e-12)


def test_gspo_has_the_papers_gradient() -> None:
    options = Clipping(low=0.5, high=0.5, level="sequence", per="sequence")
    now = tensor(NOW, grad=True)
    policy_gradient(now, EVEN, options).backward()
    expected = []
    for tokens, before, advantage in zip(
        *map(by_sequence, (NOW, BEHAVIOUR, ADVANTAGES)), strict=True
    ):
        ratio = math.exp((sum(tokens) - sum(before)) / len(tokens))
        inside = ratio < 1.5 if advantage[0] > 0 else ratio > 0.5
        each = -ratio * advantage[0] / len(tokens) / 3 if inside else 0.0
        expected += [each] * len(tokens)
    assert now.grad.tolist() == pytest.approx(expected, abs=1e-12)


def test_a_ratio_out_of_bounds_gets_no_gradient_in_its_direction_only() -> None:
    log_ratios = tensor([math.log(1.5), math.log(1.5), math.log(0.5), math.log(0.5)], grad=True)
    advantages = tensor([1.0, -1.0, 1.0, -1.0])
    clipped(log_ratios, advantages, 0.2, 0.28).sum().backward()
    assert log_ratios.grad is not None
    assert [bool(value) for value in log_ratios.grad] == [False, True, True, False]


def test_the_bounds_may_differ() -> None:
    log_ratios = tensor([math.log(1.25), math.log(0.75)])
    advantages = tensor([1.0, -1.0])
    assert clipped(log_ratios, advantages, 0.2, 0.28).tolist() == pytest.approx([1.25, -0.8])
    assert clipped(log_ratios, advantages, 0.28, 0.2).tolist() == pytest.approx([1.2, -0.75])


def test_at_the_old_policy_the_gradient_is_that_of_reinforce() -> None:
    now = tensor(BEHAVIOUR, grad=True)
    policy_gradient(now, EVEN).backward()
    assert now.grad.tolist() == pytest.approx([-value / 8 for value in ADVANTAGES])


def test_importance_is_cut_off_above_only_and_has_no_gradient() -> None:
    old = tensor([0.0, -1.0, -4.0], grad=True)
    weights = truncated_importance(old, tensor([-3.0, -1.0, -1.0]), cap=2.0)
    assert weights.tolist() == pytest.approx([2.0, 1.0, math.exp(-3)])
    assert not weights.requires_grad


def test_stale_rows_count_by_their_importance() -> None:
    old = tensor(REFERENCE)
    expected = 0.0
    for now, base, then, advantage in zip(NOW, REFERENCE, BEHAVIOUR, ADVANTAGES, strict=True):
        ratio, stale = math.exp(now - base), min(math.exp(base - then), 1.5)
        bounded = min(max(ratio, 0.8), 1.2)
        expected -= stale * min(ratio * advantage, bounded * advantage)
    found = policy_gradient(tensor(NOW), EVEN, Clipping(cap=1.5), old=old)
    assert float(found) == pytest.approx(expected / 8)


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
        policy_gradient(tensor(NOW), TaughtTokens(tensor(WEIGHTS), NUMBERS, 3, tensor(ADVANTAGES)))
    bare = TaughtTokens(tensor(WEIGHTS), NUMBERS, 3, behaviour=tensor(BEHAVIOUR))
    with pytest.raises(SetupError, match="no advantages"):
        policy_gradient(tensor(NOW), bare)
    with pytest.raises(SetupError, match="reference"):
        policy_gradient(tensor(NOW), EVEN, Clipping(divergence=0.1))


GOOD = torch.tensor([True, False, True])
PIECES: dict[str, Callable[[Tensor], Tensor]] = {
    "supervised": lambda now: supervised(now, TAUGHT.weights, NUMBERS, "sequence"),
    "preferences": lambda now: preferences(Pairs(now[:2], now[2:4], now[4:6], now[6:]), 0.4),
    "desirability": lambda now: desirability(now[:3], GOOD, 0.2),
    "regression": lambda now: advantage_regression(
        sequence_sums(now - tensor(REFERENCE), NUMBERS, 3), tensor([1.0, -0.5, 0.3]), 0.6
    ),
    "grpo": lambda now: policy_gradient(now, TAUGHT, Clipping(high=0.28)),
    "gspo": lambda now: policy_gradient(now, EVEN, Clipping(0.3, 0.4, "sequence", "sequence")),
    "divergence": lambda now: policy_gradient(
        now, TAUGHT, Clipping(divergence=0.2), reference=tensor(REFERENCE)
    ),
    "stale": lambda now: policy_gradient(now, TAUGHT, old=tensor(REFERENCE)),
}


@pytest.mark.parametrize("name", PIECES)
def test_gradients_are_exact_in_double_precision(name: str) -> None:
    assert torch.autograd.gradcheck(PIECES[name], tensor(NOW, grad=True))
