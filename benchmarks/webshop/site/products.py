"""What WebShop sells and what is wanted of it, read from its published files (arXiv 2207.01206),
which are in no package: `WEBAGENT_WEBSHOP_DATA` names their folder."""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from webagent.errors import SetupError

VARIABLE = "WEBAGENT_WEBSHOP_DATA"
STEMS = ("items_shuffle", "items_ins_v2", "items_human_ins")
NO_LIMIT = 1_000_000.0
"""Price up to which anything goes, in dollars."""
_NO_ATTRIBUTE = "DUMMY_ATTR"
_NOUNS = frozenset({"NOUN", "PROPN"})
_ID_LENGTH = 10


@dataclass(frozen=True, slots=True)
class ShopProduct:
    """A product as the reward looks at it."""

    asin: str
    name: str
    query: str
    """What its data were once found by; products of one query are of one kind."""
    product_category: str
    """From wide to narrow, with › between."""
    description: str
    features: tuple[str, ...]
    attributes: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    price: float
    """Dollars."""
    price_tag: str
    nouns: tuple[str, ...]
    """Of its name, in lower case."""


@dataclass(frozen=True, slots=True)
class ShopGoal:
    """What somebody wants to buy."""

    product: ShopProduct
    """The one that it was written for; any other that fits as well is worth as much."""
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    price_upper: float
    """Dollars."""


def find_data() -> Path:
    """Return the folder of the published files. Raises `SetupError`."""
    folder = Path(os.environ.get(VARIABLE) or os.devnull)
    lacking = [stem for stem in STEMS if not list(folder.glob(f"{stem}*.json"))]
    if lacking:
        raise SetupError(
            f"WebShop's published products are needed and {folder} has no {lacking[0]}*.json; name"
            " the folder of items_shuffle_1000.json, items_ins_v2_1000.json and"
            f" items_human_ins.json in {VARIABLE}"
        )
    return folder


@cache
def load_products() -> tuple[ShopProduct, ...]:
    """Return all products as the published loader takes them: each id once, options in lower case.

    Raises `SetupError` and `ValueError`.
    """
    items, attributes, _ = _files()
    find_nouns, products = _find_nouns(), dict[str, ShopProduct]()
    for item in items:
        asin = item["asin"]
        if asin == "nan" or len(asin) > _ID_LENGTH or asin in products:
            continue
        features = item["small_description"]
        prices = [
            float(re.sub(r"[^\d.]", "", each)) for each in (item["pricing"] or "").split("$")[1:]
        ][:2] or [100.0]
        products[asin] = ShopProduct(
            asin=asin,
            name=item["name"],
            query=item["query"].lower().strip(),
            product_category=item["product_category"],
            description=item["full_description"],
            features=tuple(features) if isinstance(features, list) else (features,),
            attributes=tuple(attributes.get(asin, {}).get("attributes", [_NO_ATTRIBUTE])),
            options={
                name.lower(): tuple(
                    each["value"].strip().replace("/", " | ").lower() for each in contents
                )
                for name, contents in (item["customization_options"] or {}).items()
                if contents is not None
            },
            price=round(Random(asin).uniform(min(prices), max(prices)), 2),
            price_tag=" to ".join(f"${price}" for price in prices),
            nouns=find_nouns(item["name"]),
        )
    return tuple(products.values())


@cache
def load_goals() -> tuple[ShopGoal, ...]:
    """Return all goals in the published order: shuffled by the published seed. Raises `SetupError`
    and `ValueError`.

    What the published code samples anew at each start, the bound on the price, is sampled by
    product and place here, so that a goal is the same every time.
    """
    instructions = _files()[2]
    goals = []
    for product in load_products():
        above = [10.0 * tens for tens in range(1, 100) if 10.0 * tens > product.price][:4]
        for place, each in enumerate(instructions.get(product.asin, ())):
            if not each["instruction_attributes"]:
                continue
            limit, bound = NO_LIMIT, ""
            if len(above) >= 2:
                limit = max(Random(f"{product.asin} {place}").sample(above, 2))
                bound = f", and price lower than {limit:.2f} dollars"
            goals.append(
                ShopGoal(
                    product,
                    each["instruction"].strip(".") + bound,
                    tuple(each["instruction_attributes"]),
                    tuple(each["instruction_options"]),
                    limit,
                )
            )
    Random(233).shuffle(goals)
    return tuple(goals)


@cache
def _files() -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """Return the items, their attributes by id, and the instructions by id."""
    folder = find_data()
    # Of several sizes of one file the smallest: the thousand that most results are of.
    paths = [
        min(folder.glob(f"{each}*.json"), key=lambda path: path.stat().st_size) for each in STEMS
    ]
    items, attributes, instructions = (json.loads(path.read_text("utf-8")) for path in paths)
    return items, attributes, instructions


def _find_nouns() -> Callable[[str], tuple[str, ...]]:
    """Return what finds the nouns of a name, as the published reward does: spaCy's small English
    pipeline. Raises `SetupError` where it is not installed."""
    try:
        import en_core_web_sm
    except ImportError as error:
        raise SetupError(
            "the reward of WebShop's published products looks for nouns with spaCy's pipeline"
            " en_core_web_sm, which is not installed; install spacy and that pipeline"
        ) from error
    tagger = en_core_web_sm.load()
    return lambda name: tuple(t.text.lower() for t in tagger(name) if t.pos_ in _NOUNS)
