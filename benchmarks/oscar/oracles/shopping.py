"""Oracles for the shop's customers: baskets, orders and what belongs to an account."""

from itertools import pairwise

from benchmarks.oracles import (
    Move,
    Moves,
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
from benchmarks.oscar.oracles.steps import account, listed, open_product, press_below, press_beside
from webagent.action.actions import Click, Fill, SelectOption

OPEN_BASKET = push("View basket")


def add_to_basket(title: str) -> Moves:
    """One piece, from the product's own page."""
    return (*open_product(title), push("Add to basket"))


def set_quantity(title: str, quantity: str) -> Moves:
    """Another number of pieces, on the basket's page."""

    def write(view: View) -> Fill:
        line = view.after(view.find("link", name=title))
        return Fill(line.find("spinbutton").mark, quantity)

    return (write, press_beside(title, "button", "Update"))


def use_voucher(code: str) -> Moves:
    """Enter a code on the basket's page."""

    def write(view: View) -> Fill:
        fields = [each for each in view.all("textbox") if each.name != "Search"]
        return Fill(view.first(fields, "a field for the code").mark, code)

    return (press("I have a voucher code..."), write, push("Add voucher"))


def ship(view: View) -> Moves:
    """From the basket to a placed order, to an address that is known by its city."""
    city = view.read_one(r"(?:address in|live in|to) ([A-Z][a-z]+)\b")

    def choose_address(now: View) -> Click:
        place = now.first([node for node in now.page.nodes if node.name == city], city)
        buttons = [each for each in now.after(place).all("button") if "Ship to" in each.name]
        return Click(now.first(buttons, f"a button beside {city}").mark)

    return (press("Proceed to checkout"), choose_address, *pay(view))


def pay(view: View) -> Moves:
    """From the choice of how to ship to a placed order."""
    method = view.read_one(r"\b(Standard|Express)\b")
    choice = press_below(method, "button", "Select option")
    return (choice, press("Continue"), push("Place order"))


def fill_address(view: View) -> Moves:
    """The form for an address that stands in the goal, country last."""
    pattern = r": (\S+) (\S+), ([^,]+), ([^,]+), ([^,]+), ([^,.]+)\."
    *texts, country = view.read(pattern)
    fields = ("First name *", "Last name *", "First line of address *", "City *", "Post/Zip-code *")

    def choose_country(now: View) -> SelectOption | None:
        box = now.find("combobox", name="Country *")
        return None if box.value == country else SelectOption(box.mark, country)

    return (*(fill(name, text) for name, text in zip(fields, texts, strict=True)), choose_country)


def read_code(view: View) -> str:
    """Return the voucher code in the goal."""
    return view.read_one(r"\b([A-Z]+\d\d)\b")


def find_cheapest(view: View) -> str:
    """Return the title of what costs least of what is listed and in stock."""
    return min((cost, name) for name, cost, is_there in listed(view) if is_there)[1]


def add_cheapest(view: View) -> Click:
    """From the list itself, where every product in stock has a button."""
    named = view.all("link", name=find_cheapest(view))[-1]
    return view.after(named).click("button", name="Add to basket")


register_plans(
    {
        # Put one "Pebble Mug" into my basket.
        "shop-add": add_to_basket,
        # Put these into my basket, one of each: ...
        "shop-add-three": lambda *titles: tuple(
            move for title in titles for move in add_to_basket(title)
        ),
        # Put the cheapest product under "Mugs" that is in stock into my basket.
        "shop-add-cheapest": lambda category: (press(category), add_cheapest),
        # Take the "Pebble Mug" out of my basket.
        "shop-basket-remove": lambda title: (OPEN_BASKET, press_beside(title, "link", "Remove")),
        # Save the "Pebble Mug" in my basket for later.
        "shop-basket-save": lambda title: (
            OPEN_BASKET,
            press_beside(title, "link", "Save for later"),
        ),
        # Add the "Pebble Mug" to my wish list "Birthday ideas".
        "shop-wish-add": lambda title, wishes: (
            *open_product(title),
            press("Add to wish list"),
            press(f"Add to '{wishes}' wish list"),
        ),
        # Create a new wish list called "New flat", with nothing on it.
        "shop-wish-list": lambda name: (
            *account("Wish Lists"),
            press("Create a new wish list"),
            fill("Name *", name),
            push("Save"),
        ),
        # My last name is now "Berg". Change it in my profile.
        "shop-profile": lambda name: (
            press("Account"),
            press("Edit profile"),
            fill("Last name", name),
            push("Save"),
        ),
        # Ask the shop to notify me once the "Pebble Mug" is back in stock.
        "shop-alert": lambda title: (*open_product(title), push("Notify me")),
    }
)


@planned("shop-add-several")
def add_several(view: View) -> Moves:
    """`Put 3 pieces of the "Pebble Mug" into my basket.`"""
    title, quantity = quoted(view)[0], view.read_one(r"\b(\d+) (?:pieces )?of the")
    return (*add_to_basket(title), OPEN_BASKET, *set_quantity(title, quantity))


@planned("shop-add-size")
def add_size(view: View) -> Moves:
    """`Put one "Ember Shirt" in size Medium into my basket.`"""
    size = view.read_one(r"size (\w+)")
    return (*open_product(quoted(view)[0]), press(size), push("Add to basket"))


@planned("shop-basket-quantity")
def basket_quantity(view: View) -> Moves:
    """`Change the number of "Pebble Mug" in my basket to 4.`"""
    return (OPEN_BASKET, *set_quantity(quoted(view)[0], view.read_one(r"(?:to|\") (\d+)")))


@scripted("shop-basket-keep")
def basket_keep(view: View) -> Script:
    """`Remove everything from my basket but the "Pebble Mug".`"""
    kept = quoted(view)[0]
    view = yield from play(view, OPEN_BASKET)
    while True:
        nodes = [node for node in view.page.nodes if node.role in ("link", "spinbutton")]
        titles = [node.name for node, field in pairwise(nodes) if field.role == "spinbutton"]
        others = [title for title in titles if title != kept]
        if not others:
            return
        view = yield from play(view, press_beside(others[0], "link", "Remove"))


@planned("shop-basket-voucher")
def basket_voucher(view: View) -> Moves:
    """`Use the voucher code WELCOME10 on my basket.`"""
    return (OPEN_BASKET, *use_voucher(read_code(view)))


@planned("shop-reorder")
def reorder(view: View) -> Moves:
    """`Put everything of my order 10012 into the basket again.`"""
    number = view.read_one(r"order (\d+)")
    return (*account("Order History"), press(number), push("Re-order all items"))


@planned("shop-buy")
def buy(view: View) -> Moves:
    """`Order one "Pebble Mug" for me, to my address in York, with Express shipping.`"""
    return (*add_to_basket(quoted(view)[0]), OPEN_BASKET, *ship(view))


@scripted("shop-buy-cheapest")
def buy_cheapest(view: View) -> Script:
    """`Order 3 pieces of the cheapest product under "Mugs" that is in stock, ...`"""
    count = view.read_one(r"(\d+) (?:pieces )?of")
    view = yield from play(view, press(quoted(view)[0]))
    title = find_cheapest(view)
    yield from play(view, add_cheapest, OPEN_BASKET, *set_quantity(title, count), *ship(view))


@planned("shop-buy-two")
def buy_two(view: View) -> Moves:
    """`Order 3 pieces of the "Pebble Mug" and one "Glen Pan" together, ...`"""
    count = view.read_one(r"(\d+) (?:pieces of|times)")
    first, second = quoted(view)
    both = (*add_to_basket(first), *add_to_basket(second))
    return (*both, OPEN_BASKET, *set_quantity(first, count), *ship(view))


@planned("shop-buy-new-address")
def buy_new_address(view: View) -> Moves:
    """`Order one "Pebble Mug" with Express shipping to: Ines Duarte, ...`"""
    checkout = (OPEN_BASKET, press("Proceed to checkout"), *fill_address(view), push("Continue"))
    return (*add_to_basket(quoted(view)[0]), *checkout, *pay(view))


@planned("shop-buy-basket")
def buy_basket(view: View) -> Moves:
    """`Order what is in my basket as it is, to my address in Leeds, with Express shipping.`"""
    return (OPEN_BASKET, *ship(view))


@planned("shop-buy-voucher")
def buy_voucher(view: View) -> Moves:
    """`Order what is in my basket with the voucher code WELCOME10, ...`"""
    return (OPEN_BASKET, *use_voucher(read_code(view)), *ship(view))


def open_address(view: View, pattern: str, *menu: Move) -> Moves:
    """From any page: the menu beside the address of a city, which the goal names."""
    city = view.read_one(rf"(?:address in|{pattern}) (\w+)")
    return (*account("Address Book"), press_below(city, "button"), *menu)


@planned("shop-address-add")
def address_add(view: View) -> Moves:
    """`Add this address to my address book: Ines Duarte, ...`"""
    form = (press("Add a new address"), *fill_address(view), push("Save"))
    return (*account("Address Book"), *form)


@planned("shop-address-edit")
def address_edit(view: View) -> Moves:
    """`In my address book, change the first line of the address in York to "70 Hill Rise".`"""
    city, street = view.read_one(r"(?:address in|within) (\w+)"), quoted(view)[0]
    form = (fill("First line of address *", street), push("Save"))
    return (*account("Address Book"), press_below(city, "link", "Edit"), *form)


@planned("shop-address-delete")
def address_delete(view: View) -> Moves:
    """`Delete my address in York from the address book.`"""
    return open_address(view, "live in", press("Delete"), push("Delete"))


@planned("shop-address-default")
def address_default(view: View) -> Moves:
    """`Make the address in York my default for shipping.`"""
    return open_address(view, "sent to", press("Set as default shipping address"))


@planned("shop-review")
def review(view: View) -> Moves:
    """`Review the "Pebble Mug" for me: 4 out of 5, with the title "..." and the text "..."`"""
    (product, title, body), score = quoted(view), int(view.read_one(r"(\d) out of 5"))

    def give_stars(now: View) -> Click:
        return Click(now.first(now.all("generic")[score - 1 :], "the stars").mark)

    form = (give_stars, fill("Title *", title), fill("Body *", body), push("Save review"))
    return (*open_product(product), press("Write a review"), *form)


@planned("shop-wish-remove")
def wish_remove(view: View) -> Moves:
    """`Take the "Pebble Mug" off my wish list.`"""
    title = quoted(view)[0]

    def remove(now: View) -> Click:
        links = [link for link in now.all("link") if link.name.startswith("Remove")]
        return Click(now.first(links, "a link that removes").mark)

    def confirm(now: View) -> Click:
        buttons = [each for each in now.all("button") if each.name in ("Delete", "Remove")]
        return Click(now.first(buttons, "a button that confirms").mark)

    menu = (press("View"), press_beside(title, "button"), remove, confirm)
    return (*account("Wish Lists"), *menu)
