"""Numbers with units: read from text, converted, and never guessed among several."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.rules import RULES
from evaluators.rules.checks import quantities


@pytest.mark.parametrize(
    ("found", "expected", "value"),
    [
        (12.5, {"value": 12.5}, 1.0),
        (12.6, {"value": 12.5}, 0.0),
        (12.6, {"value": 12.5, "within": 0.1 + 1e-9}, 1.0),
        (102, {"value": 100, "within_share": 0.02}, 1.0),
        (103, {"value": 100, "within_share": 0.02}, 0.0),
        ("It costs $1,299.00.", {"value": 1299, "unit": "USD"}, 1.0),
        ("It costs 1,299 dollars", {"value": 1299, "unit": "$"}, 1.0),
        ("It costs €1,299", {"value": 1299, "unit": "USD"}, 0.0),
        ("about 5 km away", {"value": 3.107, "unit": "miles", "within": 0.01}, 1.0),
        ("5 km", {"value": 5, "unit": "kg"}, 0.0),
        ("5 km", {"value": 5}, 1.0),
        ("48GB", {"value": 48000, "unit": "MB"}, 1.0),
        ("1.2 million people", {"value": 1_200_000}, 1.0),
        ("3.125%", {"value": 3.125, "unit": "%"}, 1.0),
        ("-7 degrees", {"value": -7}, 1.0),
        ("no number at all", {"value": 7}, 0.0),
        ("version 18.2.0", {"value": 18.2}, 0.0),
        (4.5, {"at_least": 4.5}, 1.0),
        (4.5, {"above": 4.5}, 0.0),
        (600, {"below": 600}, 0.0),
        (600, {"at_most": 600}, 1.0),
        ("prep time 25 mins", {"below": 1, "unit": "hour"}, 1.0),
        ("90 minutes", {"at_least": 1, "at_most": 2, "unit": "h"}, 1.0),
        ("£40", {"at_least": 10, "unit": "USD"}, 0.0),
    ],
)
def test_numbers_and_bounds_are_compared_in_their_unit(found, expected, value):
    rule = "number_is" if "value" in expected else "number_between"
    assert RULES[rule](found, expected).value == value


def test_several_numbers_that_disagree_are_left_to_a_judge():
    verdict = RULES["number_is"]("was $15, now $10", {"value": 10, "unit": "USD"})

    assert verdict.value is None
    assert "$15, $10" in verdict.reason


def test_several_numbers_that_agree_decide():
    assert RULES["number_between"]("between 20 and 30 reviews", {"at_least": 10}).value == 1.0


@pytest.mark.parametrize(
    ("rule", "found", "expected", "said"),
    [
        ("number_is", 1, {"value": "1"}, "expected a number"),
        ("number_is", 1, {"within": 1}, "value"),
        ("number_is", 1, {"value": 1, "unit": "parsec"}, "unknown unit 'parsec'"),
        ("number_is", None, {"value": 1}, "neither a number nor text"),
        ("number_is", True, {"value": 1}, "neither a number nor text"),
        ("number_between", 1, {"unit": "km"}, "at_least"),
        ("number_between", 1, {"minimum": 3}, "minimum"),
    ],
)
def test_what_cannot_be_compared_is_said(rule, found, expected, said):
    with pytest.raises(TypeError, match=said):
        RULES[rule](found, expected)


@given(st.integers(0, 10**9), st.sampled_from(["USD", "km", "GB", "percent"]))
def test_a_written_amount_is_read_back(number, unit):
    text = f"It is {number:,} {unit}, they say."
    assert RULES["number_is"](text, {"value": number, "unit": unit}).value == 1.0


@given(st.text())
def test_any_text_can_be_read(text):
    assert all(one.text in text for one in quantities(text))
