"""Log-probabilities are the same in every layout, with temperatures, constraints and images."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import Gemma2Config, Gemma2ForCausalLM

from tests.webagent.training.language.small import SIZES, llama, row
from webagent.errors import ModelError
from webagent.training.language.likelihood import ForwardOptions, compute_log_probs
from webagent.training.language.packing import Packing
from webagent.training.language.rows import TokenRow

ALONE = Packing(tokens=1, tree=False)
PADDED = Packing(tree=False)
TREE = Packing(attention=10**9)


def nested(seed: int = 0) -> list[TokenRow]:
    """Rows that share prefixes of prefixes, one that is another's beginning, and strangers."""
    dice = random.Random(seed)

    def some(n: int) -> list[int]:
        return [dice.randrange(97) for _ in range(n)]

    root, branch = some(20), some(7)
    rows = [row(root, some(5)) for _ in range(3)]
    rows += [row(root + branch, some(n)) for n in (2, 9)]
    rows += [row(root, branch + some(3)), row(root, branch[:2])]
    rows += [row(some(n), some(4)) for n in (3, 30)]
    dice.shuffle(rows)
    return rows


def gradients(model: torch.nn.Module, rows: list[TokenRow], packing: Packing, **reading: object):
    """Log-probabilities and the gradients of a weighted sum of them."""
    model.zero_grad(set_to_none=True)
    found = compute_log_probs(model, rows, packing, ForwardOptions(**reading))
    sum((i + 1) * each.sum() for i, each in enumerate(found)).backward()
    return [each.detach() for each in found], [p.grad.clone() for p in model.parameters()]


def assert_same(one, other, tolerance: float = 1e-5) -> None:
    """Both are log-probabilities and gradients, equal relative to the largest."""
    for left, right in zip(one, other, strict=True):
        for a, b in zip(left, right, strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=tolerance * max(1, b.abs().max()))


def by_hand(model: torch.nn.Module, each: TokenRow) -> torch.Tensor:
    """Straight from the model's logits."""
    logits = model(input_ids=torch.tensor([each.ids])).logits[0, :-1]
    chosen = torch.log_softmax(logits / each.temperature, -1)
    chosen = chosen.gather(-1, torch.tensor(each.ids)[1:, None])[:, 0]
    return chosen[torch.tensor(each.weights)[1:] != 0]


@pytest.mark.parametrize("packing", [ALONE, PADDED, TREE, Packing(tokens=60), Packing(lane=30)])
def test_every_layout_gives_the_log_probabilities_of_the_plain_forward(packing):
    model, rows = llama(), nested()
    rows = [replace(each, temperature=0.5 + i / 4) for i, each in enumerate(rows)]
    with torch.no_grad():
        for found, each in zip(compute_log_probs(model, rows, packing), rows, strict=True):
            torch.testing.assert_close(found, by_hand(model, each), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_every_layout_gives_the_same_gradients(attention):
    model, rows = llama(attn_implementation=attention), nested()
    plain = gradients(model, rows, ALONE)
    assert_same(gradients(model, rows, PADDED), plain)
    assert_same(gradients(model, rows, TREE), plain)


def test_logits_made_piece_by_piece_change_nothing():
    model, rows = llama(), nested()
    assert_same(gradients(model, rows, TREE, logits=97 * 5), gradients(model, rows, TREE), 1e-6)


def test_a_model_that_caps_its_logits_is_read_through_its_own_forward():
    torch.manual_seed(0)
    extra = {"head_dim": 8, "final_logit_softcapping": 0.5, "initializer_range": 0.5}
    model, rows = Gemma2ForCausalLM(Gemma2Config(**SIZES, **extra)), nested()
    with torch.no_grad():
        found = compute_log_probs(model, rows, PADDED, ForwardOptions(logits=97 * 5))
        for each, read in zip(rows, found, strict=True):
            torch.testing.assert_close(read, by_hand(model, each), rtol=1e-4, atol=1e-4)


def halves(constraint: str, ids) -> np.ndarray:
    """Ids below or from 48 on, as the constraint says; narrower than the model's vocabulary."""
    mask = np.zeros((len(ids), 90), dtype=bool)
    mask[:, 48:] = constraint == "high"
    mask[:, :48] = constraint == "low"
    return mask


@pytest.mark.parametrize("packing", [ALONE, PADDED, TREE])
def test_the_masks_of_the_sampling_are_applied_where_they_held(packing):
    prompt = list(range(10))
    free = row(prompt, [50, 60, 3, 4], allowed=((12, 14, "low"),))
    held = row(prompt, [50, 60], allowed=((10, 12, "high"),))
    model = llama()
    with torch.no_grad():
        one, two = compute_log_probs(model, [free, held], packing, ForwardOptions(masks=halves))
        logits = model(input_ids=torch.tensor([free.ids])).logits[0, 9:13]
    logits[2:, 48:] = -torch.inf
    expected = torch.log_softmax(logits, -1).gather(-1, torch.tensor([[50], [60], [3], [4]]))
    torch.testing.assert_close(one, expected[:, 0], rtol=1e-5, atol=1e-5)
    logits[:2, :48] = -torch.inf
    logits[:2, 90:] = -torch.inf
    expected = torch.log_softmax(logits[:2], -1).gather(-1, torch.tensor([[50], [60]]))
    torch.testing.assert_close(two, expected[:, 0], rtol=1e-5, atol=1e-5)


def test_an_id_outside_its_mask_and_a_constraint_without_masks_are_named():
    wrong = row([1, 2], [3, 50], allowed=((2, 4, "low"),))
    with pytest.raises(ModelError, match="outside the masks"):
        compute_log_probs(llama(), [wrong], TREE, ForwardOptions(masks=halves))
    held = row([1, 2], [3], episode="e7", allowed=((2, 3, "low"),))
    with pytest.raises(ModelError, match="episode e7 was sampled under the constraint 'low'"):
        compute_log_probs(llama(), [held], TREE)
