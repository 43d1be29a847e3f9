"""Generated products and instructions in the form of WebShop's published files: made up, and the
same on every machine."""

from dataclasses import dataclass
from itertools import product as combine
from random import Random
from typing import Any

PER_KIND = 40
INSTRUCTIONS = 2
"""For each product, as a thousand published products have some."""


@dataclass(frozen=True, slots=True)
class ShopKind:
    """Products that are found by one query and differ in brand, attributes, options and price."""

    category: str
    path: str
    """Categories below it, with › between."""
    noun: str
    attributes: tuple[str, ...]
    options: tuple[tuple[str, tuple[str, ...]], ...]
    cheapest: int
    """Dollars; the dearest is five times that."""


COLOURS = ("black", "navy blue", "ivory", "olive green", "dark red", "light gray", "teal", "rose")
SIZES = ("small", "medium", "large", "x-large", "xx-large")
_HAIR = ("sulfate free", "paraben free", "cruelty free", "long lasting", "tea tree", "dry hair")
_SKIN = ("fragrance free", "dermatologist tested", "sensitive skin", "cruelty free", "hyaluronic")
_FOOD = ("gluten free", "low sodium", "non gmo", "dairy free", "keto friendly", "soy free")
_HOME = ("easy clean", "space saving", "solid wood", "easy assemble", "memory foam", "heavy duty")
_POWER = ("high speed", "fast charging", "noise cancelling", "easy install", "water resistant")
_WEAR = (
    "machine wash",
    "quick drying",
    "relaxed fit",
    "long sleeve",
    "stretch fabric",
    "day comfort",
)
_COLOUR, _SIZE = ("color", COLOURS), ("size", SIZES)

KINDS = (
    ShopKind(
        "beauty",
        "Hair Care › Shampoo",
        "shampoo",
        _HAIR,
        (
            ("size", ("8 fl oz", "16 fl oz", "32 fl oz")),
            ("scent", ("mint", "coconut", "unscented")),
        ),
        6,
    ),
    ShopKind(
        "beauty",
        "Hair Care › Styling",
        "styling cream",
        _HAIR,
        (("size", ("2 ounce", "4 ounce")),),
        5,
    ),
    ShopKind(
        "beauty",
        "Skin Care › Face",
        "face moisturizer",
        _SKIN,
        (("size", ("1.7 ounce", "3.4 ounce")),),
        8,
    ),
    ShopKind(
        "beauty",
        "Skin Care › Sun",
        "sunscreen lotion",
        _SKIN,
        (("style", ("spf 30", "spf 50")),),
        7,
    ),
    ShopKind("beauty", "Makeup › Lips", "lipstick", _SKIN, (_COLOUR,), 4),
    ShopKind(
        "grocery",
        "Snacks › Chips",
        "potato chips",
        _FOOD,
        (
            ("flavor name", ("sea salt", "barbecue", "vinegar")),
            ("size", ("pack of 6", "pack of 12")),
        ),
        9,
    ),
    ShopKind(
        "grocery", "Beverages › Tea", "green tea", _FOOD, (("size", ("20 count", "100 count")),), 5
    ),
    ShopKind(
        "grocery",
        "Snacks › Bars",
        "protein bars",
        _FOOD,
        (("flavor name", ("peanut butter", "dark chocolate", "lemon")),),
        12,
    ),
    ShopKind(
        "grocery", "Pantry › Sauces", "pasta sauce", _FOOD, (("size", ("16 ounce", "24 ounce")),), 4
    ),
    ShopKind(
        "grocery",
        "Bakery › Cookies",
        "oat cookies",
        _FOOD,
        (("flavor name", ("raisin", "chocolate chip", "ginger")),),
        6,
    ),
    ShopKind("garden", "Furniture › Living Room", "ottoman bench", _HOME, (_COLOUR,), 60),
    ShopKind(
        "garden",
        "Furniture › Bedroom",
        "mattress topper",
        _HOME,
        (("size", ("twin", "full", "queen", "king")),),
        70,
    ),
    ShopKind(
        "garden",
        "Bedding › Pillows",
        "pillow cover",
        _HOME,
        (_COLOUR, ("size", ("18x18", "20x20"))),
        8,
    ),
    ShopKind(
        "garden",
        "Storage › Shelves",
        "wall shelf",
        _HOME,
        (_COLOUR, ("size", ("2 tier", "3 tier", "5 tier"))),
        20,
    ),
    ShopKind("garden", "Lighting › Lamps", "table lamp", _HOME, (_COLOUR,), 18),
    ShopKind("electronics", "Audio › Headphones", "wireless earbuds", _POWER, (_COLOUR,), 25),
    ShopKind(
        "electronics",
        "Accessories › Cables",
        "usb cable",
        _POWER,
        (_COLOUR, ("size", ("3 ft", "6 ft", "10 ft"))),
        6,
    ),
    ShopKind("electronics", "Audio › Speakers", "bluetooth speaker", _POWER, (_COLOUR,), 22),
    ShopKind(
        "electronics",
        "Accessories › Chargers",
        "power bank",
        _POWER,
        (("capacity", ("10000 mah", "20000 mah")),),
        16,
    ),
    ShopKind(
        "electronics",
        "Video › Mounts",
        "tv mount",
        _POWER,
        (("size", ("32 inch", "55 inch", "75 inch")),),
        24,
    ),
    ShopKind("fashion", "Women › Dresses", "summer dress", _WEAR, (_COLOUR, _SIZE), 19),
    ShopKind("fashion", "Men › Shirts", "polo shirt", _WEAR, (_COLOUR, _SIZE), 15),
    ShopKind("fashion", "Men › Active", "workout sweatpants", _WEAR, (_COLOUR, _SIZE), 21),
    ShopKind(
        "fashion",
        "Women › Shoes",
        "walking sandals",
        _WEAR,
        (_COLOUR, ("size", ("6", "7", "8", "9"))),
        23,
    ),
    ShopKind("fashion", "Women › Sleep", "pajama set", _WEAR, (_COLOUR, _SIZE), 17),
)

