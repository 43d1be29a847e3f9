"""Tasks that find something out on the market, or find a place."""

import random
from urllib.parse import urlencode

from tests.fakes.market.goods import Stock
from tests.fakes.market.turns import Draft, answer_checks, go, press, to_good, two_goods


def price_of(market: Stock, dice: random.Random) -> Draft:
    """What a thing costs."""
    good, other = two_goods(market, dice)
    prices = [each.price for each in market.goods if each != good]
    return Draft(
        goal=f"What does the {good.name} cost?",
        honest=to_good(good),
        wrong=to_good(other),
        lost=(go("/item", name=good.name.upper()),),
        claim=f"The {good.name} costs {good.price}.",
        lie=f"The {good.name} costs {other.price}.",
        checks=answer_checks(good.price, prices),
    )


def stock_of(market: Stock, dice: random.Random) -> Draft:
    """How many are left of a thing."""
    good, other = two_goods(market, dice)
    counts = [str(each.stock) for each in market.goods if each != good]
    return Draft(
        goal=f"How many pieces of the {good.name} are in stock?",
        honest=to_good(good),
        wrong=to_good(other),
        lost=(go("/item", name=f"{good.name} stock"),),
        claim=f"{good.stock}",
        lie=f"{other.stock}",
        checks=answer_checks(str(good.stock), counts),
    )


def author_of(market: Stock, dice: random.Random) -> Draft:
    """Who wrote a post."""
    (title, author), (other, wrong) = dice.sample(market.posts, 2)
    return Draft(
        goal=f"Who wrote the forum post “{title}”?",
        honest=(press("link", "Forum"), press("link", title)),
        wrong=(press("link", "Forum"), press("link", other)),
        lost=(go("/post", title=f"{title}?"),),
        claim=f"{author} wrote it.",
        lie=f"It was written by {wrong}.",
        checks=answer_checks(author, [name for _, name in market.posts if name != author]),
    )


def founded(market: Stock, dice: random.Random) -> Draft:
    """When a town was founded, from the wiki."""
    (town, year, _), (other, wrong, _) = dice.sample(market.articles, 2)
    return Draft(
        goal=f"According to the wiki, in which year was {town} founded?",
        honest=(press("link", "Wiki"), press("link", town)),
        wrong=(press("link", "Wiki"), press("link", other)),
        lost=(go("/article", town=f"{town} history"),),
        claim=f"{town} was founded in {year}.",
        lie=f"{town} was founded in {wrong}.",
        checks=answer_checks(str(year), [str(y) for _, y, _ in market.articles if y != year]),
    )


def order_state(market: Stock, dice: random.Random) -> Draft:
    """How far an order is."""
    (number, _, state), (_, _, wrong) = dice.sample(market.orders, 2)
    return Draft(
        goal=f"What is the state of order {number}?",
        honest=(press("link", "Orders"),),
        wrong=(press("link", "Orders"), press("link", "Support")),
        lost=(go("/item", name=f"Order {number} state"),),
        claim=f"Order {number} is {state}.",
        lie=f"Order {number} is {wrong}.",
        checks=answer_checks(state, [s for _, _, s in market.orders if s != state]),
    )


def open_page(market: Stock, dice: random.Random) -> Draft:
    """The page of a thing, left open."""
    good, other = two_goods(market, dice)
    return Draft(
        goal=f"Open the page of the {good.name}.",
        honest=to_good(good),
        wrong=to_good(other),
        undo=(press("link", "Market"),),
        lost=(go("/item", name=good.name.lower()),),
        claim=f"The page of the {good.name} is open.",
        lie=f"I have opened the page of the {good.name}.",
        page=f"/item?{urlencode({'name': good.name})}",
    )
