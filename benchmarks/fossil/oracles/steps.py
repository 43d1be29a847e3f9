"""Moves on Fossil's pages, and where things stand on them."""

import itertools
import re
from collections.abc import Callable

from benchmarks.oracles import Move, Moves, View, press, push
from webagent.action import Action
from webagent.action.actions import Check, Click, Fill, SelectOption, Uncheck
from webagent.errors import PolicyError
from webagent.records import Node

DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
NUMBER = re.compile(r"\[?[0-9a-f]{10}\]?")
"""What check-ins and contents of files are called on pages."""


def fill_unnamed(text: str, place: int = -1) -> Move:
    """Fill a field without a name: the last one, or that in another place."""

    def move(view: View) -> Action:
        fields = [node for node in view.all("textbox") if not node.name]
        return Fill(view.first(fields[place:][:1], "a field without a name").mark, text)

    return move


def choose(label: str, option: str) -> Move:
    """Choose in the list that is called by a text such as `Status:`."""

    def move(view: View) -> Action:
        lists = [node for node in view.all("combobox") if node.name.startswith(label)]
        return SelectOption(view.first(lists, f"a list called {label!r}").mark, option)

    return move


def tick(label: str) -> Move:
    """Tick a box."""
    return lambda view: Check(view.find("checkbox", name=label).mark)


def tick_capability(word: str, *, off: bool = False) -> Move:
    """Tick the box of a capability, or take the tick `off`; its name may be followed by whom the
    capability is inherited from."""

    def move(view: View) -> Action:
        boxes = [node for node in view.all("checkbox") if node.name.partition("[")[0] == word]
        mark = view.first(boxes, f"a box for {word}").mark
        return Uncheck(mark) if off else Check(mark)

    return move


def press_below(heading: str, name: str) -> Move:
    """Click a link that stands below a line; menus have the same words."""
    return lambda view: view.after(line_with(view, heading)).click("link", name=name)


def line_with(view: View, text: str) -> Node:
    """Return the first line that begins with a text. Raises `PolicyError`."""
    found = [node for node in view.page.nodes if node.name.startswith(text)]
    return view.first(found, f"a line that begins with {text!r}")


def cells(view: View, label: str) -> str:
    """Return what stands after a label such as `Status:` in a table. Raises `PolicyError`."""
    for node in view.page.nodes:
        parts = [part.strip() for part in node.name.split(" | ")]
        if label in parts[:-1]:
            return parts[parts.index(label) + 1]
    raise PolicyError(f"expected {label!r} with a value, found none")


ALL_TICKETS = (press("Tickets"), press("Reports"), press("All Tickets"))
"""From any page to the report of all tickets."""


def find_ticket(title: str) -> Moves:
    """From any page to a ticket: four moves."""
    return (*ALL_TICKETS, open_row(title))


def open_row(title: str) -> Move:
    """Follow the number before the row that ends with a title."""
    return lambda view: Click(number_of(view, title).mark)


def number_of(view: View, title: str) -> Node:
    """Return the link with the number of a ticket in a report. Raises `PolicyError`."""
    for before, row in itertools.pairwise(view.page.nodes):
        if before.role == "link" and row.name.split(" | ")[-1] == title:
            return before
    raise PolicyError(f"expected a ticket called {title!r} in the report, found none")


def edit_ticket(*moves: Move) -> Moves:
    """On a ticket: open its form, make changes, submit it."""
    return (press("Edit"), *moves, *SUBMIT)


SUBMIT = (push("Preview"), push("Submit"))
"""What the forms of tickets and posts ask for: a preview first."""


def first_day(view: View) -> Node:
    """Return the line of a timeline that has the day of its first entry; links to the hour, the
    check-in and the user follow."""
    found = [node for node in view.page.nodes if DAY.match(node.name)]
    return view.first(found, "a day in the timeline")


def first_check_in(view: View) -> Action:
    """Open the first check-in of a timeline."""
    return Click(view.after(first_day(view)).all("link")[1].mark)


def open_page(name: str) -> Moves:
    """From any page to a wiki page, by the list of them: three moves."""
    return (press("Wiki"), press("List"), press_below("Versions", name))


def edit_page(change: Callable[[str], str]) -> Moves:
    """On a wiki page: change its text and save it."""

    def write(view: View) -> Action:
        field = [node for node in view.all("textbox") if not node.name][-1]
        return Fill(field.mark, change(field.value))

    return (press("Edit"), write, push("Save & Close"))


def append_line(line: str) -> Moves:
    """On a wiki page: add one more line and save it."""
    return edit_page(lambda text: f"{text.rstrip()}\n\n{line}\n")
