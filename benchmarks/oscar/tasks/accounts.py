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
from benchmarks.oscar.tasks.shopping import new_address, written
from benchmarks.oscar.tasks.template import (
    CHOICES,
    Row,
    added,
    changed,
    does,
    removed,
    sold,
    template,
)
from benchmarks.templates import TaskDraft


@template("shop-address-add", "newcomer", 10, "account form")
def address_add(draw: Random) -> TaskDraft:
    """The first entry of an address book."""
    address = new_address(draw)
    row: Row = {**address.row, "user_id": user_key(NEWCOMER)}
    return TaskDraft({"address": written(address)}, does({"address_useraddress": added(row)}))


@template("shop-address-edit", "customer", 6, "account form")
def address_edit(draw: Random) -> TaskDraft:
    """Another first line of an address."""
    place = draw.randrange(len(CUSTOMER.addresses))
    address, street = CUSTOMER.addresses[place], draw.choice(CHOICES["streets"])
    key: Row = {"id": address_key(CUSTOMER, place)}
    after: Row = {**address.row, **key, "line1": street}
    default: Row = {"is_default_for_shipping": int(place == 0)}
    pair = ({**address.row, **key}, {**after, **default})
    return TaskDraft(
        {"city": address.city, "street": street}, does({"address_useraddress": changed(pair)})
    )


@template("shop-address-delete", "customer", 6, "account confirm")
def address_delete(draw: Random) -> TaskDraft:
    """One entry less."""
    address = draw.choice(CUSTOMER.addresses)
    rows = {"address_useraddress": removed(address.row)}
    return TaskDraft({"city": address.city}, does(rows))


@template("shop-address-default", "customer", 5, "account")
def address_default(draw: Random) -> TaskDraft:
    """Another address that things are sent to by default."""
    place = draw.randint(1, 2)
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
    return TaskDraft({"city": city}, does({"address_useraddress": changed(*pairs)}))


@template("shop-review", "customer", 9, "search form")
def review(draw: Random) -> TaskDraft:
    """A review with stars, a title and a text."""
    product = draw.choice([each for each in products() if not each.sizes])
    (title, body), score = draw.choice(CHOICES["opinions"]), draw.randint(1, 5)
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
    return TaskDraft(
        {"product": product.title, "score": score, "title": title, "body": body}, does(rows)
    )


@template("shop-wish-add", "customer", 6, "search wishes")
def wish_add(draw: Random) -> TaskDraft:
    """A product more on a wish list."""
    wished = {each.title for each in wishes()}
    product = next(each for each in sold(draw, 4) if each.title not in wished)
    row: Row = {"wishlist_id": 1, "product_id": product_key(product), "quantity": 1}
    return TaskDraft(
        {"product": product.title, "wish_list": WISH_LIST}, does({"wishlists_line": added(row)})
    )


@template("shop-wish-remove", "customer", 6, "account wishes")
def wish_remove(draw: Random) -> TaskDraft:
    """A product less."""
    product = draw.choice(wishes())
    row: Row = {"wishlist_id": 1, "product_id": product_key(product)}
    return TaskDraft({"product": product.title}, does({"wishlists_line": removed(row)}))


@template("shop-wish-list", "customer", 6, "account form")
def wish_list(draw: Random) -> TaskDraft:
    """A new wish list."""
    name = draw.choice(CHOICES["wish_lists"])
    row: Row = {"name": name, "owner_id": user_key(CUSTOMER)}
    return TaskDraft({"name": name}, does({"wishlists_wishlist": added(row)}))


@template("shop-profile", "customer", 5, "account form")
def profile(draw: Random) -> TaskDraft:
    """Another last name."""
    name = draw.choice(("Berg", "Holmgren", "Sandstrom", "Lindqvist-Ray", "Nyman", "Ekdahl"))
    same: Row = {"first_name": CUSTOMER.first_name, "email": CUSTOMER.email}
    pair = ({**same, "last_name": CUSTOMER.last_name}, {**same, "last_name": name})
    return TaskDraft({"name": name}, does({"auth_user": changed(pair)}))


@template("shop-alert", "customer", 4, "search account")
def alert(draw: Random) -> TaskDraft:
    """A message is asked for once something is there again."""
    product = draw.choice([each for each in products() if not each.stock])
    row: Row = {
        "product_id": product_key(product),
        "user_id": user_key(CUSTOMER),
        "status": "Active",
    }
    return TaskDraft({"product": product.title}, does({"customer_productalert": added(row)}))
