"""Calibration: probabilities that come true as often as they say, and a line that holds."""

import random
from pathlib import Path

import numpy as np
import pytest

from evaluators.reward.calibration import JudgeCalibration, calibrate, measure_quality, measure_rate
from webagent.errors import ModelError


def boastful(dice: random.Random, count: int) -> tuple[list[float], list[bool]]:
    """Chances that are far too sure of themselves, with outcomes that come true as 0.2 to 0.8."""
    truths = [dice.uniform(0.2, 0.8) for _ in range(count)]
    odds = [(truth / (1 - truth)) ** 4 for truth in truths]
    return [odd / (1 + odd) for odd in odds], [dice.random() < truth for truth in truths]


def test_probabilities_that_are_too_sure_become_true_ones() -> None:
    dice = random.Random(0)
    fitted = calibrate(*boastful(dice, 4000))
    chances, labels = boastful(dice, 4000)
    raw, scaled = (
        measure_quality(chances, labels, 0.5),
        measure_quality(fitted(chances), labels, 0.5),
    )
    assert fitted.slope == pytest.approx(0.25, abs=0.05)
    assert scaled.ece < 0.03 < raw.ece
    assert scaled.brier < raw.brier


def test_at_the_threshold_at_most_the_target_of_failures_passes_on_new_episodes() -> None:
    dice = random.Random(1)

    def drawn(count: int) -> tuple[list[float], list[bool]]:
        labels = [dice.random() < 0.5 for _ in range(count)]
        return [dice.betavariate(5, 2) if x else dice.betavariate(2, 5) for x in labels], labels

    fitted = calibrate(*drawn(3000), target=0.05)
    chances, labels = drawn(6000)
    found = measure_quality(fitted(chances), labels, fitted.threshold)
    assert found.false_positives.value is not None and found.recall.value is not None
    assert 0.03 < found.false_positives.value < 0.07
    assert found.recall.value > 0.6


def test_a_threshold_is_raised_for_failures_that_more_than_the_target_pass_and_never_lowered():
    fitted = calibrate([0.9] * 30 + [0.1] * 30, [True] * 30 + [False] * 30)
    lies = [0.02 * place for place in range(50)]
    raised = fitted.raised(lies)
    assert sum(p >= raised.threshold for p in fitted(lies)) <= 2
    assert raised.threshold > fitted.threshold
    assert fitted.raised([0.01] * 50) == fitted == fitted.raised([])


def test_what_is_told_apart_without_fault_stays_finite_and_lets_no_failure_pass() -> None:
    fitted = calibrate([0.9] * 30 + [0.1] * 30, [True] * 30 + [False] * 30)
    good, bad = fitted([0.9, 0.1])
    assert good >= fitted.threshold > bad


def test_few_failures_allow_none_of_them() -> None:
    chances = [0.8, 0.7, 0.6, 0.9, 0.3]
    fitted = calibrate(chances, [False, False, True, True, True])
    passed = [p >= fitted.threshold for p in fitted(chances)]
    assert passed == [False, False, False, True, False]


def test_surprise_counts_as_far_as_it_tells() -> None:
    rng = np.random.default_rng(0)
    labels = rng.random(2000) < 0.5
    telling = np.where(labels, -0.5, -4.0) + rng.normal(0, 1, 2000)
    surprise = np.column_stack([telling, rng.normal(0, 1, 2000)])
    fitted = calibrate([0.5] * 2000, labels.tolist(), surprise=surprise)
    assert fitted.surprise[0] > 1 and abs(fitted.surprise[1]) < 0.3
    found = measure_quality(fitted([0.5] * 2000, surprise), labels.tolist(), fitted.threshold)
    assert found.recall.value is not None and found.recall.value > 0.9


def test_one_outcome_alone_calibrates_nothing() -> None:
    with pytest.raises(ValueError, match="0 successes of 2"):
        calibrate([0.1, 0.2], [False, False])


def test_it_is_kept_beside_the_weights_and_a_broken_file_is_named(tmp_path: Path) -> None:
    assert JudgeCalibration.load(tmp_path) == JudgeCalibration()
    kept = JudgeCalibration(0.5, -1.0, (0.1, 0.2), 0.7, 0.4, 0.02, 300)
    kept.save(tmp_path)
    assert JudgeCalibration.load(tmp_path) == kept
    (tmp_path / "calibration.json").write_text("{'slope': 1")
    with pytest.raises(ModelError, match="is no calibration"):
        JudgeCalibration.load(tmp_path)


def test_rates_have_their_counts_and_nothing_is_no_rate() -> None:
    assert measure_rate(0, 0).value is None
    found = measure_quality([0.9, 0.8, 0.2, 0.6], [True, False, True, False], 0.7)
    assert (found.precision.value, found.recall.value) == (0.5, 0.5)
    assert found.false_positives[:2] == (0.5, 2)
    assert sum(b.episodes for b in found.reliability) == 4
    assert found.brier == pytest.approx((0.01 + 0.64 + 0.64 + 0.36) / 4)
