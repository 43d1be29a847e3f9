"""Values of a recorded goal are carried over to another one, or it is said that they cannot be."""

import pytest

from webagent.policy.replay.goals import ValueMapping, align


def between(old: str, new: str, **given: str) -> ValueMapping:
    """Values of another task."""
    return ValueMapping.between(old, new, given, is_another_task=True)


@pytest.mark.parametrize(
    ("old", "new", "text", "carried"),
    [
        ('Enter "Joye" and Submit.', 'Enter "Mary Ann" and Submit.', "Joye", "Mary Ann"),
        ("Select Kvz and click Submit.", "Select a1b and click Submit.", "Kvz", "a1b"),
        ("Fly from Oslo to Rome on Monday.", "Fly from Bonn to Nice on Friday.", "Rome", "Nice"),
        ("Fly from Oslo to Rome on.", "Fly from New York to Bonn on.", "Oslo", "New York"),
        ("See the big red box here.", "See the red old box here.", "big red box", "red old box"),
        ("Pay 03/14/2011 as the date.", "Pay 12/01/2015 as the date.", "03/14/2011", "12/01/2015"),
        ('Write "joye" now.', 'Write "Ada" now.', "Joye", "Ada"),
        ('Write the name "joye" now.', 'Write the name "ada" now.', "JOYE", "ADA"),
        ("Press Submit for Joye now.", "Press Submit for Mary now.", "Submit", "Submit"),
    ],
)  # fmt: skip
def test_what_stood_in_the_goal_is_what_stands_there_now(old, new, text, carried):
    found = between(old, new).carry(text)
    assert (found.text, found.is_known) == (carried, True)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("Select abc, de and click Submit.", "Select xyz and click Submit.", "abc"),
        ('Copy "5" to row "5".', 'Copy "7" to row "9".', "5"),
        ('Type "joye" in lower case.', 'Type "ADA" in lower case.', "joye"),
    ],
    ids=["a part of a change", "one word for two", "a goal about case"],
)
def test_what_cannot_be_told_is_not_guessed(old: str, new: str, text: str) -> None:
    assert between(old, new).carry(text).how == "unsure"


def test_goals_that_ask_for_more_are_known_not_to_fit() -> None:
    assert not align("Select a.", "Select a and then b.").is_complete
    assert align('Click "x".', 'Click "y".').is_complete


def test_a_change_that_nothing_goes_by_is_named() -> None:
    values = between("Focus into the 2nd textbox.", "Focus into the 3rd textbox.")
    assert values.list_missing(["Submit"]) == ["'2nd' is '3rd' now"]
    assert values.list_missing(["the 2nd field"]) == []


def test_what_is_given_goes_before_the_goal() -> None:
    values = ValueMapping.between("Buy it.", "Buy it.", {"mug": "cup"}, is_another_task=False)
    assert values.carry("mug").text == "cup"
    assert values.replace_in("Remove mug from the basket") == "Remove cup from the basket"
