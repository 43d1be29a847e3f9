"""Templates about what belongs to a customer: addresses, wish lists, reviews, the profile."""

from random import Random

from benchmarks.oscar.site.catalogue import products
from benchmarks.oscar.site.people import (
    CUSTOMER,
    NEWCOMER,
    WISH_LIST,
    address_key,
    product_key,
    user_key,
    wishes,
)
from benchmarks.oscar.tasks.shopping import address_row, new_address, written
from benchmarks.oscar.tasks.template import (
    Row,
    ShopTask,
    added,
    changed,
    does,
    one,
    removed,
    sold,
    template,
)

_OPINIONS = (
    ("Better than expected", "It does what it should and looks good on the table."),
    ("Not for me", "It is smaller than I thought and the lid does not close."),
    ("Good value", "For this price there is nothing better."),
    ("Bought it twice", "The first one went to my sister, who would not give it back."),
    ("Arrived broken", "One corner was chipped when I opened the parcel."),
)
_LISTS = ("New flat", "For the garden", "Grandmother", "Summer house", "Office", "Camping trip")
_STREETS = ("9 Tanner Street", "18 Priory Lane", "70 Hill Rise", "4 Weavers Yard", "21 Dock Road")


@template("shop-address-add", "newcomer", 10, "account", "form")
def address_add(draw: Random) -> ShopTask:
    """The first entry of an address book."""
    address = new_address(draw)
    goal = one(
        draw,
        "Add this address to my address book: {}.",
        "I will order later. Put this into my address book for then: {}.",
    )
    row: Row = {**address_row(address), "user_id": user_key(NEWCOMER)}
    return does(goal.format(written(address)), {"address_useraddress": added(row)})


@template("shop-address-edit", "customer", 6, "account", "form")
def address_edit(draw: Random) -> ShopTask:
    """Another first line of an address."""
    place = draw.randrange(len(CUSTOMER.addresses))
    address, street = CUSTOMER.addresses[place], draw.choice(_STREETS)
    goal = one(
        draw,
        'In my address book, change the first line of the address in {} to "{}".',
        'I have moved within {}: the first line of that address is now "{}". Correct it in my'
        " address book.",
    )
    key: Row = {"id": address_key(CUSTOMER, place)}
    after: Row = {**address_row(address), **key, "line1": street}
    default: Row = {"is_default_for_shipping": int(place == 0)}
    pair = ({**address_row(address), **key}, {**after, **default})
    return does(goal.format(address.city, street), {"address_useraddress": changed(pair)})


@template("shop-address-delete", "customer", 6, "account", "confirm")
def address_delete(draw: Random) -> ShopTask:
    """One entry less."""
    address = draw.choice(CUSTOMER.addresses)
    goal = one(
        draw,
        "Delete my address in {} from the address book.",
        "I do not live in {} any more: remove that address from my account.",
    )
    rows = {"address_useraddress": removed(address_row(address))}
    return does(goal.format(address.city), rows)


@template("shop-address-default", "customer", 5, "account")
def address_default(draw: Random) -> ShopTask:
    """Another address that things are sent to by default."""
    place = draw.randint(1, 2)
    goal = one(
        draw,
        "Make the address in {} my default for shipping.",
        "From now on things should be sent to {} by default: set my shipping address so.",
    )
    pairs: list[tuple[Row, Row]] = [
        (
            {"id": address_key(CUSTOMER, at), "is_default_for_shipping": int(at == 0)},
            {
                "line1": CUSTOMER.addresses[at].line1,
                "is_default_for_billing": 0,
                "is_default_for_shipping": int(at == place),
            },
        )
        for at in (0, place)
    ]
    city = CUSTOMER.addresses[place].city
    return does(goal.format(city), {"address_useraddress": changed(*pairs)})


@template("shop-review", "customer", 9, "search", "form")
def review(draw: Random) -> ShopTask:
    """A review with stars, a title and a text."""
    product = draw.choice([each for each in products() if not each.sizes])
    (title, body), score = draw.choice(_OPINIONS), draw.randint(1, 5)
    goal = one(
        draw,
        'Review the "{}" for me: {} out of 5, with the title "{}" and the text "{}"',
        'Write a review of the "{}". Give it {} out of 5, call it "{}" and write "{}"',
    ).format(product.title, score, title, body)
    row: Row = {
        "product_id": product_key(product),
        "user_id": user_key(CUSTOMER),
        "score": score,
        "title": title,
        "body": body,
    }
    rows: dict[str, Row | list[str]] = {
        "reviews_productreview": added(row),
        "may": ["catalogue_product"],
    }
    return does(goal, rows)


@template("shop-wish-add", "customer", 6, "search", "wishes")
def wish_add(draw: Random) -> ShopTask:
    """A product more on a wish list."""
    wished = {each.title for each in wishes()}
    product = next(each for each in sold(draw, 4) if each.title not in wished)
    goal = one(
        draw,
        'Add the "{}" to my wish list "{}".',
        'Put the "{}" on the list of things I wish for, the one called "{}".',
    )
    row: Row = {"wishlist_id": 1, "product_id": product_key(product), "quantity": 1}
    return does(goal.format(product.title, WISH_LIST), {"wishlists_line": added(row)})


@template("shop-wish-remove", "customer", 6, "account", "wishes")
def wish_remove(draw: Random) -> ShopTask:
    """A product less."""
    product = draw.choice(wishes())
    goal = one(
        draw,
        'Take the "{}" off my wish list.',
        'Somebody gave me the "{}", so remove it from my wish list.',
    )
    row: Row = {"wishlist_id": 1, "product_id": product_key(product)}
    return does(goal.format(product.title), {"wishlists_line": removed(row)})


@template("shop-wish-list", "customer", 6, "account", "form")
def wish_list(draw: Random) -> ShopTask:
    """A new wish list."""
    name = draw.choice(_LISTS)
    goal = one(
        draw,
        'Create a new wish list called "{}", with nothing on it.',
        'I want a second wish list. Make one with the name "{}" and leave it empty.',
    )
    row: Row = {"name": name, "owner_id": user_key(CUSTOMER)}
    return does(goal.format(name), {"wishlists_wishlist": added(row)})


@template("shop-profile", "customer", 5, "account", "form")
def profile(draw: Random) -> ShopTask:
    """Another last name."""
    name = draw.choice(("Berg", "Holmgren", "Sandstrom", "Lindqvist-Ray", "Nyman", "Ekdahl"))
    goal = one(
        draw,
        'My last name is now "{}". Change it in my profile.',
        'Set the last name of my account to "{}"; first name and email stay.',
    )
    same: Row = {"first_name": CUSTOMER.first_name, "email": CUSTOMER.email}
    pair = ({**same, "last_name": CUSTOMER.last_name}, {**same, "last_name": name})
    return does(goal.format(name), {"auth_user": changed(pair)})


@template("shop-alert", "customer", 4, "search", "account")
def alert(draw: Random) -> ShopTask:
    """A message is asked for once something is there again."""
    product = draw.choice([each for each in products() if not each.stock])
    goal = one(
        draw,
        'The "{}" is sold out. See to it that I am told when it is there again.',
        'Ask the shop to notify me once the "{}" is back in stock.',
    )
    row: Row = {
        "product_id": product_key(product),
        "user_id": user_key(CUSTOMER),
        "status": "Active",
    }
    return does(goal.format(product.title), {"customer_productalert": added(row)})
