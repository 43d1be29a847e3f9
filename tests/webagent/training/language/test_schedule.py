"""When what is learnt, and how fast."""

from dataclasses import replace

import pytest

from tests.webagent.training.language.small import row
from webagent.training.language.config import TrainConfig
from webagent.training.language.run import (
    TrainingProgress,
    compute_fraction,
    compute_learning_rate,
    shuffle_units,
)
from webagent.training.language.units import TrainingUnit

ROW = row([1], [2])


def test_the_rate_rises_and_then_falls_as_a_cosine():
    config = TrainConfig(learning_rate=1.0, warmup=0.2)
    assert compute_learning_rate(0.1, config, 3) == pytest.approx(0.5)
    assert compute_learning_rate(0.2, config, 6) == pytest.approx(1.0)
    assert compute_learning_rate(0.6, config, 18) == pytest.approx(0.5)
    assert compute_learning_rate(1.0, config, 30) == pytest.approx(0.0)


def test_trainings_in_turn_follow_one_schedule():
    whole = TrainConfig(learning_rate=1.0, warmup=0.2)
    parts = [replace(whole, span=(place / 4, (place + 1) / 4)) for place in range(4)]
    for place, part in enumerate(parts):
        for done in (0.2, 0.6, 1.0):
            expected = compute_learning_rate((place + done) / 4, whole, 3)
            assert compute_learning_rate(done, part, 3) == pytest.approx(expected)


def test_the_first_update_of_a_warm_up_is_not_wasted():
    assert compute_learning_rate(0.0, TrainConfig(learning_rate=1.0, warmup=0.2), 0) == 0.5
    assert compute_learning_rate(0.0, TrainConfig(learning_rate=1.0, warmup=0.0), 0) == 1.0


def test_few_rows_make_sixteen_updates_a_pass_where_no_size_is_given():
    assert [TrainConfig().batch(rows) for rows in (1, 24, 80, 512, 9000)] == [1, 1, 5, 32, 32]
    assert TrainConfig(units_per_step=4).batch(9000) == 4


def test_each_epoch_goes_through_everything_once_in_an_order_of_its_own():
    first, second = shuffle_units(50, 0, seed=3), shuffle_units(50, 1, seed=3)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second and first == shuffle_units(50, 0, seed=3) != shuffle_units(50, 0, seed=4)


def test_an_epoch_whose_units_do_not_divide_ends_with_a_smaller_update():
    config = TrainConfig(units_per_step=4, epochs=2)
    now, seen = TrainingProgress(), []
    while (done := compute_fraction(now, config, 10)) < 1:
        seen.append(round(done, 2))
        here = min(4, 10 - now.place)
        units = [TrainingUnit((replace(ROW, imagined=not k),)) for k in range(here)]
        now = now.after(units, 10, skipped=False)
    assert seen == [0.0, 0.17, 0.33, 0.5, 0.67, 0.83]
    assert (now.epoch, now.place, now.tokens, now.imagined) == (2, 0, 40, 12)


def test_a_budget_of_tokens_ends_a_training_early():
    config = TrainConfig(epochs=9, tokens=100)
    assert compute_fraction(TrainingProgress(step=1, place=4, tokens=50), config, 400) == 0.5
    assert compute_fraction(TrainingProgress(step=2, place=8, tokens=100), config, 400) == 1.0


def test_skipped_updates_in_a_row_are_counted_anew_after_one_that_was_not():
    now = TrainingProgress()
    for skipped in (True, True, False, True):
        now = now.after([TrainingUnit((ROW,))], 10, skipped)
    assert (now.skipped, now.skipped_in_row) == (3, 1)
