"""What the shop's scripts have in common: they keep nothing, and end in an answer."""

import pytest

from benchmarks.oracles import ORACLES, View
from benchmarks.oscar.oracles.steps import listed, pence
from benchmarks.oscar.site.catalogue import pounds
from webagent.action import Answer, GiveUp
from webagent.action.actions import Click, Fill, Wait
from webagent.errors import PolicyError
from webagent.records import Node, Observation

GOAL = 'What does the "Glen Mug" cost? Answer with the amount alone.'
SEARCH = (Node(1, "textbox", "Search"), Node(2, "button", "Search"))
MUG = (Node(3, "link", "Glen Mug"), Node(0, "text", "£23.45"), Node(0, "text", "In stock"))
FOUND = (*SEARCH, *MUG)


def page(*nodes: Node) -> Observation:
    """What the agent sees."""
    return Observation(GOAL, "http://shop.test/", "Shop", nodes)


def test_a_script_gives_one_action_a_step_and_then_its_answer() -> None:
    choose = ORACLES["shop-price"]
    first, second, third = page(*SEARCH), page(*SEARCH), page(*FOUND)
    assert choose(View(GOAL, first)) == Fill(1, "Glen Mug")
    assert choose(View(GOAL, second, (first,))) == Click(2)
    assert choose(View(GOAL, third, (first, second))) == Answer("£23.45")
    assert choose(View(GOAL, second, (first,))) == Click(2)


def test_a_page_without_what_is_looked_for_is_waited_for_and_then_named() -> None:
    choose = ORACLES["shop-price"]
    assert choose(View(GOAL, page())) == Wait(1000)
    with pytest.raises(PolicyError, match="textbox"):
        choose(View(GOAL, page(), (page(),) * 3))


def test_what_is_not_found_is_given_up() -> None:
    goal = 'Put one "Larch Mug" into my basket; nothing else will do.'
    seen = (page(*SEARCH), page(*SEARCH))
    empty = page(*SEARCH, Node(0, "text", "Found 0 results."))
    assert isinstance(ORACLES["shop-no-product"](View(goal, empty, seen)), GiveUp)


def test_products_are_read_with_their_price_and_whether_they_are_there() -> None:
    assert listed(View(GOAL, page(*FOUND, Node(0, "text", "")))) == [("Glen Mug", 2345, True)]


@pytest.mark.parametrize("amount", [5, 250, 123456])
def test_amounts_are_read_as_they_are_written(amount: int) -> None:
    assert pence(f"It costs {pounds(amount)}.") == amount


def test_a_text_without_an_amount_is_named() -> None:
    with pytest.raises(PolicyError, match="expected an amount"):
        pence("free")
