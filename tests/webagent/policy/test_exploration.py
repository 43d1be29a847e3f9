"""Random actions: anything that can be done, what the goal speaks of more often."""

from collections import Counter

import numpy as np
import pytest

from tests.fakes.lessons import node, page
from webagent.action import Action
from webagent.action.actions import Click, Fill, SelectOption
from webagent.policy.remembering import random_action
from webagent.records import Node, Observation


def drawn(observation: Observation, match_share: float = 0.0) -> Counter[Action | None]:
    """What four hundred random actions come to."""
    rng = np.random.default_rng(0)
    return Counter(random_action(observation, rng, match_share) for _ in range(400))


LISTS = (
    Node(1, "combobox", "Size", kind="select"),
    *(node(2, "option", "S"), node(3, "option", "L")),
    Node(4, "combobox", "Colour", kind="select"),
    node(5, "option", "Red"),
)
CITY = node(1, "textbox", "City")


@pytest.mark.parametrize(
    ("seen", "actions"),
    [
        (
            page("x", node(0, "text", "Hi"), node(1, "button", "A"), node(2, "link", "B")),
            {Click(1), Click(2)},
        ),
        (
            page("x", node(1, "button", "A", states=("disabled",)), node(2, "button", "B")),
            {Click(2)},
        ),
        (page('Type "New York" and "Rome"', CITY), {Fill(1, "New York"), Fill(1, "Rome")}),
        (page("Enter a.b@c.org now", CITY), {Fill(1, t) for t in ("Enter", "a.b@c.org", "now")}),
        (page("", CITY), {Click(1)}),
        (page("x", Node(1, "combobox", "Size", kind="span")), {Click(1)}),
        (page("x", Node(1, "combobox", "Size", kind="input:text")), {Fill(1, "x")}),
        (page("x", *LISTS), {SelectOption(m, t) for m, t in ((1, "S"), (1, "L"), (4, "Red"))}),
        (page("x", node(0, "text", "Hi")), {None}),
    ],
    ids=[
        *("elements", "disabled", "quoted", "unquoted", "no goal", "a drawn list"),
        *("a field with a list", "lists", "nothing to act on"),
    ],
)
def test_what_can_be_done_comes_up_and_nothing_else(seen, actions):
    assert drawn(seen).keys() == actions


def test_what_shares_a_word_with_the_goal_comes_up_more_often() -> None:
    nodes = [node(i, "button", f"other{i}") for i in range(1, 10)]
    seen = page("Press Submit", *nodes, node(10, "button", "submit"))
    assert drawn(seen, match_share=0.5)[Click(10)] > 2 * drawn(seen)[Click(10)]
    assert drawn(seen, match_share=1.0).keys() == {Click(10)}
