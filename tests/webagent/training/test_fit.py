"""Training: what is taught is learnt, and the same seed learns the same."""

import random
from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch

from tests.fakes.lessons import WORDS, demonstrations, lesson, task
from tests.fakes.networks import trained, untrained
from webagent.models.builtin.network import sample
from webagent.models.builtin.prefix import encode
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.training.fit import FitConfig, _batch_rows, fit
from webagent.training.rows import TrainingRow, make_policy_rows

SHORT = FitConfig(tokens=8_000, batch_tokens=800)


def lesson_rows(model_grammar: ActionGrammar, count: int = 40) -> list[TrainingRow]:
    """A row for each of so many lessons."""
    return [row for each in demonstrations(count) for row in make_policy_rows(model_grammar, each)]


def test_clicking_and_typing_are_learnt_for_pages_never_seen() -> None:
    model, dice = trained(), random.Random("held out")
    grammar = ActionGrammar(Codec(model.vocabulary))
    lessons = [lesson(dice) for _ in range(200)]
    prefixes = [encode(model.vocabulary, "policy", page, ()) for page, _ in lessons]
    written = sample(model.network, grammar, prefixes, [None] * 200)
    right = [
        grammar.codec.decode(text.ids, prefix, task().viewport) == action
        for text, prefix, (_, action) in zip(written, prefixes, lessons, strict=True)
    ]
    assert np.mean(right) > 0.95


def test_words_never_seen_are_typed_by_copying_them() -> None:
    model = trained()
    grammar = ActionGrammar(Codec(model.vocabulary))
    strange = replace(lesson(random.Random(3))[0], goal='Type "quetzal axolotl" into the field.')
    prefix = encode(model.vocabulary, "policy", strange, ())
    [text] = sample(model.network, grammar, [prefix], [None])
    assert not {"quetzal", "axolotl"} & set(WORDS)
    action = grammar.codec.decode(text.ids, prefix, task().viewport)
    assert getattr(action, "text", "") == "quetzal axolotl"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights_and_another_does_not() -> None:
    versions = []
    for seed in (1, 1, 2):
        model = untrained()
        grammar = ActionGrammar(Codec(model.vocabulary))
        fit(model.network, lesson_rows(grammar), replace(SHORT, seed=seed))
        versions.append(model.version)
    assert versions[0] == versions[1] != versions[2]


def test_the_budget_of_tokens_is_kept_and_reported() -> None:
    model = untrained()
    told: list[float] = []
    rows = lesson_rows(ActionGrammar(Codec(model.vocabulary)))
    report = fit(model.network, rows, SHORT, lambda fraction, loss: told.append(fraction))
    assert SHORT.tokens <= report.tokens < SHORT.tokens + SHORT.batch_tokens
    assert report.passes == pytest.approx(report.tokens / sum(row.tokens for row in rows))
    assert told == sorted(told) and len(told) == report.updates
    assert report.loss > 0 and not model.network.training


def test_a_row_of_no_weight_teaches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webagent.training.fit._WEIGHT_DECAY", 0.0)
    model = untrained()
    rows = lesson_rows(ActionGrammar(Codec(model.vocabulary)))
    before = model.network.copy_query.weight.detach().clone()
    still = [replace(row, weight=0.0) for row in rows]
    fit(model.network, still, replace(SHORT, tokens=3_000))
    assert torch.equal(model.network.copy_query.weight, before)


def test_every_group_comes_up_equally_often() -> None:
    [some] = lesson_rows(ActionGrammar(Codec(untrained().vocabulary)), 1)
    rows = [replace(some, group="large")] * 90 + [replace(some, group="small")] * 10
    batches = islice(_batch_rows(rows, FitConfig(batch_tokens=800), np.random.default_rng(0)), 60)
    counts = Counter(row.group for batch in batches for row in batch)
    assert counts["small"] == pytest.approx(counts["large"], rel=0.15)


def test_no_batch_is_larger_than_asked_but_for_a_single_long_row() -> None:
    rows = lesson_rows(ActionGrammar(Codec(untrained().vocabulary)))
    for limit in (1, 300):
        config = FitConfig(batch_tokens=limit)
        for batch in islice(_batch_rows(rows, config, np.random.default_rng(0)), 50):
            assert len(batch) == 1 or len(batch) * max(len(row.prefix) for row in batch) <= limit


def test_without_rows_there_is_nothing_to_train_on() -> None:
    with pytest.raises(ValueError, match="no rows"):
        fit(untrained().network, [], SHORT)
