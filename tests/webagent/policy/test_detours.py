"""Which steps of a success led nowhere, and are not to be imitated."""

import pytest

from tests.fakes.lessons import FIELD, episode, node, page
from webagent.action.actions import Click, Fill, GoBack
from webagent.policy.past_actions import find_detours
from webagent.records import Observation


def results(number: int, first_mark: int) -> Observation:
    """A page of results, drawn anew under other marks each time."""
    names = [f"result {number}", "back", "next"]
    lines = [node(first_mark + i, "link", name) for i, name in enumerate(names)]
    return page("Open result 2.", *lines)


def form(value: str) -> Observation:
    """A page with one field."""
    return page('Type "sigma".', node(FIELD, "textbox", "name", value=value))


THERE_AND_BACK = ((results(1, 1), Click(3)), (results(3, 11), Click(12)))
AFTERWARDS = ((results(1, 21), Click(23)), (results(2, 31), Click(31)))
TYPED_OVER = ((form(""), Fill(FIELD, "sig")), (form("sig"), Fill(FIELD, "sigma")))
HOME = page("Note it.", node(1, "link", "Notes"), node(2, "link", "Done"))
EDITOR = page("Note it.", node(FIELD, "textbox", "note"), node(9, "button", "Save"))
WRITTEN = page("Note it.", node(FIELD, "textbox", "note", value="it"), node(9, "button", "Save"))
SENT = ((HOME, Click(1)), (EDITOR, Fill(FIELD, "it")), (WRITTEN, Click(9)), (HOME, Click(2)))
SENT_AND_STILL_THERE = ((EDITOR, Fill(FIELD, "it")), (WRITTEN, Click(9)), (WRITTEN, GoBack()))
AS_IT_WAS = ((form("sigma"), Fill(FIELD, "sigma")), (form("sigma"), Click(9)))
LEFT_UNSENT = ((HOME, Click(1)), (EDITOR, Fill(FIELD, "it")), (WRITTEN, GoBack()), (HOME, Click(2)))
STRAIGHT = ((results(1, 1), Click(3)), (results(2, 11), Click(11)))


@pytest.mark.parametrize(
    ("turns", "detours"),
    [
        ((*THERE_AND_BACK, *AFTERWARDS), {0, 1}),
        (TYPED_OVER, {0}),
        (STRAIGHT, set()),
        (LEFT_UNSENT, {0, 1, 2}),
        (SENT, set()),
        (SENT_AND_STILL_THERE, set()),
        (AS_IT_WAS, set()),
    ],
    ids=[
        *("there and back again", "typed over", "straight"),
        *("left unsent", "sent", "still there", "as it was"),
    ],
)
def test_steps_that_led_nowhere_are_found(turns, detours):
    assert find_detours(episode(*turns).steps) == detours
