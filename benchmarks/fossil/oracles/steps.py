"""What oracles on Fossil have in common: a walk of moves, and where things stand on its pages."""

import itertools
import re
from collections.abc import Callable
from typing import TypeAlias

from benchmarks.oracles import View
from webagent.action import Action
from webagent.action.actions import Check, Click, Fill, Goto, SelectOption, Uncheck
from webagent.errors import PolicyError
from webagent.records import Node

Move: TypeAlias = Callable[[View], Action]
"""The action of one turn, from what is seen then."""


DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
NUMBER = re.compile(r"\[?[0-9a-f]{10}\]?")
"""What check-ins and contents of files are called on pages."""


def walk(view: View, *moves: Move) -> Action:
    """The move whose turn it is. Raises `PolicyError` when all have been made."""
    turn = len(view.done)
    if turn >= len(moves):
        raise PolicyError(f"all {turn} moves are made, yet the episode goes on")
    return moves[turn](view)


def quoted(view: View) -> tuple[str, ...]:
    """What the goal has between quotation marks, in order."""
    return tuple(re.findall(r'"([^"]*)"', view.goal))


def press(*names: str, role: str = "link") -> Move:
    """Click the first element that has one of these names."""

    def move(view: View) -> Action:
        for name in names:
            if found := view.all(role, name=name):
                return Click(found[0].mark)
        raise PolicyError(f"expected a {role} called {' or '.join(names)}, found none")

    return move


def push(name: str) -> Move:
    """Click a button."""
    return press(name, role="button")


def fill(label: str, text: str) -> Move:
    """Fill the field that has this name."""
    return lambda view: Fill(view.find("textbox", name=label).mark, text)


def fill_unnamed(text: str, place: int = -1) -> Move:
    """Fill a field without a name: the last one, or that in another place."""

    def move(view: View) -> Action:
        fields = [node for node in view.all("textbox") if not node.name]
        return Fill(view.first(fields[place:][:1], "a field without a name").mark, text)

    return move


def choose(label: str, option: str) -> Move:
    """Choose in the list that stands after a text such as `Status:`."""

    def move(view: View) -> Action:
        below = view.after(line_with(view, label))
        return SelectOption(below.find("combobox").mark, option)

    return move


def tick(label: str) -> Move:
    """Tick a box."""
    return lambda view: Check(view.find("checkbox", name=label).mark)


def untick(label: str) -> Move:
    """Take the tick from a box."""
    return lambda view: Uncheck(view.find("checkbox", name=label).mark)


def visit(path: str) -> Move:
    """Open a page of the site that the episode is on by its address."""

    def move(view: View) -> Action:
        found = re.match(r"https?://[^/]+", (view.past[0] if view.past else view.page).url)
        if found is None:
            raise PolicyError(f"expected to be on a site, found {view.page.url!r}")
        return Goto(found[0] + path)

    return move


def line_with(view: View, text: str) -> Node:
    """The first line that begins with a text. Raises `PolicyError`."""
    found = [node for node in view.page.nodes if node.name.startswith(text)]
    return view.first(found, f"a line that begins with {text!r}")


def cells(view: View, label: str) -> str:
    """What stands after a label such as `Status:` in a table. Raises `PolicyError`."""
    for node in view.page.nodes:
        parts = [part.strip() for part in node.name.split(" | ")]
        if label in parts[:-1]:
            return parts[parts.index(label) + 1]
    raise PolicyError(f"expected {label!r} with a value, found none")


def find_ticket(title: str) -> tuple[Move, ...]:
    """From any page to a ticket, by the report of all tickets: four moves."""
    return (press("Tickets"), press("Reports"), press("All Tickets"), open_row(title))


def open_row(title: str) -> Move:
    """Follow the number before the row that ends with a title."""

    def move(view: View) -> Action:
        return Click(number_of(view, title).mark)

    return move


def number_of(view: View, title: str) -> Node:
    """The link with the number of a ticket in a report. Raises `PolicyError`."""
    nodes = view.page.nodes
    for before, row in itertools.pairwise(nodes):
        if before.role == "link" and row.name.split(" | ")[-1] == title:
            return before
    raise PolicyError(f"expected a ticket called {title!r} in the report, found none")


def first_day(view: View) -> Node:
    """The line of a timeline that has the day of its first entry; links to the hour, the check-in
    and the user follow."""
    found = [node for node in view.page.nodes if DAY.match(node.name)]
    return view.first(found, "a day in the timeline")


def first_check_in(view: View) -> Action:
    """Open the first check-in of a timeline."""
    return Click(view.after(first_day(view)).all("link")[1].mark)


def submit_ticket() -> tuple[Move, ...]:
    """What the forms of tickets ask for: a preview first."""
    return (push("Preview"), push("Submit"))


def open_page(name: str) -> tuple[Move, ...]:
    """From any page to a wiki page, by the list of them: three moves."""
    return (press("Wiki"), press("List"), press_below("Versions", name))


def press_below(heading: str, name: str) -> Move:
    """Click a link that stands below a heading; menus have the same words."""

    def move(view: View) -> Action:
        return Click(view.after(line_with(view, heading)).find("link", name=name).mark)

    return move


def edit_page(change: Callable[[str], str]) -> tuple[Move, ...]:
    """On a wiki page: change its text and save it."""

    def write(view: View) -> Action:
        field = [node for node in view.all("textbox") if not node.name][-1]
        return Fill(field.mark, change(field.value))

    return (press("Edit"), write, push("Save & Close"))


def appended(line: str) -> Callable[[str], str]:
    """A text with one more line."""
    return lambda text: f"{text.rstrip()}\n\n{line}\n"
