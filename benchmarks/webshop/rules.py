"""WebShop's published reward, as rules over what was bought.

After Yao et al., arXiv 2207.01206, section 3 and appendix A, with the constants of its code: the
share of attributes, options and the price that hold, times how well the kind of product fits.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from rapidfuzz import fuzz, utils

from evaluators.evaluator import Verdict
from evaluators.rules import rule
from tasks.task import Json

COLOURS = tuple(Path(__file__).with_name("colours.txt").read_text(encoding="utf-8").split())
"""Colours that stand for whatever names them, the first that is found."""
ALIKE = 85
"""Likeness, of 100, above which two values are the same."""


class ShopReward(NamedTuple):
    """The reward with its parts."""

    total: float
    kind: float
    """How well the kind of product fits: 0, 0.1, 0.5 or 1."""
    attributes: int
    """Of the goal, that the product has."""
    options: int
    """Of the goal, that were chosen."""
    price: bool


@rule
def webshop_bought(found: Json, expected: Json) -> Verdict:
    """The first purchase has the whole reward."""
    reward = _judge(found, expected)
    if reward is None:
        return Verdict(0.0, "nothing was bought")
    return Verdict(float(reward.total == 1), _tell(reward))


@rule
def webshop_reward(found: Json, expected: Json) -> Verdict:
    """The reward of the first purchase, in [0, 1]; 0 where nothing was bought."""
    reward = _judge(found, expected)
    if reward is None:
        return Verdict(0.0, "nothing was bought")
    return Verdict(reward.total, _tell(reward))


def compute_reward(product: Any, options: Sequence[str], goal: Any) -> ShopReward:
    """Return the reward of a product, bought with these values of its options, for a goal."""
    wanted = goal["product"]
    # The kind fits by query, by two shared categories, or by the nouns of the name.
    there, asked = (
        {part.strip() for part in each["product_category"].split("›")} for each in (product, wanted)
    )
    nouns = set(wanted["nouns"]) & set(product["nouns"])
    share = len(nouns) / len(wanted["nouns"]) if wanted["nouns"] else 0.2
    is_kind = product["query"] == wanted["query"] or len(there & asked) >= 2 or share > 0.2
    kind = 1.0 if is_kind else 0.5
    if share < 0.1:
        kind = 0.1 if share else 0.0
    texts = (product["name"], " ".join(product["features"]), product["description"])
    attributes = sum(
        any(is_alike(each, wanted) for each in product["attributes"])
        or any(wanted in text.lower() for text in texts)
        for wanted in goal["attributes"]
    )
    chosen = [name_colour(each) for each in options]
    fitting = sum(
        any(is_alike(each, name_colour(wanted)) for each in chosen) for wanted in goal["options"]
    )
    price = product["price"] <= goal["price_upper"]
    parts = len(goal["attributes"]) + len(goal["options"]) + 1
    total = (attributes + fitting + price) / parts * kind
    return ShopReward(total, kind, attributes, fitting, price)


def is_alike(one: str, other: str) -> bool:
    """Return whether two values are the same but for order, case, signs and what one of them has
    more (token set ratio, rounded as thefuzz does)."""
    plain = (each.encode("ascii", "ignore").decode() for each in (one, other))
    one, other = map(utils.default_process, plain)
    return bool(one and other) and round(fuzz.token_set_ratio(one, other)) > ALIKE


def name_colour(value: str) -> str:
    """Return the first known colour in a value; the value where there is none."""
    return next((colour for colour in COLOURS if colour in value), value)


def _judge(found: Json, expected: Json) -> ShopReward | None:
    if not isinstance(found, list) or not isinstance(expected, dict):
        raise TypeError("purchases are rows, and a goal is an object")
    if not found:
        return None
    product, options = (json.loads(str(each)) for each in cast(list[Json], found[0]))
    return compute_reward(product, list(options.values()), expected)


def _tell(reward: ShopReward) -> str:
    price = "" if reward.price else "; too expensive"
    return (
        f"reward {reward.total:.2f}: kind {reward.kind:g}, {reward.attributes} attributes and"
        f" {reward.options} options fit{price}"
    )
