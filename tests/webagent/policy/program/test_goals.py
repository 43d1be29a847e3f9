"""What stood in one goal is found in another one, or known not to be."""

import pytest

from webagent.policy.program.goals import align


@pytest.mark.parametrize(
    ("old", "new", "text", "there"),
    [
        ('Enter "Joye" and Submit.', 'Enter "Mary Ann" and Submit.', "Joye", "Mary Ann"),
        ("Fly from Oslo to Rome on Monday.", "Fly from Bonn to Nice on Friday.", "Rome", "Nice"),
        ("Fly from Oslo to Rome on.", "Fly from New York to Bonn on.", "Oslo", "New York"),
        ("See the big red box here.", "See the red old box here.", "big red box", "red old box"),
        ("Pay 03/14/2011 as the date.", "Pay 12/01/2015 as the date.", "03/14/2011", "12/01/2015"),
        ('Put "Oslo, Rome" on "A".', 'Put "Rome" on "the B".', "oslo, rome", "Rome"),
        ("Press Submit for Joye now.", "Press Submit for Mary now.", "Submit", "Submit"),
        ("Select abc, de and click Submit.", "Select xyz and click Submit.", "abc", None),
    ],
)
def test_what_stood_in_a_goal_is_found_in_another(old, new, text, there):
    assert align(old, new).counterparts(text) == {there}


def test_goals_that_name_different_things_are_known_not_to_fit() -> None:
    assert align("Copy 5 to row 5.", "Copy 7 to row 9.").counterparts("5") == {"7", "9"}
    assert not align("Select a.", "Select a and then b.").is_complete
    assert align('Click "x".', 'Click "y".').changes == ("x",)