_FIRST = ("Ava", "Bel", "Cor", "Dal", "Elm", "Fen", "Gar", "Hol", "Ivo", "Jun")
_SECOND = ("rion", "lane", "mark", "tex", "vale")
_BRANDS = tuple(a + b for a, b in combine(_FIRST, _SECOND))
_SENTENCES = (
    "i am looking for {noun} that is {attributes}{options}",
    "i need {attributes} {noun}{options}",
    "find me {noun}, {attributes}{options}",
    "i want to buy {attributes} {noun}{options}",
)


def generate_files() -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """Return the items, their attributes by id, and the instructions by id."""
    draw = Random("webshop@1")
    items: list[Any] = []
    attributes: dict[str, Any] = {}
    instructions: dict[str, Any] = {}
    for kind in KINDS:
        for brand in draw.sample(_BRANDS, PER_KIND):
            asin = f"B{len(items):09}"
            has = draw.sample(kind.attributes, draw.randint(2, 4))
            items.append(_item(draw, kind, brand, asin, has))
            attributes[asin] = {"attributes": has}
            instructions[asin] = []
            for _ in range(INSTRUCTIONS):
                asked = draw.sample(has, draw.randint(1, 2))
                chosen = [(name, draw.choice(values)) for name, values in kind.options]
                wanted = "".join(f", {name} {value}" for name, value in chosen)
                sentence = draw.choice(_SENTENCES).format(
                    noun=kind.noun, attributes=" and ".join(asked), options=wanted
                )
                instructions[asin].append(
                    {
                        "instruction": sentence,
                        "instruction_attributes": asked,
                        "instruction_options": [value for _, value in chosen],
                    }
                )
    draw.shuffle(items)
    return items, attributes, instructions


def _item(draw: Random, kind: ShopKind, brand: str, asin: str, has: list[str]) -> dict[str, Any]:
    shown, *others = has
    price = draw.randrange(100 * kind.cheapest, 500 * kind.cheapest, 5) / 100
    return {
        "asin": asin,
        "name": f"{brand} {kind.noun.title()}, {shown.title()}",
        "nouns": [brand.lower(), *kind.noun.split()],
        "category": kind.category,
        "query": kind.noun,
        "product_category": f"{kind.category.title()} › {kind.path}",
        "full_description": f"{brand} {kind.noun}: {', '.join(others)}.",
        "small_description": [each.capitalize() for each in has],
        "pricing": f"${price:.2f}",
        "customization_options": {
            name: [{"value": value} for value in values] for name, values in kind.options
        },
    }
