"""Elements are found again by mark, name, surroundings and likeness, and refused where unsure."""

from dataclasses import replace

import pytest

from webagent.errors import PolicyError
from webagent.policy.replay.elements import LIKENESS, MARK, NAME, NEAR, TEXT, ElementSearch
from webagent.records import Node, Observation


def page(*nodes: Node, url: str = "https://shop.test/") -> Observation:
    """A page of these lines."""
    return Observation("Do it.", url, "Shop", nodes)


def text(name: str) -> Node:
    """A line of text."""
    return Node(0, "text", name)


def search(then, now, mark):
    """Look for the element that had the mark."""
    target = then.node(mark)
    assert target is not None
    return ElementSearch(then, target, now).find()


def lose(then, now, mark):
    """Look for it without success; return why."""
    with pytest.raises(PolicyError) as refused:
        search(then, now, mark)
    return str(refused.value)


def basket(*names: str) -> Observation:
    """Rows, each with a button that is called as all others."""
    rows = [(text(name), Node(i + 1, "button", "Delete")) for i, name in enumerate(names)]
    return page(*(node for row in rows for node in row))


FORM = page(
    Node(1, "textbox", "Name"), Node(2, "button", "Save"), Node(3, "button", "Cancel"), text("End")
)


SAVE_NOW, SAVE_LINK = Node(2, "button", "Save now"), Node(2, "link", "Save")
MOVED = page(Node(1, "link", "News"), *(replace(n, mark=n.mark + 1) for n in FORM.nodes[:3]))


@pytest.mark.parametrize(
    ("now", "mark", "rule", "is_sure"),
    [
        (FORM, 2, MARK, True),
        (MOVED, 3, NAME, False),
        (page(FORM.nodes[0], SAVE_NOW, *FORM.nodes[2:]), 2, LIKENESS, False),
        (page(FORM.nodes[0], SAVE_LINK, *FORM.nodes[2:]), 2, TEXT, False),
    ],
    ids=["unmoved", "moved", "slightly reworded", "became a link"],
)
def test_what_has_changed_a_little_is_found_and_said_to_be_less_sure(now, mark, rule, is_sure):
    found = search(FORM, now, 2)
    assert (found.node.mark, found.rule) == (mark, rule)
    assert (found.confidence == 1) is is_sure


SORRY = (text("Sorry"), Node(2, "button", "Save"), text("A"), text("B"))


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (page(*(node for node in FORM.nodes if node.mark != 2)), 'no button "Save"'),
        (page(FORM.nodes[0], Node(2, "button", "Help"), *FORM.nodes[2:]), 'no button "Save"'),
        (page(*SORRY, url="https://x.test/e"), "another one"),
    ],
    ids=["gone", "something new in its place", "another page"],
)
def test_what_is_not_there_is_not_replaced_by_something_else(now: Observation, reason: str) -> None:
    assert reason in lose(FORM, now, 2)


def test_rows_of_one_name_are_told_apart_by_what_stands_near() -> None:
    found = search(basket("Mug", "Lamp", "Chair"), basket("Chair", "Plate", "Lamp", "Mug"), 2)
    assert (found.node.mark, found.rule) == (3, NEAR)


def test_a_row_that_is_gone_is_not_replaced_by_another() -> None:
    assert lose(basket("Mug", "Lamp", "Chair"), basket("Mug", "Chair"), 2)
    assert lose(basket("Mug", "Lamp"), basket("Mug"), 2)


def test_two_that_fit_equally_are_refused() -> None:
    then = page(text("Size"), Node(1, "button", "More"))
    now = page(text("News"), Node(1, "button", "More"), text("News"), Node(2, "button", "More"))
    assert "does not tell which of the 2" in lose(then, now, 1)


def test_what_looks_the_same_is_found_by_its_place_where_marks_were_given_otherwise() -> None:
    then = basket("Mug", "Lamp")
    now = page(*(replace(node, mark=node.mark and 5 - node.mark) for node in then.nodes))
    assert search(then, now, 2).node is now.nodes[3]


def test_one_that_differs_in_case_only_is_not_taken_where_both_were_there() -> None:
    then = page(Node(1, "link", "Eget"), Node(2, "link", "eget"))
    assert lose(then, page(then.nodes[1]), 1)
    assert search(page(Node(1, "link", "Help")), page(Node(1, "link", "HELP")), 1)


def test_a_copy_put_before_it_is_not_taken_for_it() -> None:
    then = page(text("Colours"), Node(1, "checkbox", "red"), text("Sizes"))
    now = page(
        text("Colours"), Node(2, "checkbox", "red"), Node(1, "checkbox", "red"), text("Sizes")
    )
    assert lose(then, now, 1)


def test_boxes_without_names_that_have_changed_places_are_refused() -> None:
    boxes = [Node(i, "checkbox", "", box=(20 * i, 0, 10, 10)) for i in (1, 2, 3)]
    moved = [replace(node, box=(node.box[0] + 5, 40, 10, 10)) for node in boxes]
    assert search(page(*boxes), page(*moved), 2)
    turned = [moved[0], moved[1], replace(moved[2], box=(0, 90, 10, 10))]
    assert lose(page(*boxes), page(*turned), 2)
