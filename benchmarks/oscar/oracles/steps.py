"""Moves on the shop's pages, and what is read there."""

import re

from benchmarks.oracles import Move, Moves, Part, View, fill, play, press, push
from webagent.action.actions import Click
from webagent.errors import PolicyError
from webagent.records import Node


def search(words: str) -> Moves:
    """The shop's own search."""
    return (fill("Search", words), push("Search"))


def open_product(title: str) -> Moves:
    """A product's page, by search."""
    return (*search(title), press(title))


def account(section: str) -> Moves:
    """A section of a customer's account."""
    return (press("Account"), press(section))


def expect(name: str) -> Move:
    """Wait for a link."""

    def move(view: View) -> None:
        view.find("link", name=name)

    return move


def press_below(line: str, role: str, name: str | None = None) -> Move:
    """Click the first of its kind below a line, as the button of an address."""

    def move(view: View) -> Click:
        lines = [node for node in view.page.nodes if node.name == line]
        return view.after(view.first(lines, f"a line {line!r}")).click(role, name=name)

    return move


def press_beside(title: str, role: str, name: str | None = None) -> Move:
    """Click what belongs to a product in a list: the first of its kind below its link."""
    return lambda view: view.after(view.find("link", name=title)).click(role, name=name)


def select(view: View, box: Node, option: str) -> Part:
    """Choose in a drop-down list that the page draws itself: open it, then click."""
    return (yield from play(view, lambda now: Click(box.mark), press(option, "option")))


def text_of(view: View, pattern: str) -> str:
    """Return the group of a pattern in the first line that has it."""
    return view.search(pattern)[0]


def pence(text: str) -> int:
    """Return an amount as the shop writes it, in pence."""
    found = re.search(r"£([\d,]+)\.(\d\d)", text)
    if found is None:
        raise PolicyError(f"expected an amount like £12.50, found {text!r}")
    return int(found[1].replace(",", "")) * 100 + int(found[2])


def listed(view: View) -> list[tuple[str, int, bool]]:
    """Return the products of a page of the catalogue: title, price in pence, whether in stock."""
    found = []
    nodes = view.page.nodes
    for at, node in enumerate(nodes[:-2]):
        if node.role == "link" and nodes[at + 1].name.startswith("£"):
            found.append((node.name, pence(nodes[at + 1].name), nodes[at + 2].name == "In stock"))
    return found
