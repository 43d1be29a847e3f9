"""Log-probabilities as the sampling had them."""

import pytest
import torch

from webagent.training.language.losses import token_log_probs

torch.manual_seed(0)
LOGITS = torch.randn(3, 5, dtype=torch.float64)
IDS = torch.tensor([0, 3, 4])
MASKS = torch.tensor([[1, 1, 0, 0, 1], [0, 0, 1, 1, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)


def test_the_probabilities_of_all_ids_sum_to_one_at_any_temperature() -> None:
    everything = LOGITS.unsqueeze(1).expand(3, 5, 5)
    each = torch.arange(5).expand(3, 5)
    for temperature in (0.3, 1.0, 2.0):
        log_probs = token_log_probs(everything, each, temperature)
        assert torch.allclose(log_probs.exp().sum(-1), torch.ones(3, dtype=torch.float64))


def test_under_a_mask_they_are_renormalised_over_what_is_allowed() -> None:
    found = token_log_probs(LOGITS, IDS, 0.7, MASKS)
    for place, (row, mask, chosen) in enumerate(zip(LOGITS, MASKS, IDS, strict=True)):
        chances = torch.softmax(row / 0.7, -1) * mask
        expected = chances[chosen] / chances.sum()
        assert found[place].exp() == pytest.approx(float(expected), abs=1e-12)


def test_a_place_with_one_allowed_id_is_certain_and_teaches_nothing() -> None:
    logits = LOGITS.clone().requires_grad_()
    only = torch.zeros(3, 5, dtype=torch.bool)
    only[torch.arange(3), IDS] = True
    log_probs = token_log_probs(logits, IDS, masks=only)
    log_probs.sum().backward()
    assert log_probs.tolist() == [0.0, 0.0, 0.0]
    assert logits.grad is not None and logits.grad.abs().max() == 0


def test_what_was_not_allowed_gets_no_gradient() -> None:
    logits = LOGITS.clone().requires_grad_()
    token_log_probs(logits, IDS, 0.5, MASKS).sum().backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad[~MASKS].abs().max() == 0
    assert logits.grad[MASKS].abs().min() > 0


def test_temperatures_may_differ_from_place_to_place() -> None:
    temperatures = torch.tensor([0.5, 1.0, 2.0])
    found = token_log_probs(LOGITS, IDS, temperatures)
    for place, temperature in enumerate(temperatures):
        alone = token_log_probs(LOGITS[place], IDS[place], float(temperature))
        assert found[place] == pytest.approx(float(alone), abs=1e-12)


def test_half_precision_logits_give_single_precision_log_probs() -> None:
    found = token_log_probs(LOGITS.bfloat16(), IDS, 1.0)
    assert found.dtype == torch.float32
    assert torch.allclose(found, token_log_probs(LOGITS.bfloat16().double(), IDS).float())
