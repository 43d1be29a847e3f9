"""The primary keys that rows have in the database: by the order in which they are made."""

from functools import cache

from benchmarks.oscar.site.catalogue import (
    CATEGORIES,
    OFFERS,
    PARENTS,
    RANGES,
    SIZES,
    VOUCHERS,
    Product,
    products,
)
from benchmarks.oscar.site.people import EVERYONE, Order, Person, orders, reviews


@cache
def _products() -> dict[str, tuple[int, int]]:
    """By UPC, sizes with the UPC that the shop gives them: product and stock record."""
    found: dict[str, tuple[int, int]] = {}
    product = record = 0
    for each in products():
        product += 1
        if not each.sizes:
            record += 1
            found[each.upc] = (product, record)
            continue
        found[each.upc] = (product, 0)
        for place in range(len(SIZES)):
            product, record = product + 1, record + 1
            found[f"{each.upc}{place}"] = (product, record)
    return found


def _upc(product: Product, size: str) -> str:
    return f"{product.upc}{SIZES.index(size)}" if size else product.upc


def product_key(product: Product, size: str = "") -> int:
    """Of `catalogue_product`."""
    return _products()[_upc(product, size)][0]


def record_key(product: Product, size: str = "") -> int:
    """Of `partner_stockrecord`."""
    return _products()[_upc(product, size)][1]


def category_key(name: str) -> int:
    """Of `catalogue_category`."""
    return 1 + [*PARENTS, *(each.name for each in CATEGORIES)].index(name)


def user_key(person: Person) -> int:
    """Of `auth_user`."""
    return 1 + EVERYONE.index(person)


def order_key(order: Order) -> int:
    """Of `order_order`."""
    return 1 + orders().index(order)


def basket_key(person: Person) -> int:
    """Of `basket_basket`: the one that is open."""
    return len(orders()) + user_key(person)


def address_key(person: Person, place: int) -> int:
    """Of `address_useraddress`."""
    before = EVERYONE[: EVERYONE.index(person)]
    return 1 + place + sum(len(each.addresses) for each in before)


def review_key(place: int) -> int:
    """Of `reviews_productreview`, by its place among all reviews."""
    return range(1, len(reviews()) + 1)[place]


def range_key(name: str) -> int:
    """Of `offer_range`, of those that no offer uses."""
    return 2 + RANGES.index(name)


def offer_key(name: str) -> int:
    """Of `offer_conditionaloffer`."""
    return 1 + [offer.name for offer in OFFERS].index(name)


def voucher_key(code: str) -> int:
    """Of `voucher_voucher`."""
    return 1 + [voucher.code for voucher in VOUCHERS].index(code)
