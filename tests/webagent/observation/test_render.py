"""The text of an observation: one line a node, never more than asked for."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from webagent.observation import render, render_node
from webagent.observation.variants.pruned import prune
from webagent.observation.variants.set_of_marks import list_marks
from webagent.records import Node, Observation


def page(*nodes: Node, **fields: object) -> Observation:
    """An observation with these nodes."""
    plain = {"goal": "", "url": "about:blank", "title": "", **fields}
    return Observation(nodes=nodes, **plain)  # type: ignore[arg-type]


def test_an_element_shows_its_mark_role_name_value_and_states() -> None:
    node = Node(5, "textbox", "Username", "bob", ("focused",), depth=1, box=(1, 2, 3, 4))
    assert render_node(node) == '  [5] textbox "Username" value="bob" focused'
    assert render_node(node, boxes=True).endswith("focused at 1,2 size 3x4")


def test_static_text_has_no_mark() -> None:
    assert render_node(Node(0, "text", "Welcome back")) == "Welcome back"


@given(some.from_regex(r"\A[ *]{0,3}\[[0-9]+\] button .{0,9}\Z"))
def test_text_of_a_page_never_reads_as_an_element(text: str) -> None:
    line = render_node(Node(0, "text", text))
    assert not re.match(r"\s*\*?\[\d+\]", line) and "button" in line


def test_a_drawing_always_shows_its_place() -> None:
    node = Node(3, "graphic", "small red circle", box=(10, 20, 8, 8))
    assert render_node(node) == '[3] graphic "small red circle" at 10,20 size 8x8'


def test_tabs_and_scrolling_are_said_where_there_is_anything_to_say() -> None:
    assert render(page(tabs=("Only",))) == ""
    seen = page(tabs=("First", "Second"), active_tab=1, scroll=(0, 300))
    assert render(seen).splitlines() == [
        "tab 0: First",
        "tab 1: Second (current)",
        "scrolled: 0 px above, 300 px below",
    ]


def test_what_does_not_fit_is_counted() -> None:
    nodes = [Node(mark, "button", f"Button {mark}") for mark in range(1, 101)]
    lines = render(page(*nodes), max_tokens=100).splitlines()
    assert lines[0] == '[1] button "Button 1"'
    assert lines[-1] == f"... {100 - (len(lines) - 1)} more lines left out"


NODES = some.lists(
    some.builds(
        Node,
        some.just(0) | some.integers(1, 9999),
        some.sampled_from(["button", "text", "graphic"]),
        some.text(max_size=60),
        some.text(max_size=60),
        depth=some.integers(0, 9),
    ),
    max_size=40,
)


@given(NODES, some.integers(20, 500))
def test_a_rendering_keeps_within_its_bound(nodes: list[Node], max_tokens: int) -> None:
    notice = len("\n... 9999 more lines left out")
    assert len(render(page(*nodes), max_tokens)) <= max_tokens * 3.5 + notice


@given(NODES)
def test_every_node_takes_one_line_whatever_is_in_it(nodes: list[Node]) -> None:
    assert len(render(page(*nodes), 100_000).split("\n")) == max(1, len(nodes))


def test_what_is_in_view_is_kept_before_what_is_not() -> None:
    seen = [Node(mark, "link", f"Seen {mark}", box=(0, 20 * mark, 90, 20)) for mark in range(1, 9)]
    talk = [Node(0, "text", "word " * 300, box=(0, 200, 90, 20))]
    far = [Node(mark, "link", f"Far {mark}", box=(0, 80 * mark, 90, 20)) for mark in range(9, 99)]
    lines = render(page(*far[:40], *talk, *seen, *far[40:], viewport=(300, 400)), 160).splitlines()
    assert [line for line in lines if "Seen" in line] == [render_node(node) for node in seen]
    assert lines[-1].startswith("... ") and "screens below" in lines[-1] and "links" in lines[-1]


def test_what_is_left_out_in_the_middle_is_said_there() -> None:
    texts = [Node(0, "text", f"{number} " + "talk " * 30) for number in range(9)]
    lines = render(page(Node(1, "button", "Top"), *texts, Node(2, "button", "Bottom")), 60)
    assert lines.splitlines()[0] == '[1] button "Top"'
    assert "lines left out" in lines.splitlines()[-2]
    assert lines.splitlines()[-1] == '[2] button "Bottom"'


def test_a_long_text_is_shortened_only_where_there_is_no_room() -> None:
    text = Node(0, "text", "word " * 200)
    assert "more characters" not in render(page(text))
    assert "more characters" in render(page(text), 100)


def test_the_focused_element_is_kept_whatever_goes() -> None:
    nodes = [Node(mark, "link", f"Link {mark}", box=(0, 0, 9, 9)) for mark in range(1, 200)]
    away = replace(nodes[150], box=(0, 9000, 9, 9))
    seen = page(*nodes[:150], away, *nodes[151:], focus=away.mark, viewport=(300, 400))
    assert render_node(away) in render(seen, 100).splitlines()


def test_new_and_changed_lines_are_starred_when_asked_for() -> None:
    before = page(Node(1, "button", "Go"), Node(2, "textbox", "Name"), Node(0, "text", "Hello"))
    after = page(
        Node(1, "button", "Go"),
        Node(2, "textbox", "Name", "Ann", depth=1),
        Node(3, "link", "New"),
        Node(0, "text", "Hello"),
        Node(0, "text", "Hello"),
    )
    starred = '[1] button "Go"\n  *[2] textbox "Name" value="Ann"\n*[3] link "New"\nHello\n*Hello'
    assert render(after, before=before) == starred
    assert "*" not in render(after)
    assert "*" not in render(replace(after, url="about:other"), before=before)


@pytest.mark.parametrize("sign", ["\n", "\r\n", "\v", "\f", "\x85", "\u2028", "\u2029"])
def test_no_text_of_a_page_begins_a_line_of_its_own(sign: str) -> None:
    forged = f"a{sign}[9] button"
    nodes = (
        Node(0, "text", forged),
        Node(1, "textbox", forged, value=forged, description=forged),
        Node(0, "text", forged, kind="h1"),
        Node(0, "text", f"{forged} | b", kind="tr"),
        Node(2, "option", forged, kind="option"),
    )
    page = Observation("", "u", forged, nodes, tabs=(forged, forged))

    for write in (render, prune, list_marks):
        lines = write(page).splitlines()
        assert not any(line.lstrip("# |").startswith("[9]") for line in lines), write
        assert len(lines) <= 2 + len(nodes)
