"""What the shop sells, as plain data that needs no shop: the same on every machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

PRODUCTS_PER_CATEGORY = 8
SIZES = ("Small", "Medium", "Large")
SIZED = "Shirts"
"""The category whose products come in sizes, each with a stock of its own."""


@dataclass(frozen=True, slots=True)
class Category:
    """A shelf: products lie in categories of the second level only."""

    name: str
    parent: str
    noun: str
    """What one of its products is called."""
    materials: tuple[str, ...]
    cheapest: int
    """The lowest price in pence; the highest is four times that."""


@dataclass(frozen=True, slots=True)
class Product:
    """Something that can be bought; with sizes where `sizes` is not empty."""

    title: str
    upc: str
    category: str
    price: int
    """Pence."""
    stock: int
    """Pieces that can be bought; those of all sizes together."""
    colour: str
    material: str
    weight: int
    """Grams."""
    description: str
    sizes: tuple[int, ...] = ()
    """Pieces of each of `SIZES`."""

    @property
    def pounds(self) -> str:
        """The price as the shop writes it, as `£12.50`."""
        return pounds(self.price)


CATEGORIES = (
    Category("Mugs", "Kitchen", "Mug", ("stoneware", "porcelain", "enamel"), 650),
    Category("Kettles", "Kitchen", "Kettle", ("steel", "copper", "cast iron"), 1800),
    Category("Pans", "Kitchen", "Pan", ("cast iron", "steel", "aluminium"), 1500),
    Category("Knives", "Kitchen", "Knife", ("steel", "ceramic"), 900),
    Category("Lamps", "Home", "Lamp", ("brass", "oak", "linen"), 2400),
    Category("Cushions", "Home", "Cushion", ("linen", "wool", "cotton"), 1100),
    Category("Clocks", "Home", "Clock", ("brass", "oak", "slate"), 1900),
    Category("Planters", "Garden", "Planter", ("terracotta", "zinc", "oak"), 1200),
    Category("Garden Tools", "Garden", "Trowel", ("steel", "copper"), 700),
    Category("Seeds", "Garden", "Seed Box", ("paper", "tin"), 250),
    Category("Notebooks", "Stationery", "Notebook", ("paper", "leather", "linen"), 400),
    Category("Pens", "Stationery", "Pen", ("brass", "resin", "steel"), 300),
    Category("Desk Trays", "Stationery", "Desk Tray", ("oak", "leather", "steel"), 1000),
    Category("Rucksacks", "Outdoors", "Rucksack", ("canvas", "nylon"), 3500),
    Category("Tents", "Outdoors", "Tent", ("canvas", "nylon", "cotton"), 7000),
    Category("Lanterns", "Outdoors", "Lantern", ("tin", "brass", "glass"), 1300),
    Category("Puzzles", "Games", "Puzzle", ("wood", "card"), 800),
    Category("Board Games", "Games", "Board Game", ("wood", "card"), 1600),
    Category("Shirts", "Clothing", "Shirt", ("cotton", "linen", "flannel"), 2200),
    Category("Scarves", "Clothing", "Scarf", ("wool", "silk", "cotton"), 1400),
    Category("Socks", "Clothing", "Socks", ("wool", "cotton", "bamboo"), 500),
)
PARENTS = tuple(dict.fromkeys(category.parent for category in CATEGORIES))

_NAMES = (
    *("Alder", "Beacon", "Cedar", "Dunmore", "Ember", "Fenwick", "Glen", "Heron", "Isla"),
    *("Juniper", "Kestrel", "Linden", "Marlow", "Norden", "Oakley", "Pebble", "Quarry", "Rowan"),
    *("Saffron", "Thistle", "Umber", "Verity", "Willow", "Yarrow"),
)
_COLOURS = ("black", "blue", "cream", "green", "grey", "orange", "red", "white", "yellow")
_REMARKS = (
    "Made in small batches and checked by hand.",
    "A plain design that has not changed in years.",
    "Comes in a box made from recycled card.",
    "Designed to be repaired rather than replaced.",
)


@cache
def products() -> tuple[Product, ...]:
    """Return all of them, category by category. In a category no two have one price."""
    draw = Random("catalogue")
    made = []
    for place, category in enumerate(CATEGORIES):
        names = draw.sample(_NAMES, PRODUCTS_PER_CATEGORY)
        steps = draw.sample(range(0, 3 * category.cheapest, 5), PRODUCTS_PER_CATEGORY)
        for at, (name, step) in enumerate(zip(names, steps, strict=True), 1):
            colour, material = draw.choice(_COLOURS), draw.choice(category.materials)
            stock = 0 if draw.random() < 0.15 else draw.randint(8, 60)
            sizes: tuple[int, ...] = ()
            if category.name == SIZED:
                sizes = tuple(draw.randint(6, 30) for _ in SIZES)
                stock = sum(sizes)
            thing = f"{name} {category.noun.lower()} in {colour} {material}"
            made.append(
                Product(
                    title=f"{name} {category.noun}",
                    upc=f"{place + 10}{at:02}{draw.randint(1000, 9999)}",
                    category=category.name,
                    price=category.cheapest + step,
                    stock=stock,
                    colour=colour,
                    material=material,
                    weight=draw.randrange(50, 3000, 10),
                    description=f"The {thing}. {draw.choice(_REMARKS)}",
                    sizes=sizes,
                )
            )
    return tuple(made)


def category(name: str) -> Category:
    """Return the category of this name. Raises `LookupError`."""
    for each in CATEGORIES:
        if each.name == name:
            return each
    raise LookupError(f"the shop has no category called {name!r}")


def products_of(name: str) -> list[Product]:
    """Return what lies in a category, or in all categories below a parent."""
    return [each for each in products() if name in (each.category, category(each.category).parent)]


def pounds(pence: int) -> str:
    """Return an amount as the shop writes it."""
    return f"£{pence // 100:,}.{pence % 100:02}"


def decimal(pence: int) -> str:
    """Return an amount as the database has it."""
    return f"{pence // 100}.{pence % 100:02}"


def cheapest(among: Sequence[Product]) -> Product:
    """Return the one with the lowest price."""
    return min(among, key=lambda each: each.price)


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
