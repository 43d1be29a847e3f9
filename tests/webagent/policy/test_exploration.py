"""Random actions: anything that can be done, what the goal speaks of more often."""

from collections import Counter

import numpy as np

from tests.fakes.lessons import node, page
from webagent.action import Action
from webagent.action.actions import Click, Fill, SelectOption
from webagent.policy.exploration import random_action
from webagent.records import Node, Observation


def drawn(observation: Observation, match_share: float = 0.0) -> Counter[Action | None]:
    """What four hundred random actions come to."""
    rng = np.random.default_rng(0)
    return Counter(random_action(observation, rng, match_share) for _ in range(400))


def test_every_element_is_clicked_now_and_then_and_text_never() -> None:
    seen = page("x", node(0, "text", "Hi"), node(1, "button", "A"), node(2, "link", "B"))
    assert drawn(seen).keys() == {Click(1), Click(2)}


def test_disabled_elements_are_left_alone() -> None:
    seen = page("x", node(1, "button", "A", states=("disabled",)), node(2, "button", "B"))
    assert drawn(seen).keys() == {Click(2)}


def test_what_shares_a_word_with_the_goal_comes_up_more_often() -> None:
    nodes = [node(i, "button", f"other{i}") for i in range(1, 10)]
    seen = page("Press Submit", *nodes, node(10, "button", "submit"))
    assert drawn(seen, match_share=0.5)[Click(10)] > 2 * drawn(seen)[Click(10)]
    assert drawn(seen, match_share=1.0).keys() == {Click(10)}


def test_fields_are_filled_with_what_the_goal_quotes() -> None:
    seen = page('Type "New York" and "Rome"', node(1, "textbox", "City"))
    assert drawn(seen).keys() == {Fill(1, "New York"), Fill(1, "Rome")}


def test_without_quotes_a_word_of_the_goal_is_typed() -> None:
    seen = page("Enter a.b@c.org now", node(1, "textbox", "Mail"))
    assert drawn(seen).keys() == {Fill(1, "Enter"), Fill(1, "a.b@c.org"), Fill(1, "now")}


def test_a_field_is_only_clicked_when_the_goal_says_nothing() -> None:
    assert drawn(page("", node(1, "textbox", "City"))).keys() == {Click(1)}


def test_a_list_gets_one_of_its_own_options() -> None:
    lists = [
        Node(1, "combobox", "Size", kind="select"),
        *(node(2, "option", "S"), node(3, "option", "L")),
        Node(4, "combobox", "Colour", kind="select"),
        node(5, "option", "Red"),
    ]
    assert drawn(page("x", *lists)).keys() == {
        *(SelectOption(1, "S"), SelectOption(1, "L"), SelectOption(4, "Red"))
    }


def test_where_nothing_can_be_done_nothing_is() -> None:
    assert random_action(page("x", node(0, "text", "Hi")), np.random.default_rng(0), 0.5) is None
