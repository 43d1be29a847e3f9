"""Oracles for the shop: what its pages have in common, written as scripts that see page by page."""

import re
from collections.abc import Callable, Generator
from typing import Any, TypeAlias

from benchmarks.oracles import View, oracle
from webagent.action import Action, Answer
from webagent.action.actions import Click, Fill, Wait
from webagent.errors import PolicyError
from webagent.records import Node

Play: TypeAlias = Generator[Action, View, Any]
"""Gives actions and gets what is seen then; its value is the answer, or nothing."""
Part: TypeAlias = Generator[Action, View, View]
"""The same for a part of a script; its value is what is seen in the end."""

_FIELDS = ("textbox", "searchbox", "spinbutton")
_PATIENCE = 3


def scripted(*names: str) -> Callable[[Callable[[View], Play]], Callable[[View], Play]]:
    """Register a script as the oracle of these tasks.

    An oracle keeps nothing: at each step the script runs again over all that was seen, which leads
    to the same place because a script draws nothing.
    """

    def register(script: Callable[[View], Play]) -> Callable[[View], Play]:
        @oracle(*names)
        def choose(view: View) -> Action:
            seen = [View(view.goal, page) for page in (*view.past, view.page)]
            play = script(seen[0])
            try:
                action = next(play)
                for after in seen[1:]:
                    action = play.send(after)
            except StopIteration as end:
                return Answer(end.value or "")
            return action

        return script

    return register


def quoted(view: View) -> list[str]:
    """What stands in quotes in the goal, in order."""
    return re.findall(r'"([^"]+)"', view.goal)


def awaited(view: View, *roles: str, name: str) -> Part:
    """The page once it has such an element, or a few seconds later: a busy site may be slow."""
    for _ in range(_PATIENCE):
        if view.all(*roles, name=name):
            break
        view = yield Wait(1000)
    return view


def press(view: View, role: str, name: str) -> Part:
    """Click the first element of this role and name."""
    view = yield from awaited(view, role, name=name)
    after = yield view.click(role, name=name)
    return after


def write(view: View, name: str, text: str) -> Part:
    """Fill the first field of this name."""
    view = yield from awaited(view, *_FIELDS, name=name)
    after = yield Fill(view.find(*_FIELDS, name=name).mark, text)
    return after


def search(view: View, words: str) -> Part:
    """The shop's own search."""
    view = yield from write(view, "Search", words)
    view = yield from press(view, "button", "Search")
    return view


def open_product(view: View, title: str) -> Part:
    """A product's page, by search."""
    view = yield from search(view, title)
    view = yield from press(view, "link", title)
    return view


def open_category(view: View, name: str) -> Part:
    """A category's page; categories are listed beside the products."""
    return (yield from press(view, "link", name))


def account(view: View, section: str) -> Part:
    """A section of a customer's account."""
    view = yield from press(view, "link", "Account")
    return (yield from press(view, "link", section))


def select(view: View, box: Node, option: str) -> Part:
    """Choose in a drop-down list that the page draws itself: open it, then click."""
    view = yield Click(box.mark)
    return (yield from press(view, "option", option))


def texts_after(view: View, node: Node) -> list[str]:
    """The lines below an element, down to the end of the page."""
    return [each.name for each in view.after(node).page.nodes]


def text_of(view: View, pattern: str) -> str:
    """The group of a pattern in the first line that has it."""
    return view.search(pattern)[0]


def pence(text: str) -> int:
    """An amount as the shop writes it, in pence."""
    found = re.search(r"£([\d,]+)\.(\d\d)", text)
    if found is None:
        raise PolicyError(f"expected an amount like £12.50, found {text!r}")
    return int(found[1].replace(",", "")) * 100 + int(found[2])


def pounds(amount: int) -> str:
    """Pence as the shop writes them."""
    return f"£{amount // 100:,}.{amount % 100:02}"


def listed(view: View) -> list[tuple[str, int, bool]]:
    """The products of a page of the catalogue: title, price in pence, whether it is in stock."""
    found = []
    nodes = view.page.nodes
    for at, node in enumerate(nodes[:-2]):
        if node.role == "link" and nodes[at + 1].name.startswith("£"):
            found.append((node.name, pence(nodes[at + 1].name), nodes[at + 2].name == "In stock"))
    return found
