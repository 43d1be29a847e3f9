"""Oracles for what belongs to the shop's customers: addresses, wishes, reviews, the profile."""

from benchmarks.oscar.solutions.basket import fill_address
from benchmarks.oscar.solutions.oscar import (
    Part,
    Play,
    account,
    open_product,
    press,
    quoted,
    scripted,
    write,
)
from benchmarks.solutions.view import View
from webagent.action.actions import Click
from webagent.records import Node


def address_menu(view: View, city: str) -> Part:
    """The menu beside the address of a city."""
    place = next(node for node in view.page.nodes if node.name == city)
    return (yield Click(view.after(place).find("button").mark))


@scripted("shop-address-add")
def address_add(view: View) -> Play:
    """`Add this address to my address book: Ines Duarte, ...`"""
    goal = view.goal
    view = yield from account(view, "Address Book")
    view = yield from press(view, "link", "Add a new address")
    view = yield from fill_address(view, goal)
    yield from press(view, "button", "Save")
    return None


@scripted("shop-address-edit")
def address_edit(view: View) -> Play:
    """`In my address book, change the first line of the address in York to "70 Hill Rise".`"""
    city, street = view.read_one(r"(?:address in|within) (\w+)"), quoted(view)[0]
    view = yield from account(view, "Address Book")
    place = next(node for node in view.page.nodes if node.name == city)
    view = yield Click(view.after(place).find("link", name="Edit").mark)
    view = yield from write(view, "First line of address *", street)
    yield from press(view, "button", "Save")
    return None


@scripted("shop-address-delete")
def address_delete(view: View) -> Play:
    """`Delete my address in York from the address book.`"""
    city = view.read_one(r"(?:address in|live in) (\w+)")
    view = yield from account(view, "Address Book")
    view = yield from address_menu(view, city)
    view = yield from press(view, "link", "Delete")
    yield from press(view, "button", "Delete")
    return None


@scripted("shop-address-default")
def address_default(view: View) -> Play:
    """`Make the address in York my default for shipping.`"""
    city = view.read_one(r"(?:address in|sent to) (\w+)")
    view = yield from account(view, "Address Book")
    view = yield from address_menu(view, city)
    yield from press(view, "link", "Set as default shipping address")
    return None


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
    return None


@scripted("shop-wish-add")
def wish_add(view: View) -> Play:
    """`Add the "Pebble Mug" to my wish list "Birthday ideas".`"""
    title, wishes = quoted(view)
    view = yield from open_product(view, title)
    view = yield from press(view, "link", "Add to wish list")
    yield from press(view, "link", f"Add to '{wishes}' wish list")
    return None


@scripted("shop-wish-remove")
def wish_remove(view: View) -> Play:
    """`Take the "Pebble Mug" off my wish list.`"""
    title = quoted(view)[0]
    view = yield from account(view, "Wish Lists")
    view = yield from press(view, "link", "View")
    named = view.find("link", name=title)
    view = yield Click(view.after(named).find("button").mark)
    removing = [link for link in view.all("link") if link.name.startswith("Remove")]
    view = yield Click(view.first(removing, "a link that removes").mark)
    yield Click(view.first(_confirming(view), "a button that confirms").mark)
    return None


def _confirming(view: View) -> list[Node]:
    return [each for each in view.all("button") if each.name in ("Delete", "Remove")]


@scripted("shop-wish-list")
def wish_list(view: View) -> Play:
    """`Create a new wish list called "New flat", with nothing on it.`"""
    name = quoted(view)[0]
    view = yield from account(view, "Wish Lists")
    view = yield from press(view, "link", "Create a new wish list")
    view = yield from write(view, "Name *", name)
    yield from press(view, "button", "Save")
    return None


@scripted("shop-profile")
def profile(view: View) -> Play:
    """`My last name is now "Berg". Change it in my profile.`"""
    name = quoted(view)[0]
    view = yield from press(view, "link", "Account")
    view = yield from press(view, "link", "Edit profile")
    view = yield from write(view, "Last name", name)
    yield from press(view, "button", "Save")
    return None


@scripted("shop-alert")
def alert(view: View) -> Play:
    """`Ask the shop to notify me once the "Pebble Mug" is back in stock.`"""
    view = yield from open_product(view, quoted(view)[0])
    yield from press(view, "button", "Notify me")
    return None
