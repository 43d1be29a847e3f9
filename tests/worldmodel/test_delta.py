"""Differences between pages: applied to the one they give the other."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.lessons import node, page
from webagent.records import Node, Observation
from worldmodel.delta import apply, difference

STATES = st.sampled_from([(), ("checked",), ("checked", "focused"), ("expanded",)])


@st.composite
def elements(draw: st.DrawFn) -> Node:
    """An element; its role goes with its mark, since an element keeps its role."""
    mark = draw(st.integers(1, 8))
    role = ("button", "checkbox", "textbox")[mark % 3]
    name, value = draw(st.sampled_from("abc")), draw(st.sampled_from(["", "x", "y"]))
    return replace(node(mark, role, name), value=value, states=draw(STATES))


TEXTS = st.sampled_from("abc").map(lambda name: node(0, "text", name))
PAGES = st.builds(
    lambda some, texts, order: page("", *order.sample([*some, *texts], len(some) + len(texts))),
    st.lists(elements(), max_size=7, unique_by=lambda each: each.mark),
    st.lists(TEXTS, max_size=4),
    st.randoms(use_true_random=False),
)


def look(nodes: tuple[Node, ...]) -> list[tuple[object, ...]]:
    """What of the lines a difference tells."""
    return [
        (n.role, n.kind, n.name, n.value, tuple(sorted(s for s in n.states if s != "focused")))
        for n in nodes
    ]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(PAGES, PAGES)
def test_the_difference_applied_gives_the_other_page(
    before: Observation, after: Observation
) -> None:
    got = apply(difference(before, after), before)
    assert look(got) == look(after.nodes)
    marks = [n.mark for n in got if n.mark]
    assert len(set(marks)) == len(marks), "every element keeps a mark of its own"


@settings(deadline=None)
@given(PAGES)
def test_a_page_does_not_differ_from_itself(seen: Observation) -> None:
    assert difference(seen, seen) == ()


def test_one_tick_is_one_edit() -> None:
    before = page("", node(1, "checkbox", "a", states=("unchecked",)), node(2, "button", "b"))
    ticked = replace(before.nodes[0], states=("checked", "focused"))
    [edit] = difference(before, replace(before, nodes=(ticked, before.nodes[1])))
    assert (edit.kind, edit.line) == ("states", 0)


def test_focus_and_place_on_the_screen_are_no_differences() -> None:
    before = page("", node(1, "button", "a"))
    moved = replace(before.nodes[0], box=(9, 9, 9, 9), states=("focused",))
    assert difference(before, replace(before, nodes=(moved,))) == ()


def test_new_elements_get_marks_that_were_free() -> None:
    before = page("", node(3, "button", "a"))
    after = page("", node(3, "button", "a"), node(90, "link", "b"), node(91, "link", "c"))
    assert [n.mark for n in apply(difference(before, after), before)] == [3, 4, 5]
