"""Oracles for the shop's customers: baskets, orders and what belongs to an account."""

from itertools import pairwise

from benchmarks.oracles import View
from benchmarks.oscar.oracles.steps import (
    Part,
    Play,
    account,
    listed,
    open_category,
    open_product,
    press,
    quoted,
    scripted,
    write,
)
from webagent.action.actions import Click, Fill, SelectOption
from webagent.records import Node


def add_to_basket(view: View, title: str) -> Part:
    """One piece, from the product's own page."""
    view = yield from open_product(view, title)
    return (yield from press(view, "button", "Add to basket"))


def open_basket(view: View) -> Part:
    """The basket's page."""
    return (yield from press(view, "button", "View basket"))


def below(view: View, title: str, role: str, name: str | None = None) -> Node:
    """What belongs to a line of the basket: the first of its kind below the product's name."""
    return view.after(view.find("link", name=title)).find(role, name=name)


def set_quantity(view: View, title: str, quantity: str) -> Part:
    """Another number of pieces, on the basket's page."""
    view = yield Fill(below(view, title, "spinbutton").mark, quantity)
    return (yield Click(below(view, title, "button", "Update").mark))


def use_voucher(view: View, code: str) -> Part:
    """Enter a code on the basket's page."""
    view = yield from press(view, "link", "I have a voucher code...")
    fields = [each for each in view.all("textbox") if each.name != "Search"]
    view = yield Fill(view.first(fields, "a field for the code").mark, code)
    return (yield from press(view, "button", "Add voucher"))


def ship(view: View, city: str, method: str) -> Part:
    """From the basket to a placed order, to an address that is known by its city."""
    view = yield from press(view, "link", "Proceed to checkout")
    place = next(node for node in view.page.nodes if node.name == city)
    buttons = [each for each in view.after(place).all("button") if "Ship to" in each.name]
    view = yield Click(buttons[0].mark)
    return (yield from pay(view, method))


def pay(view: View, method: str) -> Part:
    """From the choice of how to ship to a placed order."""
    line = next(node for node in view.page.nodes if node.name == method)
    view = yield view.after(line).click("button", name="Select option")
    view = yield from press(view, "link", "Continue")
    return (yield from press(view, "button", "Place order"))


def fill_address(view: View, goal: str) -> Part:
    """The form for an address that stands in the goal, country last."""
    pattern = r": (\S+) (\S+), ([^,]+), ([^,]+), ([^,]+), ([^,.]+)\."
    first, last, line1, city, postcode, country = View(goal, view.page).read(pattern)
    fields = ("First name *", "Last name *", "First line of address *", "City *")
    for name, text in zip(
        (*fields, "Post/Zip-code *"), (first, last, line1, city, postcode), strict=True
    ):
        view = yield from write(view, name, text)
    if view.find("combobox", name="Country *").value != country:
        view = yield SelectOption(view.find("combobox", name="Country *").mark, country)
    return view


@scripted("shop-add")
def add(view: View) -> Play:
    """`Put one "Pebble Mug" into my basket.`"""
    yield from add_to_basket(view, quoted(view)[0])


@scripted("shop-add-several")
def add_several(view: View) -> Play:
    """`Put 3 pieces of the "Pebble Mug" into my basket.`"""
    title, quantity = quoted(view)[0], view.read_one(r"\b(\d+) (?:pieces )?of the")
    view = yield from add_to_basket(view, title)
    view = yield from open_basket(view)
    yield from set_quantity(view, title, quantity)


@scripted("shop-add-size")
def add_size(view: View) -> Play:
    """`Put one "Ember Shirt" in size Medium into my basket.`"""
    size = view.read_one(r"size (\w+)")
    view = yield from open_product(view, quoted(view)[0])
    view = yield from press(view, "link", size)
    yield from press(view, "button", "Add to basket")


@scripted("shop-add-three")
def add_three(view: View) -> Play:
    """`Put these into my basket, one of each: ...`"""
    for title in quoted(view):
        view = yield from add_to_basket(view, title)


@scripted("shop-add-cheapest")
def add_cheapest(view: View) -> Play:
    """`Put the cheapest product under "Mugs" that is in stock into my basket.`"""
    view = yield from open_category(view, quoted(view)[0])
    yield from add_listed_cheapest(view)


def cheapest_in_stock(view: View) -> str:
    """The title of what costs least of what is listed and in stock."""
    return min((cost, name) for name, cost, is_there in listed(view) if is_there)[1]


def add_listed_cheapest(view: View) -> Part:
    """From the list itself, where every product in stock has a button."""
    named = view.all("link", name=cheapest_in_stock(view))[-1]
    return (yield view.after(named).click("button", name="Add to basket"))


