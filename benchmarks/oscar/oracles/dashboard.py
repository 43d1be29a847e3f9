"""Oracles for the shop's dashboard: the catalogue, orders, offers, reviews."""

import re
from decimal import Decimal
from itertools import pairwise

from benchmarks.oracles import View
from benchmarks.oscar.oracles.steps import (
    Part,
    Play,
    awaited,
    press,
    quoted,
    scripted,
    select,
    write,
)
from webagent.action.actions import Click, Fill, Uncheck
from webagent.records import Node


def menu(view: View, section: str, page: str) -> Part:
    """A page of the dashboard, by its menu."""
    view = yield from press(view, "button", section)
    below = view.after(view.find("button", name=section))
    return (yield below.click("link", name=page))


def edit_product(view: View, title: str) -> Part:
    """The form of a product, by the dashboard's search."""
    view = yield from menu(view, "Catalogue", "Products")
    view = yield from write(view, "Product title:", title)
    view = yield from press(view, "button", "Search")
    view = yield from press(view, "link", title)
    return (yield from awaited(view, "link", name="Stock and pricing"))


def open_order(view: View, number: str) -> Part:
    """An order's page: a search for its whole number leads there."""
    view = yield from search_order(view, number)
    if view.all("link", name=number):
        view = yield from press(view, "link", number)
    return (yield from awaited(view, "link", name="Notes"))


def search_order(view: View, number: str) -> Part:
    """What the dashboard finds by an order's number."""
    view = yield from menu(view, "Fulfilment", "Orders")
    view = yield from write(view, "Order number:", number)
    return (yield from press(view, "button", "Search"))


def stock_fields(view: View) -> tuple[Node, Node, Node]:
    """Of the first stock record: SKU, number in stock, price."""
    record = view.after(view.first([n for n in view.page.nodes if "Num in stock" in n.name], "SKU"))
    numbers = record.all("spinbutton")
    return record.find("textbox"), numbers[0], numbers[2]


@scripted("shop-set-price")
def set_price(view: View) -> Play:
    """`Set the price of the "Pebble Mug" to 12.50 pounds.`"""
    price = view.read_one(r"(\d+\.\d\d) pounds")
    view = yield from edit_product(view, quoted(view)[0])
    view = yield from press(view, "link", "Stock and pricing")
    view = yield Fill(stock_fields(view)[2].mark, price)
    yield from press(view, "button", "Save")


@scripted("shop-set-stock")
def set_stock(view: View) -> Play:
    """`Set the stock of the "Pebble Mug" to 34.`"""
    count = view.read_one(r"(?:counted|to) (\d+)")
    view = yield from edit_product(view, quoted(view)[0])
    view = yield from press(view, "link", "Stock and pricing")
    view = yield Fill(stock_fields(view)[1].mark, count)
    yield from press(view, "button", "Save")


@scripted("shop-deliveries")
def deliveries(view: View) -> Play:
    """`A delivery has come: 5 more of the "Pebble Mug" and 7 more of the "Glen Pan".`"""
    pairs = zip(quoted(view), re.findall(r"(?<!\w)(\d+)(?!\w)", view.goal), strict=True)
    for title, more in pairs:
        view = yield from edit_product(view, title)
        view = yield from press(view, "link", "Stock and pricing")
        field = stock_fields(view)[1]
        view = yield Fill(field.mark, str(int(field.value) + int(more)))
        view = yield from press(view, "button", "Save")


@scripted("shop-rename")
def rename(view: View) -> Play:
    """`Rename the product "Pebble Mug" to "Osprey Mug".`"""
    before, after = quoted(view)
    view = yield from edit_product(view, before)
    view = yield from write(view, "Title", after)
    yield from press(view, "button", "Save")


@scripted("shop-hide")
def hide(view: View) -> Play:
    """`Make the product "Pebble Mug" non-public.`"""
    view = yield from edit_product(view, quoted(view)[0])
    view = yield Uncheck(view.find("checkbox", name="Is public").mark)
    yield from press(view, "button", "Save")


@scripted("shop-delete")
def delete(view: View) -> Play:
    """`Delete the product "Pebble Mug" from the catalogue.`"""
    title = quoted(view)[0]
    view = yield from menu(view, "Catalogue", "Products")
    view = yield from write(view, "Product title:", title)
    view = yield from press(view, "button", "Search")
    view = yield from press(view, "button", "Actions")
    view = yield from press(view, "link", "Delete")
    yield from press(view, "button", "Delete")


@scripted("shop-new-category")
def new_category(view: View) -> Play:
    """`Create a category "Bowls" below "Kitchen".`"""
    name, parent = quoted(view)
    view = yield from menu(view, "Catalogue", "Categories")
    view = yield from press(view, "link", "Create new category")
    view = yield from write(view, "Name *", name)
    box = view.find("combobox", name="-- root --")
    view = yield Click(box.mark)
    option = next(each for each in view.all("option") if each.name.strip() == parent)
    view = yield Click(option.mark)
    yield from press(view, "button", "Save")


