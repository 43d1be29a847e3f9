"""Calibration: probabilities that come true as often as they say, and a line that holds."""

import random
from pathlib import Path
from statistics import fmean

import pytest

from evaluators.reward.calibration import JudgeCalibration, calibrate
from evaluators.statistics import calibration_error
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
    raw = calibration_error(list(zip(chances, labels, strict=True)))
    scaled = calibration_error(list(zip(fitted(chances), labels, strict=True)))
    assert fitted.slope == pytest.approx(0.25, abs=0.05)
    assert scaled < 0.03 < raw


def test_at_the_threshold_at_most_the_target_of_failures_passes_on_new_episodes() -> None:
    dice = random.Random(1)

    def drawn(count: int) -> tuple[list[float], list[bool]]:
        labels = [dice.random() < 0.5 for _ in range(count)]
        return [dice.betavariate(5, 2) if x else dice.betavariate(2, 5) for x in labels], labels

    fitted = calibrate(*drawn(3000), target=0.05)
    chances, labels = drawn(6000)
    passed = [chance >= fitted.threshold for chance in fitted(chances)]
    rates = {
        outcome: fmean(p for p, label in zip(passed, labels, strict=True) if label is outcome)
        for outcome in (True, False)
    }
    assert 0.03 < rates[False] < 0.07
    assert rates[True] > 0.6


def test_what_is_told_apart_without_fault_stays_finite_and_lets_no_failure_pass() -> None:
    fitted = calibrate([0.9] * 30 + [0.1] * 30, [True] * 30 + [False] * 30)
    good, bad = fitted([0.9, 0.1])
    assert good >= fitted.threshold > bad


def test_few_failures_allow_none_of_them() -> None:
    chances = [0.8, 0.7, 0.6, 0.9, 0.3]
    fitted = calibrate(chances, [False, False, True, True, True])
    passed = [p >= fitted.threshold for p in fitted(chances)]
    assert passed == [False, False, False, True, False]


def test_one_outcome_alone_calibrates_nothing() -> None:
    with pytest.raises(ValueError, match="0 successes of 2"):
        calibrate([0.1, 0.2], [False, False])


def test_it_is_kept_beside_the_weights_and_a_broken_file_is_named(tmp_path: Path) -> None:
    assert JudgeCalibration.load(tmp_path) == JudgeCalibration()
    kept = JudgeCalibration(0.5, -1.0, 0.7, 0.02, 300)
    kept.save(tmp_path)
    assert JudgeCalibration.load(tmp_path) == kept
    (tmp_path / "calibration.json").write_text("{'slope': 1")
    with pytest.raises(ModelError, match="is no calibration"):
        JudgeCalibration.load(tmp_path)
