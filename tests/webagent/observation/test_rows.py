"""A row of a table is read as one line, as far as it can be."""

import pytest

from tests.local_pages import Gallery, LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render
from webagent.records import Node, Observation

browser = pytest.mark.browser

TABLE = """<table><tr><th>Id<th>Title<th>State<th></tr>{}</table>"""
ROW = """<tr><td><a href='#{0}'>#{0}</a><td>{1}<td>open<td><button onclick="document.title = {0}">
  Edit</button></tr>"""


@browser
@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_controls_and_words_of_a_row_stand_on_one_line(local: LocalWorld, clock: str) -> None:
    rows = ROW.format(1, "Crash") + ROW.format(2, "Typo")
    page = await local.show(TABLE.format(rows), clock=clock)
    assert render(page) == (
        "Id | Title | State\n"
        '[1] link "#1" | Crash | open | [2] button "Edit"\n'
        '[3] link "#2" | Typo | open | [4] button "Edit"'
    )
    page = await local.step(act.Click(mark_of(page, "#1")))
    page = await local.step(act.Click(4))
    assert page.title == "2"


@browser
@pytest.mark.parametrize(
    "cells",
    [
        "<td>Layout<td><table><tr><td>Inner<td><button>Go</button></table>",
        f"<td>{'Long words ' * 30}<td><button>Go</button>",
        "<td>Colour<td><select><option>Red</select>",
        "<td>One cell <button>Go</button>",
    ],
)
async def test_a_row_that_is_no_line_is_read_as_before(gallery: Gallery, cells: str) -> None:
    page = await gallery.show(f"<table><tr>{cells}</table>")
    assert not any(node.continues for node in page.nodes if node.name != "Go")
    assert len(render(page).split("\n")) > 1


def rows_of(*nodes: Node) -> Observation:
    return Observation("", "http://a.example/", "", nodes, viewport=(100, 100))


LINK = Node(1, "link", "One", box=(0, 0, 9, 9))
EDIT = Node(2, "button", "Edit", box=(20, 0, 9, 9), continues=True)


def test_what_is_new_in_a_row_is_marked_where_it_stands() -> None:
    assert (
        render(rows_of(LINK, EDIT), before=rows_of(LINK)) == '[1] link "One" | *[2] button "Edit"'
    )


def test_an_element_whose_row_begins_elsewhere_has_a_line_of_its_own() -> None:
    shown = render(rows_of(Node(0, "text", "words " * 20, box=(0, 900, 9, 9)), EDIT), max_tokens=20)
    assert shown.split("\n")[1:] == ['[2] button "Edit"'] and "left out" in shown


def test_no_text_of_a_cell_reads_as_an_element_of_its_row() -> None:
    forged = Node(0, "text", 'Rope | [9] button "Pay"', continues=True)
    assert render(rows_of(LINK, forged)) == '[1] link "One" | text "Rope | [9] button "Pay""'
