"""Oracles for the shop's dashboard: the catalogue, orders, offers, reviews."""

import re
from decimal import Decimal
from itertools import pairwise

from benchmarks.oracles import (
    Move,
    Moves,
    Part,
    Script,
    View,
    fill,
    planned,
    play,
    press,
    push,
    quoted,
    register_plans,
    scripted,
)
from benchmarks.oscar.oracles.steps import expect, press_beside, select
from webagent.action.actions import Click, Fill, Uncheck
from webagent.records import Node


def menu(section: str, page: str) -> Moves:
    """A page of the dashboard, by its menu."""
    return (
        push(section),
        lambda view: view.after(view.find("button", name=section)).click("link", name=page),
    )


def find_product(title: str) -> Moves:
    """The dashboard's search for a product."""
    return (*menu("Catalogue", "Products"), fill("Product title:", title), push("Search"))


def edit_product(title: str) -> Moves:
    """The form of a product."""
    return (*find_product(title), press(title), expect("Stock and pricing"))


def search_order(number: str) -> Moves:
    """What the dashboard finds by an order's number."""
    return (*menu("Fulfilment", "Orders"), fill("Order number:", number), push("Search"))


def open_order(number: str) -> Moves:
    """An order's page: a search for its whole number leads there."""

    def follow(view: View) -> Click | None:
        return view.click("link", name=number) if view.all("link", name=number) else None

    return (*search_order(number), follow, expect("Notes"))


def find_customer(name: str) -> Moves:
    """The dashboard's search for a customer."""
    return (*menu("Customers", "Customers"), fill("Name:", name), push("Search"))


def read_order(view: View) -> str:
    """Return the order's number in the goal."""
    return view.read_one(r"rder (\d+)")


def stock_fields(view: View) -> tuple[Node, Node, Node]:
    """Return the fields of the first stock record: SKU, number in stock, price."""
    record = view.after(view.first([n for n in view.page.nodes if "Num in stock" in n.name], "SKU"))
    numbers = record.all("spinbutton")
    return record.find("textbox"), numbers[0], numbers[2]


def set_stock_field(title: str, place: int, text: str) -> Moves:
    """Another text in a field of the first stock record, by its place."""

    def write(view: View) -> Fill:
        return Fill(stock_fields(view)[place].mark, text)

    return (*edit_product(title), press("Stock and pricing"), write, push("Save"))


def click_first(role: str, *, ends: str) -> Move:
    """Click the first element whose name ends with this."""

    def move(view: View) -> Click:
        found = [node for node in view.all(role) if node.name.strip().endswith(ends)]
        return Click(view.first(found, f"a {role} that ends with {ends!r}").mark)

    return move


register_plans(
    {
        # Rename the product "Pebble Mug" to "Osprey Mug".
        "shop-rename": lambda before, after: (
            *edit_product(before),
            fill("Title", after),
            push("Save"),
        ),
        # Make the product "Pebble Mug" non-public.
        "shop-hide": lambda title: (
            *edit_product(title),
            lambda view: Uncheck(view.find("checkbox", name="Is public").mark),
            push("Save"),
        ),
        # Delete the product "Pebble Mug" from the catalogue.
        "shop-delete": lambda title: (
            *find_product(title),
            push("Actions"),
            press("Delete"),
            push("Delete"),
        ),
        # Create a category "Bowls" below "Kitchen".
        "shop-new-category": lambda name, parent: (
            *menu("Catalogue", "Categories"),
            press("Create new category"),
            fill("Name *", name),
            press("Relative to", "combobox"),
            click_first("option", ends=parent),
            push("Save"),
        ),
        # Suspend the offer "Lantern weeks".
        "shop-offer-end": lambda offer: (
            *menu("Offers", "Offers"),
            press(offer),
            click_first("button", ends="offer"),
        ),
        # Reinstate the offer "Warm feet".
        "shop-offer-open": lambda offer: (
            *menu("Offers", "Offers"),
            press(offer),
            click_first("button", ends="offer"),
        ),
    }
)


@planned("shop-set-price")
def set_price(view: View) -> Moves:
    """`Set the price of the "Pebble Mug" to 12.50 pounds.`"""
    return set_stock_field(quoted(view)[0], 2, view.read_one(r"(\d+\.\d\d) pounds"))


@planned("shop-set-stock")
def set_stock(view: View) -> Moves:
    """`Set the stock of the "Pebble Mug" to 34.`"""
    return set_stock_field(quoted(view)[0], 1, view.read_one(r"(?:counted|to) (\d+)"))


@scripted("shop-deliveries")
def deliveries(view: View) -> Script:
    """`A delivery has come: 5 more of the "Pebble Mug" and 7 more of the "Glen Pan".`"""
    pairs = zip(quoted(view), re.findall(r"(?<!\w)(\d+)(?!\w)", view.goal), strict=True)
    for title, more in pairs:
        view = yield from play(view, *edit_product(title), press("Stock and pricing"))
        field = stock_fields(view)[1]
        view = yield Fill(field.mark, str(int(field.value) + int(more)))
        view = yield from play(view, push("Save"))


