"""Oracles for the shop's questions, and for what cannot be done there."""

import re
from collections.abc import Callable
from datetime import datetime

from benchmarks.oracles import (
    Moves,
    Script,
    View,
    planned,
    play,
    press,
    quoted,
    register_plans,
    scripted,
)
from benchmarks.oscar.oracles.dashboard import find_customer, open_order, read_order, search_order
from benchmarks.oscar.oracles.shopping import OPEN_BASKET, read_code, use_voucher
from benchmarks.oscar.oracles.steps import account, listed, open_product, pence, search, text_of
from benchmarks.oscar.site.catalogue import pounds
from webagent.action import Action
from webagent.action.actions import GiveUp, GoBack
from webagent.errors import PolicyError


@scripted("shop-price")
def price(view: View) -> Script:
    """`What does the "Pebble Mug" cost?`: the list of what was found says it."""
    title = quoted(view)[0]
    view = yield from play(view, *search(title))
    return pounds(next(cost for name, cost, _ in listed(view) if name == title))


@scripted("shop-stock")
def stock(view: View) -> Script:
    """`How many pieces of the "Pebble Mug" are available?`"""
    view = yield from play(view, *open_product(quoted(view)[0]))
    return text_of(view, r"In stock \((\d+) available\)")


@scripted("shop-attribute")
def attribute(view: View) -> Script:
    """`Which material does the page of the "Pebble Mug" give?`"""
    what = view.read_one(r"\b(material|colour|weight)\b").capitalize()
    view = yield from play(view, *open_product(quoted(view)[0]))
    return text_of(view, rf"^{what} \| (.+)$")


@scripted("shop-upc")
def upc(view: View) -> Script:
    """`One product under "Mugs" costs £12.50. What is its UPC?`"""
    wanted = pence(view.goal)
    view = yield from play(view, press(quoted(view)[0]))
    title = next(name for name, cost, _ in listed(view) if cost == wanted)
    view = yield from play(view, press(title))
    return text_of(view, r"^UPC \| (\d+)$")


@scripted("shop-cheapest")
def cheapest(view: View) -> Script:
    """`What is the cheapest product under "Mugs" that is in stock?`, or the dearest."""
    choose = max if "dearest" in view.goal else min
    view = yield from play(view, press(quoted(view)[0]))
    return choose((cost, name) for name, cost, is_there in listed(view) if is_there)[1]


@scripted("shop-compare")
def compare(view: View) -> Script:
    """`Which costs less, the "Pebble Mug" or the "Glen Pan"?`"""
    found = []
    for title in quoted(view):
        view = yield from play(view, *search(title))
        found.append(next((cost, name) for name, cost, _ in listed(view) if name == title))
    return min(found)[1]


@scripted("shop-count")
def count(view: View) -> Script:
    """`How many products under "Mugs" cost less than £20.00?`"""
    limit = pence(view.goal)
    view = yield from play(view, press(quoted(view)[0]))
    return str(sum(cost < limit for _, cost, _ in listed(view)))


@scripted("shop-reviewer")
def reviewer(view: View) -> Script:
    """`Who wrote the review "Lovely mug" of the "Pebble Mug"?`; either may come first."""
    first, second = quoted(view)
    title, review = (second, first) if view.goal.startswith("Who") else (first, second)
    view = yield from play(view, *open_product(title))
    below = view.after(view.find("link", name=review))
    return text_of(below, r"^Reviewed by (.*?)(?: on \d|$)")


@scripted("shop-order-total")
def order_total(view: View) -> Script:
    """`What did my order 10012 come to?`: the history says it."""
    number = view.read_one(r"order (\d+)")
    view = yield from play(view, *account("Order History"))
    return pounds(pence(view.after(view.find("link", name=number)).page.nodes[0].name))


@scripted("shop-order-with")
def order_with(view: View) -> Script:
    """`What is the number of my latest order that has the "Pebble Mug" in it?`: newest first."""
    title = quoted(view)[0]
    view = yield from play(view, *account("Order History"))
    numbers = [node.name for node in view.all("link") if re.fullmatch(r"1\d{4}", node.name)]
    for number in numbers:
        view = yield from play(view, press(number))
        if any(node.name == title for node in view.page.nodes):
            return number
        view = yield GoBack()
    raise PolicyError(f"expected an order with {title!r}, found none")


@scripted("shop-spent")
def spent(view: View) -> Script:
    """`What do my orders of May 2025 come to together?`"""
    month = datetime.strptime(view.read_one(r"(\w+) 2025"), "%B").strftime("%b")
    view = yield from play(view, *account("Order History"))
    rows = [node.name for node in view.page.nodes if re.search(rf"\d {month}\w* 2025", node.name)]
    return pounds(sum(pence(row) for row in rows))


@scripted("shop-buyer-email")
def buyer_email(view: View) -> Script:
    """`Which email address does the customer of order 10012 have?`"""
    view = yield from play(view, *open_order(read_order(view)))
    return text_of(view, r"\| (\S+@\S+)$")


@scripted("shop-orders-of")
def orders_of(view: View) -> Script:
    """`How many orders has the customer Felix Holm placed?`"""
    name = view.read_one(r"(?:customer|often) (\w+ \w+) (?:placed|has)")
    view = yield from play(view, *find_customer(name))
    return text_of(view, r"20\d\d.* \| (\d+)$")


def give_up_at(line: str, reason: str) -> Callable[[View], Action]:
    """Give up where the page has a line with this."""

    def move(view: View) -> GiveUp:
        view.first([node for node in view.page.nodes if line in node.name], line)
        return GiveUp(reason)

    return move


register_plans(
    {
        # What the shop does not have is not found.
        "shop-no-product": lambda title: (
            *search(title),
            give_up_at("0 results", f"the shop has no {title}"),
        ),
        # What is sold out has no button.
        "shop-no-stock": lambda title: (
            *open_product(title),
            give_up_at("Unavailable", f"the {title} is sold out"),
        ),
    }
)


@planned("shop-no-voucher")
def no_voucher(view: View) -> Moves:
    """A code that the shop refuses."""
    code = read_code(view)
    return (OPEN_BASKET, *use_voucher(code), lambda _: GiveUp(f"the shop does not take {code}"))


@scripted("shop-too-many")
def too_many(view: View) -> Script:
    """More than there are; the basket's page says how many there are."""
    title, count = quoted(view)[0], int(view.read_one(r"(?:to|exactly) (\d+)"))
    view = yield from play(view, OPEN_BASKET)
    there = text_of(view.after(view.find("link", name=title)), r"\((\d+) available\)")
    assert int(there) < count
    yield GiveUp(f"there are only {there} of the {title}")


@planned("shop-no-rights")
def no_rights(view: View) -> Moves:
    """A customer's pages have no way into the dashboard."""
    assert not view.all("link", name="Dashboard")
    return (lambda _: GiveUp("this account has no access to the dashboard"),)


@planned("shop-no-order")
def no_order(view: View) -> Moves:
    """An order that is not found."""
    number = read_order(view)
    return (*search_order(number), lambda _: GiveUp(f"there is no order {number}"))


@scripted("shop-final-order")
def final_order(view: View) -> Script:
    """A status from which there is no way."""
    view = yield from play(view, *open_order(read_order(view)))
    assert not view.all("button", name="Change status")
    yield GiveUp(f"the order is final: {text_of(view, r'(Complete|Cancelled)')}")