@scripted("shop-new-product")
def new_product(view: View) -> Play:
    """`Create a product of the type Goods: title "Birch Mug", UPC "...", category "Mugs". ...`"""
    title, upc, category, sku = quoted(view)
    stock, price = view.read(r"(\d+) (?:pieces at|are in stock, at) (\d+\.\d\d) pounds")
    view = yield from menu(view, "Catalogue", "Products")
    view = yield from press(view, "button", "New Product")
    view = yield from write(view, "Title", title)
    view = yield from write(view, "UPC", upc)
    view = yield from press(view, "link", "Categories")
    view = yield view.click("combobox", name="---------")
    option = next(each for each in view.all("option") if each.name.endswith(f"> {category}"))
    view = yield Click(option.mark)
    view = yield from press(view, "link", "Stock and pricing")
    view = yield from select(view, view.find("combobox", name="---------"), "Warehouse")
    fields = stock_fields(view)
    for field, text in zip(fields, (sku, stock, str(Decimal(price))), strict=True):
        view = yield Fill(field.mark, text)
    yield from press(view, "button", "Save")


def set_status(view: View, status: str) -> Part:
    """Another status, on an order's page."""
    line = next(node for node in view.page.nodes if node.name.startswith("Change order status"))
    box = view.after(line).find("combobox")
    if box.name != status:
        view = yield from select(view, box, status)
    return (yield from press(view, "button", "Change status"))


@scripted("shop-order-status")
def order_status(view: View) -> Play:
    """`Set the status of order 10012 to "Cancelled".`"""
    status = quoted(view)[0]
    view = yield from open_order(view, view.read_one(r"rder (\d+)"))
    yield from set_status(view, status)


@scripted("shop-order-note")
def order_note(view: View) -> Play:
    """`Leave a note on order 10012: "Address confirmed by email."`"""
    note = quoted(view)[0]
    view = yield from open_order(view, view.read_one(r"order (\d+)"))
    view = yield from press(view, "link", "Notes")
    view = yield from write(view, "Message *", note)
    yield from press(view, "button", "Save note")


@scripted("shop-order-ship")
def order_ship(view: View) -> Play:
    """`Everything in order 10012 has been sent. Create a shipping event Shipped ...`"""
    reference = quoted(view)[0]
    view = yield from open_order(view, view.read_one(r"order (\d+)"))
    for box in view.all("checkbox"):
        view = yield Click(box.mark)
    view = yield view.click("radio", name="Create shipping event")
    event = next(box for box in view.all("combobox") if "event type" in box.name)
    view = yield from select(view, event, "Shipped")
    view = yield from write(view, "with reference", reference)
    yield from press(view, "button", "Go!")


@scripted("shop-orders-cancel")
def orders_cancel(view: View) -> Play:
    """`Cancel all orders of Felix Holm that are still Pending.`: one after the other."""
    name = view.read_one(r"(?:orders of|customer) (\w+ \w+)")
    view = yield from menu(view, "Customers", "Customers")
    view = yield from write(view, "Name:", name)
    view = yield from press(view, "button", "Search")
    email = next(node.name for node in view.all("link") if "@" in node.name)
    view = yield from press(view, "link", email)
    nodes = view.page.nodes
    numbers = [
        node.name
        for node, after in pairwise(nodes)
        if re.fullmatch(r"1\d{4}", node.name) and "Pending" in after.name
    ]
    for number in numbers:
        view = yield from open_order(view, number)
        view = yield from set_status(view, "Cancelled")


@scripted("shop-offer-end", "shop-offer-open")
def turn_offer(view: View) -> Play:
    """`Suspend the offer "Lantern weeks".`, or bring it back."""
    view = yield from menu(view, "Offers", "Offers")
    view = yield from press(view, "link", quoted(view)[0])
    named = [node for node in view.all("button") if node.name.endswith("offer")]
    yield Click(named[0].mark)


@scripted("shop-voucher-new")
def voucher_new(view: View) -> Play:
    """`Create a voucher named "..." with the code "...". It starts on ..., and gives "..."`"""
    name, code, offer = quoted(view)
    start, end = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", view.goal)
    view = yield from menu(view, "Offers", "Vouchers")
    view = yield from press(view, "link", "Create new voucher")
    view = yield from write(view, "Name *", name)
    view = yield from write(view, "Code *", code)
    view = yield from write(view, "Start datetime *", start)
    view = yield from write(view, "End datetime *", end)
    view = yield view.click("searchbox")
    view = yield from press(view, "option", offer)
    yield from press(view, "button", "Save")


@scripted("shop-range-add")
def range_add(view: View) -> Play:
    """`Add the products with the UPCs "..." and "..." to the range "Staff picks".`"""
    named = quoted(view)
    numbers = [each for each in named if each.isdigit()]
    name = next(each for each in named if not each.isdigit())
    view = yield from menu(view, "Catalogue", "Ranges")
    view = yield view.after(view.find("link", name=name)).click("button", name="Actions")
    view = yield from press(view, "link", "Edit products")
    view = yield from write(view, "Product SKUs or UPCs", ", ".join(numbers))
    yield from press(view, "button", "Go!")


@scripted("shop-review-approve")
def review_approve(view: View) -> Play:
    """`Set the review "Lovely mug" that Felix Holm wrote of the "Pebble Mug" to Approved.`"""
    status = view.read_one(r"\b(Approved|Rejected)\b")
    title, product = quoted(view)
    if "has reviewed" in view.goal:
        title, product = product, title
    author = view.read_one(r"(?:that )?([A-Z]\w+ [A-Z]\w+) (?:wrote|has reviewed)")
    view = yield from menu(view, "Content", "Reviews")
    view = yield from write(view, "Customer name:", author)
    view = yield from press(view, "button", "Search")
    links = view.all("link")
    found = [link for link, after in pairwise(links) if (link.name, after.name) == (title, product)]
    view = yield Click(view.first(found, f"the review {title!r}").mark)
    boxes = view.all("combobox")
    view = yield from select(view, boxes[-1], status)
    yield from press(view, "button", "Save")
