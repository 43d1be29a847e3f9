"""Which steps of a success led nowhere, and are not to be imitated."""

from tests.fakes.lessons import FIELD, episode, node, page
from webagent.action.actions import Click, Fill
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


def test_there_and_back_again_is_a_detour() -> None:
    there = ((results(1, 1), Click(3)), (results(3, 11), Click(12)))
    way = ((results(1, 21), Click(23)), (results(2, 31), Click(31)))
    assert find_detours(episode(*there, *way).steps) == {0, 1}


def test_a_text_that_was_typed_over_is_a_detour() -> None:
    turns = ((form(""), Fill(FIELD, "sig")), (form("sig"), Fill(FIELD, "sigma")))
    assert find_detours(episode(*turns).steps) == {0}


def test_the_straight_way_has_none() -> None:
    turns = ((results(1, 1), Click(3)), (results(2, 11), Click(11)))
    assert find_detours(episode(*turns).steps) == frozenset()
