"""Oracles for the shop's questions, and for what cannot be done there."""

import re
from datetime import datetime

from benchmarks.oracles import View
from benchmarks.oscar.oracles.dashboard import menu, open_order, search_order
from benchmarks.oscar.oracles.shopping import open_basket, use_voucher
from benchmarks.oscar.oracles.steps import (
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
from webagent.action.actions import Fill, GiveUp, GoBack
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


@scripted("shop-no-product")
def no_product(view: View) -> Play:
    """What the shop does not have is not found."""
    title = quoted(view)[0]
    view = yield from search(view, title)
    view.first([node for node in view.page.nodes if "0 results" in node.name], "no results")
    yield GiveUp(f"the shop has no {title}")


@scripted("shop-no-stock")
def no_stock(view: View) -> Play:
    """What is sold out has no button."""
    title = quoted(view)[0]
    view = yield from open_product(view, title)
    view.first([node for node in view.page.nodes if node.name == "Unavailable"], "sold out")
    yield GiveUp(f"the {title} is sold out")


@scripted("shop-no-voucher")
def no_voucher(view: View) -> Play:
    """A code that the shop refuses."""
    code = view.read_one(r"\b([A-Z]+\d\d)\b")
    view = yield from open_basket(view)
    view = yield from use_voucher(view, code)
    yield GiveUp(f"the shop does not take {code}")


@scripted("shop-too-many")
def too_many(view: View) -> Play:
    """More than there are; the basket's page says how many there are."""
    title, count = quoted(view)[0], int(view.read_one(r"(?:to|exactly) (\d+)"))
    view = yield from open_basket(view)
    lines = [node.name for node in view.after(view.find("link", name=title)).page.nodes]
    found = next(re.search(r"\((\d+) available\)", line) for line in lines if "available" in line)
    assert found is not None and int(found[1]) < count
    yield GiveUp(f"there are only {found[1]} of the {title}")


@scripted("shop-no-rights")
def no_rights(view: View) -> Play:
    """A customer's pages have no way into the dashboard."""
    assert not view.all("link", name="Dashboard")
    if re.search(r"dashboard", view.goal):
        yield GiveUp("this account has no access to the dashboard")
    yield Fill(0, "")


@scripted("shop-no-order")
def no_order(view: View) -> Play:
    """An order that is not found."""
    number = view.read_one(r"rder (\d+)")
    view = yield from search_order(view, number)
    yield GiveUp(f"there is no order {number}")


@scripted("shop-final-order")
def final_order(view: View) -> Play:
    """A status from which there is no way."""
    view = yield from open_order(view, view.read_one(r"rder (\d+)"))
    assert not view.all("button", name="Change status")
    yield GiveUp(f"the order is final: {text_of(view, r'(Complete|Cancelled)')}")