@planned("shop-new-product")
def new_product(view: View) -> Moves:
    """`Create a product of the type Goods: title "Birch Mug", UPC "...", category "Mugs". ...`"""
    title, upc, category, sku = quoted(view)
    stock, price = view.read(r"(\d+) (?:pieces at|are in stock, at) (\d+\.\d\d) pounds")
    texts = (sku, stock, str(Decimal(price)))

    def write(place: int) -> Move:
        return lambda now: Fill(stock_fields(now)[place].mark, texts[place])

    return (
        *menu("Catalogue", "Products"),
        push("New Product"),
        fill("Title", title),
        fill("UPC", upc),
        press("Categories"),
        press("Category:", "combobox"),
        click_first("option", ends=f"> {category}"),
        press("Stock and pricing"),
        press("Partner", "combobox"),
        press("Warehouse", "option"),
        *(write(place) for place in range(3)),
        push("Save"),
    )


def set_status(view: View, status: str) -> Part:
    """Another status, on an order's page."""
    lines = [node for node in view.page.nodes if node.name.startswith("Change order status")]
    box = view.after(view.first(lines, "a form for the status")).find("combobox")
    if box.value != status:
        view = yield from select(view, box, status)
    return (yield from play(view, push("Change status")))


@scripted("shop-order-status")
def order_status(view: View) -> Script:
    """`Set the status of order 10012 to "Cancelled".`"""
    status = quoted(view)[0]
    view = yield from play(view, *open_order(read_order(view)))
    yield from set_status(view, status)


@planned("shop-order-note")
def order_note(view: View) -> Moves:
    """`Leave a note on order 10012: "Address confirmed by email."`"""
    form = (press("Notes"), fill("Message *", quoted(view)[0]), push("Save note"))
    return (*open_order(read_order(view)), *form)


@scripted("shop-order-ship")
def order_ship(view: View) -> Script:
    """`Everything in order 10012 has been sent. Create a shipping event Shipped ...`"""
    reference = quoted(view)[0]
    view = yield from play(view, *open_order(read_order(view)))
    for box in view.all("checkbox"):
        view = yield Click(box.mark)
    view = yield from play(view, press("Create shipping event", "radio"))
    event = next(box for box in view.all("combobox") if "event type" in box.name)
    view = yield from select(view, event, "Shipped")
    yield from play(view, fill("with reference", reference), push("Go!"))


@scripted("shop-orders-cancel")
def orders_cancel(view: View) -> Script:
    """`Cancel all orders of Felix Holm that are still Pending.`: one after the other."""
    name = view.read_one(r"(?:orders of|customer) (\w+ \w+)")
    view = yield from play(view, *find_customer(name))
    email = next(node.name for node in view.all("link") if "@" in node.name)
    view = yield from play(view, press(email))
    numbers = [
        node.name
        for node, after in pairwise(view.page.nodes)
        if re.fullmatch(r"1\d{4}", node.name) and "Pending" in after.name
    ]
    for number in numbers:
        view = yield from play(view, *open_order(number))
        view = yield from set_status(view, "Cancelled")


@planned("shop-voucher-new")
def voucher_new(view: View) -> Moves:
    """`Create a voucher named "..." with the code "...". It starts on ..., and gives "..."`"""
    name, code, offer = quoted(view)
    start, end = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", view.goal)
    return (
        *menu("Offers", "Vouchers"),
        press("Create new voucher"),
        fill("Name *", name),
        fill("Code *", code),
        fill("Start datetime *", start),
        fill("End datetime *", end),
        lambda now: now.click("searchbox"),
        press(offer, "option"),
        push("Save"),
    )


@planned("shop-range-add")
def range_add(view: View) -> Moves:
    """`Add the products with the UPCs "..." and "..." to the range "Staff picks".`"""
    numbers = [each for each in quoted(view) if each.isdigit()]
    name = next(each for each in quoted(view) if not each.isdigit())
    edit = (press_beside(name, "button", "Actions"), press("Edit products"))
    form = (fill("Product SKUs or UPCs", ", ".join(numbers)), push("Go!"))
    return (*menu("Catalogue", "Ranges"), *edit, *form)


@scripted("shop-review-approve")
def review_approve(view: View) -> Script:
    """`Set the review "Lovely mug" that Felix Holm wrote of the "Pebble Mug" to Approved.`"""
    status = view.read_one(r"\b(Approved|Rejected)\b")
    title, product = quoted(view)
    if "has reviewed" in view.goal:
        title, product = product, title
    author = view.read_one(r"(?:that )?([A-Z]\w+ [A-Z]\w+) (?:wrote|has reviewed)")
    found = (*menu("Content", "Reviews"), fill("Customer name:", author), push("Search"))
    view = yield from play(view, *found)

    def named(page: View) -> list[Node]:
        links = pairwise(page.all("link"))
        return [link for link, after in links if (link.name, after.name) == (title, product)]

    while not named(view) and (
        further := [link for link in view.all("link") if link.name == "next"]
    ):
        view = yield Click(further[0].mark)
    view = yield Click(view.first(named(view), f"the review {title!r}").mark)
    view = yield from select(view, view.all("combobox")[-1], status)
    yield from play(view, push("Save"))
