"""Who buys and works at the shop, what was ordered and said of it, and the keys of these rows."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random

from benchmarks.oscar.site.catalogue import (
    CATEGORIES,
    OFFERS,
    PARENTS,
    RANGES,
    SIZED,
    SIZES,
    VOUCHERS,
    Product,
    category,
    products,
)

PASSWORD = "lantern-street-7"
"""Of every account; the accounts are made up."""
STATUSES = ("Pending", "Being processed", "Complete", "Cancelled")
NEXT_STATUSES = {
    "Pending": ("Being processed", "Cancelled"),
    "Being processed": ("Complete", "Cancelled"),
    "Complete": (),
    "Cancelled": (),
}
SHIPPING = {"standard": ("Standard", 350), "express": ("Express", 790)}
"""By code: the name at the checkout and the charge in pence."""
FIRST_ORDER = 10001
OPENED = datetime(2025, 1, 6, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Address:
    """An entry of an address book, in Great Britain."""

    first_name: str
    last_name: str
    line1: str
    city: str
    postcode: str
    phone: str = ""

    @property
    def row(self) -> dict[str, str]:
        """Return it as a row of any table of addresses."""
        return {
            "first_name": self.first_name,
            "last_name": self.last_name,
            "line1": self.line1,
            "line4": self.city,
            "postcode": self.postcode,
            "country_id": "GB",
        }


@dataclass(frozen=True, slots=True)
class ShopUser:
    """Someone with an account."""

    first_name: str
    last_name: str
    email: str
    addresses: tuple[Address, ...] = ()
    """The first is the default for shipping."""
    is_staff: bool = False

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first_name} {self.last_name}"


@dataclass(frozen=True, slots=True)
class ShopOrder:
    """What somebody ordered."""

    number: str
    buyer: ShopUser
    placed: datetime
    lines: tuple[tuple[Product, int], ...]
    status: str
    shipping: str
    """A key of `SHIPPING`."""

    @property
    def total(self) -> int:
        """Pence, shipping included."""
        goods = sum(product.price * quantity for product, quantity in self.lines)
        return goods + SHIPPING[self.shipping][1]


@dataclass(frozen=True, slots=True)
class Review:
    """What a customer says of a product."""

    product: Product
    author: ShopUser
    score: int
    title: str
    body: str
    is_approved: bool


def _lives(first: str, last: str, *places: tuple[str, str, str]) -> ShopUser:
    addresses = tuple(
        Address(first, last, line1, city, postcode, f"+4420794601{10 + at}")
        for at, (line1, city, postcode) in enumerate(places)
    )
    return ShopUser(first, last, f"{first}.{last}@example.com".lower(), addresses)


CUSTOMER = _lives(
    *("Maya", "Lindqvist"),
    *(("12 Harbour Row", "Bristol", "BS1 4ND"), ("3 Mill Lane", "York", "YO1 7HH")),
    ("Flat 5, 40 Quay Street", "Cardiff", "CF10 1EA"),
)
SHOPPER = _lives(
    *("Tom", "Ashby", ("8 Elm Grove", "Leeds", "LS6 2AB")), ("27 Castle Road", "Norwich", "NR2 1PE")
)
NEWCOMER = ShopUser("Ines", "Duarte", "ines.duarte@example.com")
STAFF = ShopUser("Robin", "Keller", "robin.keller@example.com", is_staff=True)
OTHERS = (
    _lives("Agnes", "Birch", ("1 Station Road", "Leicester", "LE1 1AA")),
    _lives("Boris", "Dale", ("22 North Street", "Exeter", "EX4 3SY")),
    _lives("Clara", "Eastwood", ("9 Chapel Hill", "Derby", "DE1 3GU")),
    _lives("Dylan", "Frost", ("15 Park View", "Swansea", "SA1 3SN")),
    _lives("Edith", "Garner", ("31 Bridge End", "Durham", "DH1 3AQ")),
    _lives("Felix", "Holm", ("6 Orchard Close", "Reading", "RG1 2AG")),
    _lives("Greta", "Ivers", ("77 Kings Parade", "Cambridge", "CB2 1SJ")),
    _lives("Hugo", "Jarvis", ("4 Victoria Square", "Preston", "PR1 2LL")),
    _lives("Irene", "Kemp", ("18 Meadow Way", "Lincoln", "LN2 1HN")),
    _lives("Jonas", "Lowe", ("53 High Street", "Oxford", "OX1 4AH")),
)
EVERYONE = (CUSTOMER, SHOPPER, NEWCOMER, STAFF, *OTHERS)

BASKET = (("Knives", 0, 1), ("Pens", 1, 3), ("Cushions", 2, 2), ("Puzzles", 3, 1))
"""What lies in the shopper's basket: category, place among what is in stock there, pieces."""
WISHES = (("Tents", 0), ("Clocks", 1), ("Scarves", 2))
"""What is on the customer's wish list, in the same way."""
WISH_LIST = "Birthday ideas"


