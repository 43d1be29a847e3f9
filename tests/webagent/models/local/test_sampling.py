"""Drawing the next id: the distribution, the masks, and independence of the batch."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from webagent.models.local.requests import Noise, TokenDraw, sample_tokens

NONE = torch.tensor([], dtype=torch.long)


def test_ids_are_drawn_as_often_as_they_are_probable():
    chances = torch.tensor([0.5, 0.3, 0.15, 0.05])
    source = Noise(1, 0)
    draws = [TokenDraw(1.0, source.at(place)) for place in range(20_000)]
    ids, log_probs = sample_tokens(chances.log().expand(len(draws), -1), draws, NONE)
    shares = np.bincount(ids, minlength=4) / len(ids)
    assert shares == pytest.approx(chances.numpy(), abs=0.012)
    assert log_probs[:50] == pytest.approx([math.log(chances[one]) for one in ids[:50]], abs=1e-6)


@given(
    logits=st.lists(st.floats(-30, 30), min_size=2, max_size=40),
    noise=st.floats(0, 1, exclude_max=True),
    temperature=st.floats(0.05, 5),
    data=st.data(),
)
@settings(max_examples=200, deadline=None)
def test_only_allowed_ids_are_drawn_whatever_the_noise(logits, noise, temperature, data):
    size = len(logits)
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    allowed[data.draw(st.integers(0, size - 1))] = True
    rows = torch.tensor([logits])
    (cold,), _ = sample_tokens(rows, [TokenDraw(0.0, 0.0, allowed)], NONE)
    (warm,), (log_prob,) = sample_tokens(rows, [TokenDraw(temperature, noise, allowed)], NONE)
    assert allowed[cold] and allowed[warm]
    kept = torch.tensor(logits).double()[torch.from_numpy(np.flatnonzero(allowed))] / temperature
    expected = logits[warm] / temperature - float(torch.logsumexp(kept, 0))
    assert log_prob == pytest.approx(expected, abs=1e-3)


def test_a_row_is_drawn_alike_in_any_batch():
    logits = torch.randn(6, 50, generator=torch.Generator().manual_seed(1))
    draws = [TokenDraw(0.5 * place, Noise(place, 0).at(3)) for place in range(6)]
    together = sample_tokens(logits, draws, NONE)
    alone = [sample_tokens(logits[place : place + 1], [draws[place]], NONE) for place in range(6)]
    assert together[0] == [ids[0] for ids, _ in alone]
    assert together[1] == pytest.approx([values[0] for _, values in alone], abs=1e-6)


def test_greedy_log_probs_are_those_of_temperature_1():
    logits = torch.tensor([[1.0, 3.0, 2.0]])
    assert (
        sample_tokens(logits, [TokenDraw(0.0)], NONE)[1]
        == sample_tokens(logits, [TokenDraw(1.0, 0.5)], NONE)[1]
    )


def test_what_may_never_be_said_is_taken_out_before_the_softmax():
    ids, (log_prob,) = sample_tokens(
        torch.tensor([[9.0, 1.0, 1.0]]), [TokenDraw(0.0)], torch.tensor([0])
    )
    assert ids == [1] and log_prob == pytest.approx(math.log(0.5))


def test_a_mask_narrower_or_wider_than_the_logits_fits():
    logits = torch.tensor([[1.0, 2.0, 3.0]])
    assert sample_tokens(logits, [TokenDraw(0.0, 0.0, np.array([True, True]))], NONE)[0] == [1]
    assert sample_tokens(logits, [TokenDraw(0.0, 0.0, np.array([True] * 5))], NONE)[0] == [2]


def test_noise_depends_on_seed_reply_and_place_alone():
    forward = [Noise(5, 1).at(place) for place in range(100)]
    source = Noise(5, 1)
    assert [source.at(place) for place in reversed(range(100))] == forward[::-1]
    assert Noise(5, 2).at(0) != Noise(5, 1).at(0) != Noise(6, 1).at(0)
    assert Noise(-1, 0).at(0) == Noise(-1, 0).at(0)
    assert Noise(None, 0).at(0) != Noise(None, 0).at(0)