@scripted("shop-basket-quantity")
def basket_quantity(view: View) -> Play:
    """`Change the number of "Pebble Mug" in my basket to 4.`"""
    quantity = view.read_one(r"(?:to|\") (\d+)")
    title = quoted(view)[0]
    view = yield from open_basket(view)
    yield from set_quantity(view, title, quantity)


@scripted("shop-basket-remove")
def basket_remove(view: View) -> Play:
    """`Take the "Pebble Mug" out of my basket.`"""
    title = quoted(view)[0]
    view = yield from open_basket(view)
    yield Click(below(view, title, "link", "Remove").mark)


@scripted("shop-basket-keep")
def basket_keep(view: View) -> Play:
    """`Remove everything from my basket but the "Pebble Mug".`"""
    kept = quoted(view)[0]
    view = yield from open_basket(view)
    while other := _title_besides(view, kept):
        view = yield Click(below(view, other, "link", "Remove").mark)


def _title_besides(view: View, kept: str) -> str:
    """What is in the basket besides; empty when nothing is."""
    nodes = [node for node in view.page.nodes if node.role in ("link", "spinbutton")]
    for node, after in pairwise(nodes):
        if after.role == "spinbutton" and node.name != kept:
            return node.name
    return ""


@scripted("shop-basket-voucher")
def basket_voucher(view: View) -> Play:
    """`Use the voucher code WELCOME10 on my basket.`"""
    code = view.read_one(r"\b([A-Z]+\d\d)\b")
    view = yield from open_basket(view)
    yield from use_voucher(view, code)


@scripted("shop-basket-save")
def basket_save(view: View) -> Play:
    """`Save the "Pebble Mug" in my basket for later.`"""
    title = quoted(view)[0]
    view = yield from open_basket(view)
    yield Click(below(view, title, "link", "Save for later").mark)


@scripted("shop-reorder")
def reorder(view: View) -> Play:
    """`Put everything of my order 10012 into the basket again.`"""
    number = view.read_one(r"order (\d+)")
    view = yield from account(view, "Order History")
    view = yield from press(view, "link", number)
    yield from press(view, "button", "Re-order all items")


def _city(view: View) -> str:
    return view.read_one(r"(?:address in|live in|to) ([A-Z][a-z]+)\b")


def _method(view: View) -> str:
    return view.read_one(r"\b(Standard|Express)\b")


@scripted("shop-buy")
def buy(view: View) -> Play:
    """`Order one "Pebble Mug" for me, to my address in York, with Express shipping.`"""
    city, method = _city(view), _method(view)
    view = yield from add_to_basket(view, quoted(view)[0])
    view = yield from open_basket(view)
    yield from ship(view, city, method)


@scripted("shop-buy-cheapest")
def buy_cheapest(view: View) -> Play:
    """`Order 3 pieces of the cheapest product under "Mugs" that is in stock, ...`"""
    city, method, count = _city(view), _method(view), view.read_one(r"(\d+) (?:pieces )?of")
    view = yield from open_category(view, quoted(view)[0])
    title = cheapest_in_stock(view)
    view = yield from add_listed_cheapest(view)
    view = yield from open_basket(view)
    view = yield from set_quantity(view, title, count)
    yield from ship(view, city, method)


@scripted("shop-buy-two")
def buy_two(view: View) -> Play:
    """`Order 3 pieces of the "Pebble Mug" and one "Glen Pan" together, ...`"""
    city, method = _city(view), _method(view)
    count = view.read_one(r"(\d+) (?:pieces of|times)")
    first, second = quoted(view)
    for title in (first, second):
        view = yield from add_to_basket(view, title)
    view = yield from open_basket(view)
    view = yield from set_quantity(view, first, count)
    yield from ship(view, city, method)


@scripted("shop-buy-new-address")
def buy_new_address(view: View) -> Play:
    """`Order one "Pebble Mug" with Express shipping to: Ines Duarte, ...`"""
    goal, method = view.goal, _method(view)
    view = yield from add_to_basket(view, quoted(view)[0])
    view = yield from open_basket(view)
    view = yield from press(view, "link", "Proceed to checkout")
    view = yield from fill_address(view, goal)
    view = yield from press(view, "button", "Continue")
    yield from pay(view, method)


@scripted("shop-buy-basket")
def buy_basket(view: View) -> Play:
    """`Order what is in my basket as it is, to my address in Leeds, with Express shipping.`"""
    city, method = _city(view), _method(view)
    view = yield from open_basket(view)
    yield from ship(view, city, method)


