"""Answers in words are compared as a person would, and as strictly as their author says."""

import pytest

from evaluators.rules import RULES

ACCEPTED = [
    ("$349", "349"),
    ("349.", "349"),
    ("The blue kayak costs $349.", "349"),
    ("349 EUR", "€349"),
    ("1,234.50", "1234.5"),
    ("21 inches", "21"),
    ("53.34 cm", "21 inches"),
    ("Oslo.", "Oslo"),
    ("“Oslo”", "Oslo"),
    ("**Oslo**", "oslo"),
    ("9–5", "9-5"),
    ("café", "cafe\u0301"),
    ("Yes", "yes"),
    ("March 4, 2026", "2026-03-04"),
    ("It opens on 4 Mar 2026.", "2026-03-04"),
    ("4.3.2026", "March 4th, 2026"),
    ("press@example.org", "Press@example.org"),
]
REFUSED = [
    ("", "349"),
    ("350", "349"),
    ("349 or 350", "349"),
    ("£349", "$349"),
    ("Oslo and Bergen", "Oslo"),
    ("not Oslo", "Oslo"),
    ("21 kg", "21 inches"),
    ("March 5, 2026", "2026-03-04"),
    ("2026-03-04 or 2026-03-05", "2026-03-04"),
    ("9 to 6", "9 to 5"),
]


@pytest.mark.parametrize(("found", "expected"), ACCEPTED)
def test_what_a_person_would_accept_passes(found: str, expected: str) -> None:
    assert RULES["same_answer"](found, expected) is True


@pytest.mark.parametrize(("found", "expected"), REFUSED)
def test_what_a_person_would_refuse_fails(found: str, expected: str) -> None:
    assert RULES["same_answer"](found, expected) is False


def test_words_are_found_whole() -> None:
    assert RULES["has_wording"]("It is Oslo, of course.", "oslo")
    assert not RULES["has_wording"]("It costs 3490.", "349")


@pytest.mark.parametrize(("rule", "expected"), [("same_number", "Oslo"), ("same_date", "349")])
def test_what_is_expected_has_to_be_of_the_kind(rule: str, expected: str) -> None:
    with pytest.raises(TypeError, match="has no"):
        RULES[rule]("1", expected)