def available(name: str) -> list[Product]:
    """Return what of a category is in stock."""
    return [each for each in products() if each.category == name and each.stock]


def basket() -> list[tuple[Product, int]]:
    """Return the lines of the shopper's basket."""
    return [(available(name)[place], quantity) for name, place, quantity in BASKET]


def wishes() -> list[Product]:
    """Return what is on the customer's wish list."""
    return [available(name)[place] for name, place in WISHES]


@cache
def orders() -> tuple[ShopOrder, ...]:
    """Return all orders, oldest first: 16 by the customer, 40 by others; several days apart."""
    draw = Random("orders")
    buyers = [CUSTOMER] * 16 + [draw.choice(OTHERS) for _ in range(40)]
    draw.shuffle(buyers)
    sold = [each for each in products() if each.stock and each.category != SIZED]
    placed, made = OPENED, []
    for at, buyer in enumerate(buyers):
        placed += timedelta(days=draw.randint(2, 8), minutes=draw.randint(0, 400))
        kinds = draw.sample(sold, draw.randint(1, 4))
        lines = tuple((kind, draw.choice((1, 1, 1, 2, 3))) for kind in kinds)
        if draw.random() < 0.12:
            status = "Cancelled"
        elif at < 0.5 * len(buyers):
            status = "Complete"
        else:
            status = draw.choice(("Pending", "Pending", "Being processed"))
        made.append(
            ShopOrder(
                number=str(FIRST_ORDER + at),
                buyer=buyer,
                placed=placed,
                lines=lines,
                status=status,
                shipping=draw.choice(tuple(SHIPPING)),
            )
        )
    return tuple(made)


def orders_of(buyer: ShopUser) -> list[ShopOrder]:
    """Somebody's orders, oldest first."""
    return [order for order in orders() if order.buyer == buyer]


_PRAISE = ("Lovely", "Well made", "Perfect", "Sturdy", "Beautiful")
_BLAME = ("Disappointing", "Flimsy", "Unexpected", "Scratched")
_WHYS = (
    "I use it every day and would miss it.",
    "It was a present and went down well.",
    "The colour is a little different from the picture.",
    "It took a week to arrive.",
    "I have had it for three months now.",
)


@cache
def reviews() -> tuple[Review, ...]:
    """Return one to three for half of the products; those waiting for approval have others."""
    draw = Random("reviews")
    made = []
    for product in products():
        if draw.random() < 0.5:
            continue
        noun = category(product.category).noun.lower()
        for author in draw.sample(OTHERS, draw.randint(1, 3)):
            score = draw.randint(1, 5)
            word = draw.choice(_PRAISE if score >= 3 else _BLAME)
            title, body = f"{word} {noun}", draw.choice(_WHYS)
            made.append(Review(product, author, score, title, body, draw.random() < 0.85))
    return tuple(made)


@cache
def _number_products() -> dict[str, tuple[int, int]]:
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
    return _number_products()[_upc(product, size)][0]


def record_key(product: Product, size: str = "") -> int:
    """Of `partner_stockrecord`."""
    return _number_products()[_upc(product, size)][1]


def category_key(name: str) -> int:
    """Of `catalogue_category`."""
    return 1 + [*PARENTS, *(each.name for each in CATEGORIES)].index(name)


def user_key(person: ShopUser) -> int:
    """Of `auth_user`."""
    return 1 + EVERYONE.index(person)


def order_key(order: ShopOrder) -> int:
    """Of `order_order`."""
    return 1 + orders().index(order)


def basket_key(person: ShopUser) -> int:
    """Of `basket_basket`: the one that is open."""
    return len(orders()) + user_key(person)


def address_key(person: ShopUser, place: int) -> int:
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