@scripted("shop-buy-voucher")
def buy_voucher(view: View) -> Play:
    """`Order what is in my basket with the voucher code WELCOME10, ...`"""
    city, method, code = _city(view), _method(view), view.read_one(r"\b([A-Z]+\d\d)\b")
    view = yield from open_basket(view)
    view = yield from use_voucher(view, code)
    yield from ship(view, city, method)


def address_menu(view: View, city: str) -> Part:
    """The menu beside the address of a city."""
    place = next(node for node in view.page.nodes if node.name == city)
    return (yield view.after(place).click("button"))


@scripted("shop-address-add")
def address_add(view: View) -> Play:
    """`Add this address to my address book: Ines Duarte, ...`"""
    goal = view.goal
    view = yield from account(view, "Address Book")
    view = yield from press(view, "link", "Add a new address")
    view = yield from fill_address(view, goal)
    yield from press(view, "button", "Save")


@scripted("shop-address-edit")
def address_edit(view: View) -> Play:
    """`In my address book, change the first line of the address in York to "70 Hill Rise".`"""
    city, street = view.read_one(r"(?:address in|within) (\w+)"), quoted(view)[0]
    view = yield from account(view, "Address Book")
    place = next(node for node in view.page.nodes if node.name == city)
    view = yield view.after(place).click("link", name="Edit")
    view = yield from write(view, "First line of address *", street)
    yield from press(view, "button", "Save")


@scripted("shop-address-delete")
def address_delete(view: View) -> Play:
    """`Delete my address in York from the address book.`"""
    city = view.read_one(r"(?:address in|live in) (\w+)")
    view = yield from account(view, "Address Book")
    view = yield from address_menu(view, city)
    view = yield from press(view, "link", "Delete")
    yield from press(view, "button", "Delete")


@scripted("shop-address-default")
def address_default(view: View) -> Play:
    """`Make the address in York my default for shipping.`"""
    city = view.read_one(r"(?:address in|sent to) (\w+)")
    view = yield from account(view, "Address Book")
    view = yield from address_menu(view, city)
    yield from press(view, "link", "Set as default shipping address")


@scripted("shop-review")
def review(view: View) -> Play:
    """`Review the "Pebble Mug" for me: 4 out of 5, with the title "..." and the text "..."`"""
    (product, title, body), score = quoted(view), view.read_one(r"(\d) out of 5")
    view = yield from open_product(view, product)
    view = yield from press(view, "link", "Write a review")
    view = yield Click(view.all("generic")[int(score) - 1].mark)
    view = yield from write(view, "Title *", title)
    view = yield from write(view, "Body *", body)
    yield from press(view, "button", "Save review")


@scripted("shop-wish-add")
def wish_add(view: View) -> Play:
    """`Add the "Pebble Mug" to my wish list "Birthday ideas".`"""
    title, wishes = quoted(view)
    view = yield from open_product(view, title)
    view = yield from press(view, "link", "Add to wish list")
    yield from press(view, "link", f"Add to '{wishes}' wish list")


@scripted("shop-wish-remove")
def wish_remove(view: View) -> Play:
    """`Take the "Pebble Mug" off my wish list.`"""
    title = quoted(view)[0]
    view = yield from account(view, "Wish Lists")
    view = yield from press(view, "link", "View")
    named = view.find("link", name=title)
    view = yield view.after(named).click("button")
    removing = [link for link in view.all("link") if link.name.startswith("Remove")]
    view = yield Click(view.first(removing, "a link that removes").mark)
    yield Click(
        view.first(
            [each for each in view.all("button") if each.name in ("Delete", "Remove")],
            "a button that confirms",
        ).mark
    )


@scripted("shop-wish-list")
def wish_list(view: View) -> Play:
    """`Create a new wish list called "New flat", with nothing on it.`"""
    name = quoted(view)[0]
    view = yield from account(view, "Wish Lists")
    view = yield from press(view, "link", "Create a new wish list")
    view = yield from write(view, "Name *", name)
    yield from press(view, "button", "Save")


@scripted("shop-profile")
def profile(view: View) -> Play:
    """`My last name is now "Berg". Change it in my profile.`"""
    name = quoted(view)[0]
    view = yield from press(view, "link", "Account")
    view = yield from press(view, "link", "Edit profile")
    view = yield from write(view, "Last name", name)
    yield from press(view, "button", "Save")


@scripted("shop-alert")
def alert(view: View) -> Play:
    """`Ask the shop to notify me once the "Pebble Mug" is back in stock.`"""
    view = yield from open_product(view, quoted(view)[0])
    yield from press(view, "button", "Notify me")
