"""A confidence is corrected by what came of answers of like confidence, and of the same kind."""

import random
from dataclasses import replace

import pytest

from webagent.policy.calibration import Calibration, ComparedAnswer


def answers(kind: str, confidence: float, right: int, wrong: int) -> list[ComparedAnswer]:
    said = [True] * right + [False] * wrong
    return [ComparedAnswer(kind, kind, confidence, 10, agreed) for agreed in said]


def fitted(*parts: list[ComparedAnswer]) -> Calibration:
    """Of these answers as they come: at no time more of one part."""
    found = [answer for part in parts for answer in part]
    random.Random(0).shuffle(found)
    return Calibration(found)


def test_before_anything_was_compared_it_is_believed_less_than_it_says() -> None:
    assert 0.5 < Calibration().probability("buy", "buy", 0.95, 1) < 0.95


def test_what_is_said_with_too_much_confidence_is_believed_as_often_as_it_was_right() -> None:
    found = fitted(answers("buy", 0.95, 60, 40), answers("buy", 0.5, 10, 90))
    assert found.probability("buy", "buy", 0.95, 10) == pytest.approx(0.6, abs=0.06)
    assert found.probability("buy", "buy", 0.5, 10) == pytest.approx(0.1, abs=0.06)


def test_a_kind_of_goal_that_fails_does_not_spoil_the_others() -> None:
    found = fitted(answers("buy", 0.9, 95, 5), answers("sort", 0.9, 5, 30))
    assert found.probability("buy", "buy", 0.9, 10) > 0.85
    assert found.probability("sort", "sort", 0.9, 10) < 0.4


def test_answers_that_all_agree_leave_a_probability_that_can_be_used() -> None:
    found = fitted(answers("buy", 0.99, 40, 0), answers("sort", 0.02, 0, 40))
    assert found.probability("buy", "buy", 0.99, 10) > 0.95
    assert found.probability("sort", "sort", 0.02, 10) < 0.05


def test_a_template_that_is_done_otherwise_than_its_kind_has_a_term_of_its_own() -> None:
    hard = [replace(each, template="hard") for each in answers("buy", 0.9, 5, 30)]
    found = fitted(answers("buy", 0.9, 60, 2), hard)
    assert found.probability("buy", "buy", 0.9, 10) > 0.9
    assert found.probability("buy", "hard", 0.9, 10) < 0.4
    assert found.probability("buy", "new", 0.9, 10) > found.probability("buy", "hard", 0.9, 10)


def test_a_confidence_is_worth_more_the_longer_it_was_learned() -> None:
    """What it says means less while little is remembered."""
    young, old = answers("buy", 0.6, 30, 70), answers("buy", 0.6, 70, 30)
    for part in (young, old):
        random.Random(0).shuffle(part)
    assert Calibration(young + old).probability("buy", "buy", 0.6, 10) > 0.6
    assert Calibration(old + young).probability("buy", "buy", 0.6, 10) < 0.4
