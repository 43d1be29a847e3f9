"""Oracles for the shop's questions: read, compare, count, and answer."""

import re
from datetime import datetime

from benchmarks.oscar.solutions.dashboard import menu, open_order
from benchmarks.oscar.solutions.oscar import (
    Play,
    account,
    listed,
    open_category,
    open_product,
    pence,
    pounds,
    press,
    quoted,
    scripted,
    search,
    text_of,
    texts_after,
    write,
)
from benchmarks.solutions.view import View
from webagent.action.actions import GoBack
from webagent.errors import PolicyError


@scripted("shop-price")
def price(view: View) -> Play:
    """`What does the "Pebble Mug" cost?`: the list of what was found says it."""
    title = quoted(view)[0]
    view = yield from search(view, title)
    return pounds(next(cost for name, cost, _ in listed(view) if name == title))


@scripted("shop-stock")
def stock(view: View) -> Play:
    """`How many pieces of the "Pebble Mug" are available?`"""
    view = yield from open_product(view, quoted(view)[0])
    return text_of(view, r"In stock \((\d+) available\)")


@scripted("shop-attribute")
def attribute(view: View) -> Play:
    """`Which material does the page of the "Pebble Mug" give?`"""
    what = view.read_one(r"\b(material|colour|weight)\b").capitalize()
    view = yield from open_product(view, quoted(view)[0])
    return text_of(view, rf"^{what} \| (.+)$")


@scripted("shop-upc")
def upc(view: View) -> Play:
    """`One product under "Mugs" costs £12.50. What is its UPC?`"""
    wanted = pence(view.goal)
    view = yield from open_category(view, quoted(view)[0])
    title = next(name for name, cost, _ in listed(view) if cost == wanted)
    view = yield from press(view, "link", title)
    return text_of(view, r"^UPC \| (\d+)$")


@scripted("shop-cheapest")
def cheapest(view: View) -> Play:
    """`What is the cheapest product under "Mugs" that is in stock?`, or the dearest."""
    choose = max if "dearest" in view.goal else min
    view = yield from open_category(view, quoted(view)[0])
    return choose((cost, name) for name, cost, is_there in listed(view) if is_there)[1]


@scripted("shop-compare")
def compare(view: View) -> Play:
    """`Which costs less, the "Pebble Mug" or the "Glen Pan"?`"""
    found = []
    for title in quoted(view):
        view = yield from search(view, title)
        found.append(next((cost, name) for name, cost, _ in listed(view) if name == title))
    return min(found)[1]


@scripted("shop-count")
def count(view: View) -> Play:
    """`How many products under "Mugs" cost less than £20.00?`"""
    limit = pence(view.goal)
    view = yield from open_category(view, quoted(view)[0])
    return str(sum(cost < limit for _, cost, _ in listed(view)))


@scripted("shop-reviewer")
def reviewer(view: View) -> Play:
    """`Who wrote the review "Lovely mug" of the "Pebble Mug"?`; either may come first."""
    first, second = quoted(view)
    title, review = (second, first) if view.goal.startswith("Who") else (first, second)
    view = yield from open_product(view, title)
    below = texts_after(view, view.find("link", name=review))
    said = next(line for line in below if line.startswith("Reviewed by "))
    return re.split(r"Reviewed by | on \d", said)[1]


@scripted("shop-order-total")
def order_total(view: View) -> Play:
    """`What did my order 10012 come to?`: the history says it."""
    number = view.read_one(r"order (\d+)")
    view = yield from account(view, "Order History")
    return pounds(pence(texts_after(view, view.find("link", name=number))[0]))


@scripted("shop-order-with")
def order_with(view: View) -> Play:
    """`What is the number of my latest order that has the "Pebble Mug" in it?`: newest first."""
    title = quoted(view)[0]
    view = yield from account(view, "Order History")
    numbers = [node.name for node in view.all("link") if re.fullmatch(r"1\d{4}", node.name)]
    for number in numbers:
        view = yield from press(view, "link", number)
        if any(node.name == title for node in view.page.nodes):
            return number
        view = yield GoBack()
    raise PolicyError(f"expected an order with {title!r}, found none")


@scripted("shop-spent")
def spent(view: View) -> Play:
    """`What do my orders of May 2025 come to together?`"""
    month = datetime.strptime(view.read_one(r"(\w+) 2025"), "%B").strftime("%b")
    view = yield from account(view, "Order History")
    rows = [node.name for node in view.page.nodes if re.search(rf"\d {month}\w* 2025", node.name)]
    return pounds(sum(pence(row) for row in rows))


@scripted("shop-buyer-email")
def buyer_email(view: View) -> Play:
    """`Which email address does the customer of order 10012 have?`"""
    view = yield from open_order(view, view.read_one(r"order (\d+)"))
    return text_of(view, r"\| (\S+@\S+)$")


@scripted("shop-orders-of")
def orders_of(view: View) -> Play:
    """`How many orders has the customer Felix Holm placed?`"""
    name = view.read_one(r"(?:customer|often) (\w+ \w+) (?:placed|has)")
    view = yield from menu(view, "Customers", "Customers")
    view = yield from write(view, "Name:", name)
    view = yield from press(view, "button", "Search")
    return text_of(view, r"20\d\d.* \| (\d+)$")
