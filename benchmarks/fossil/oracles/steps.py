"""What oracles on Fossil have in common: moves, and where things stand on its pages."""

import itertools
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from benchmarks.oracles import View, oracle
from webagent.action import Action
from webagent.action.actions import Answer, Check, Click, Fill, Goto, SelectOption, Uncheck
from webagent.errors import PolicyError
from webagent.records import Node

Move: TypeAlias = Callable[[View], Action]
"""The action of one turn, from what is seen then."""
Moves: TypeAlias = tuple[Move, ...]

DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
NUMBER = re.compile(r"\[?[0-9a-f]{10}\]?")
"""What check-ins and contents of files are called on pages."""


def register_plans(plans: Mapping[str, Callable[..., Moves]]) -> None:
    """Register oracles that make the same moves whatever they see: task name to the function that
    makes them from what the goal has between quotation marks."""
    for name, plan in plans.items():

        @oracle(name)
        def choose_action(view: View, plan: Callable[..., Moves] = plan) -> Action:
            return walk(view, *plan(*quoted(view)))


def walk(view: View, *moves: Move) -> Action:
    """Return the action whose turn it is, in the end an empty answer. Raises `PolicyError` where
    the episode goes on after that."""
    turn = len(view.done)
    if turn > len(moves):
        raise PolicyError(f"all {len(moves)} moves are made, yet the episode goes on")
    return moves[turn](view) if turn < len(moves) else Answer("")


def seen_after(view: View, moves: Moves) -> View:
    """Return what was seen once these moves were made, the first of an episode."""
    return View(view.goal, (*view.past, view.page)[len(moves)])


def quoted(view: View) -> tuple[str, ...]:
    """Return what the goal has between quotation marks, in order."""
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
    return lambda view: SelectOption(
        view.after(line_with(view, label)).find("combobox").mark, option
    )


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


def visit(path: str) -> Move:
    """Open a page of the site that the episode is on by its address."""

    def move(view: View) -> Action:
        found = re.match(r"https?://[^/]+", (view.past[0] if view.past else view.page).url)
        if found is None:
            raise PolicyError(f"expected to be on a site, found {view.page.url!r}")
        return Goto(found[0] + path)

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
