"""Generation keeps to the grammar, and one row's result never depends on another's."""

import random

import numpy as np
import pytest

from tests.fakes.lessons import lesson
from tests.fakes.networks import trained, untrained
from webagent.models.builtin.network import sample, search
from webagent.models.builtin.prefix import Prefix, encode
from webagent.models.builtin.targets import ActionGrammar, Codec

pytestmark = pytest.mark.slow  # all share what is trained or loaded here

MODEL = untrained()
GRAMMAR = ActionGrammar(Codec(MODEL.vocabulary))


def prompts(count: int) -> list[Prefix]:
    """Prompts of different lessons."""
    dice = random.Random(7)
    pages = [lesson(dice)[0] for _ in range(count)]
    return [encode(MODEL.vocabulary, "policy", page, ()) for page in pages]


def test_what_is_sampled_does_not_depend_on_the_rest_of_the_batch() -> None:
    together = prompts(4)
    seeds = [np.random.default_rng(seed) for seed in range(3)]
    batch = sample(MODEL.network, GRAMMAR, together, [*seeds, None], temperature=1.5)
    for row, prefix in enumerate(together):
        rng = np.random.default_rng(row) if row < 3 else None
        [alone] = sample(MODEL.network, GRAMMAR, [prefix], [rng], temperature=1.5)
        assert alone.ids == batch[row].ids
        assert alone.log_probs == pytest.approx(batch[row].log_probs, abs=1e-4)


def test_everything_sampled_is_allowed_and_complete() -> None:
    [prefix] = prompts(1)
    rngs = [np.random.default_rng(seed) for seed in range(40)]
    written = sample(MODEL.network, GRAMMAR, [prefix] * 40, rngs, temperature=2.0)
    assert len({each.ids for each in written}) > 20
    for each in written:
        assert GRAMMAR.slot(each.ids) == "done"
        for place, token in enumerate(each.ids):
            assert GRAMMAR.allowed(each.ids[:place], prefix)[token]


def test_log_probabilities_are_those_under_mask_and_temperature() -> None:
    [prefix] = prompts(1)
    only = ActionGrammar(GRAMMAR.codec, ("go_back", "tab_close"))
    rngs = [np.random.default_rng(seed) for seed in range(300)]
    written = sample(MODEL.network, only, [prefix] * 300, rngs, temperature=3.0)
    chances = {each.ids: np.exp(each.log_prob) for each in written}
    assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
    for ids, chance in chances.items():
        share = np.mean([each.ids == ids for each in written])
        assert share == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / 300))


def test_a_higher_temperature_makes_the_likely_less_likely() -> None:
    model, [prefix] = trained(), prompts(1)
    grammar = ActionGrammar(Codec(model.vocabulary))
    [cold] = sample(model.network, grammar, [prefix], [None], temperature=1.0)
    [hot] = sample(model.network, grammar, [prefix], [None], temperature=4.0)
    assert cold.ids == hot.ids
    assert cold.log_prob > hot.log_prob


def test_a_search_finds_different_targets_best_first() -> None:
    [prefix] = prompts(1)
    found = search(MODEL.network, GRAMMAR, prefix, 8)
    assert len({each.ids for each in found}) == len(found) == 8
    scores = [each.log_prob for each in found]
    assert scores == sorted(scores, reverse=True)
    assert all(GRAMMAR.slot(each.ids) == "done" for each in found)


def test_a_search_of_width_one_is_the_greedy_choice() -> None:
    model = trained()
    grammar = ActionGrammar(Codec(model.vocabulary))
    for prefix in prompts(3):
        [greedy] = sample(model.network, grammar, [prefix], [None])
        [best] = search(model.network, grammar, prefix, 1)
        assert best.ids == greedy.ids
        assert best.log_prob == pytest.approx(greedy.log_prob, abs=1e-3)


def test_a_wider_search_never_ends_up_with_less() -> None:
    for prefix in prompts(3):
        best = [search(MODEL.network, GRAMMAR, prefix, width)[0].log_prob for width in (1, 4, 16)]
        assert best[0] <= best[1] + 1e-4 <= best[2] + 2e-4


def test_a_target_that_is_never_closed_is_cut_at_the_limit() -> None:
    answers = ActionGrammar(GRAMMAR.codec, ("answer",))
    rngs = [np.random.default_rng(seed) for seed in range(10)]
    written = sample(MODEL.network, answers, prompts(1) * 10, rngs, max_length=3)
    assert max(len(each.ids) for each in written) == 3
