"""Offers, vouchers and ranges that the shop begins with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Offer:
    """A discount on one category that applies to every basket while it is open."""

    name: str
    category: str
    percent: int
    is_open: bool


@dataclass(frozen=True, slots=True)
class Voucher:
    """A code that customers may enter: so many per cent off everything."""

    name: str
    code: str
    percent: int
    ends: int
    """The last year in which it can be used."""


OFFERS = (
    Offer("Lantern weeks", "Lanterns", 15, True),
    Offer("Sow now", "Seeds", 20, True),
    Offer("Warm feet", "Socks", 10, False),
    Offer("Brew up", "Kettles", 12, False),
    Offer("Desk tidy", "Desk Trays", 25, False),
    Offer("Rainy days", "Board Games", 8, False),
)
VOUCHERS = (
    Voucher("Welcome", "WELCOME10", 10, 2099),
    Voucher("Autumn letter", "AUTUMN15", 15, 2099),
    Voucher("Friends of the shop", "FRIENDS20", 20, 2099),
    Voucher("Spring sale", "SPRING25", 25, 2024),
)
RANGES = ("Gifts under 20", "Staff picks", "Summer window", "Made of oak")
"""Ranges that no offer uses, with no products to begin with."""
PAGES = (("Delivery", "/delivery/"), ("Returns", "/returns/"), ("About us", "/about/"))
"""Title and address of pages that staff may write."""
DISCOUNTED = frozenset(offer.category for offer in OFFERS if offer.is_open)
"""Categories whose prices in a basket are not those on the shelf."""
