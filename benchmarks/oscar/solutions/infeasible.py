"""Oracles for what cannot be done at the shop: see that it cannot, and give up."""

import re

from benchmarks.oscar.solutions.basket import open_basket, use_voucher
from benchmarks.oscar.solutions.dashboard import open_order, search_order
from benchmarks.oscar.solutions.oscar import Play, open_product, quoted, scripted, search, text_of
from benchmarks.solutions.view import View
from webagent.action.actions import Fill, GiveUp


@scripted("shop-no-product")
def no_product(view: View) -> Play:
    """What the shop does not have is not found."""
    title = quoted(view)[0]
    view = yield from search(view, title)
    view.first([node for node in view.page.nodes if "0 results" in node.name], "no results")
    yield GiveUp(f"the shop has no {title}")
    return None


@scripted("shop-no-stock")
def no_stock(view: View) -> Play:
    """What is sold out has no button."""
    title = quoted(view)[0]
    view = yield from open_product(view, title)
    view.first([node for node in view.page.nodes if node.name == "Unavailable"], "sold out")
    yield GiveUp(f"the {title} is sold out")
    return None


@scripted("shop-no-voucher")
def no_voucher(view: View) -> Play:
    """A code that the shop refuses."""
    code = view.read_one(r"\b([A-Z]+\d\d)\b")
    view = yield from open_basket(view)
    view = yield from use_voucher(view, code)
    yield GiveUp(f"the shop does not take {code}")
    return None


@scripted("shop-too-many")
def too_many(view: View) -> Play:
    """More than there are; the basket's page says how many there are."""
    title, count = quoted(view)[0], int(view.read_one(r"(?:to|exactly) (\d+)"))
    view = yield from open_basket(view)
    lines = [node.name for node in view.after(view.find("link", name=title)).page.nodes]
    found = next(re.search(r"\((\d+) available\)", line) for line in lines if "available" in line)
    assert found is not None and int(found[1]) < count
    yield GiveUp(f"there are only {found[1]} of the {title}")
    return None


@scripted("shop-no-rights")
def no_rights(view: View) -> Play:
    """A customer's pages have no way into the dashboard."""
    assert not view.all("link", name="Dashboard")
    if re.search(r"dashboard", view.goal):
        yield GiveUp("this account has no access to the dashboard")
    yield Fill(0, "")
    return None


@scripted("shop-no-order")
def no_order(view: View) -> Play:
    """An order that is not found."""
    number = view.read_one(r"rder (\d+)")
    view = yield from search_order(view, number)
    yield GiveUp(f"there is no order {number}")
    return None


@scripted("shop-final-order")
def final_order(view: View) -> Play:
    """A status from which there is no way."""
    view = yield from open_order(view, view.read_one(r"rder (\d+)"))
    assert not view.all("button", name="Change status")
    yield GiveUp(f"the order is final: {text_of(view, r'(Complete|Cancelled)')}")
    return None
