"""How a generated goal is reached: search for its words, take the first result that fits."""

import re

from benchmarks.oracles import Script, View, fill, play, press, push, scripted
from benchmarks.webshop.site.catalogue import KINDS
from webagent.errors import PolicyError


@scripted("buy")
def buy(view: View) -> Script:
    """Look at the results in turn until one has all attributes and costs little enough."""
    goal, _, limit = view.goal.partition(", and price lower than ")
    most = float(limit.removesuffix(" dollars") or "inf")
    kind = next((each for each in KINDS if each.noun in goal), None)
    if kind is None:
        raise PolicyError(f"expected a goal for a generated product, found {goal!r}")
    wanted = [each for each in kind.attributes if each in goal]
    view = yield from play(view, fill("Search", goal), push("Search"))
    seen: set[str] = set()
    while True:
        for link in view.all("link"):
            if not re.fullmatch(r"B\d{9}", link.name) or link.name in seen:
                continue
            seen.add(link.name)
            nodes = view.after(link).page.nodes
            price = next(float(each.name[1:]) for each in nodes if each.name.startswith("$"))
            if price <= most:
                view = yield from play(view, press(link.name))
                break
        else:
            raise PolicyError("no result fits")
        view = yield from play(view, push("Features"))
        shown = " ".join(node.name for node in view.page.nodes).lower()
        view = yield from play(view, push("< Prev"))
        if all(each in shown for each in wanted):
            break
        view = yield from play(view, push("< Prev"))
    for name, values in kind.options:
        value = next(
            each for each in values if goal.endswith(f"{name} {each}") or f"{name} {each}," in goal
        )
        view = yield from play(view, press(value, "radio"))
    yield from play(view, push("Buy Now"))
