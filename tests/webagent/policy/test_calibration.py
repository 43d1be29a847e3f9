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


@pytest.mark.parametrize(
    ("one", "other", "high", "low"),
    [
        (("buy", 0.95, 60, 40), ("buy", 0.5, 10, 90), (0.54, 0.66), (0.04, 0.16)),
        (("buy", 0.9, 95, 5), ("sort", 0.9, 5, 30), (0.85, 1.0), (0.0, 0.4)),
        (("buy", 0.99, 40, 0), ("sort", 0.02, 0, 40), (0.95, 1.0), (0.0, 0.05)),
    ],
    ids=["too confident", "a kind that fails beside another", "answers that all agree"],
)
def test_a_confidence_counts_as_often_as_it_was_right(one, other, high, low) -> None:
    found = fitted(answers(*one), answers(*other))
    for (kind, confidence, *_), (least, most) in ((one, high), (other, low)):
        assert least < found.probability(kind, kind, confidence, 10) < most


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
