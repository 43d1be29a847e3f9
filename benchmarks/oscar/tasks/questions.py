"""Templates that only ask: the answer is computed from what the shop begins with."""

from random import Random

from benchmarks.oscar.site.catalogue import (
    CATEGORIES,
    SIZED,
    cheapest,
    pounds,
    products,
    products_of,
)
from benchmarks.oscar.site.people import CUSTOMER, EVERYONE, ShopOrder, orders, orders_of, reviews
from benchmarks.oscar.tasks.template import ShopTask, money, number, one, says, sold, template

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_PLAIN = tuple(each.name for each in CATEGORIES if each.name != SIZED)
_RECENT = 4
"""How many orders back the ones lie that are asked for by what is in them."""


@template("shop-price", "", 3, "search", "read")
def price(draw: Random) -> ShopTask:
    """The price of one product."""
    product = draw.choice([each for each in products() if not each.sizes])
    goal = one(
        draw,
        'What does the "{}" cost? Answer with the amount alone.',
        'How much is one "{}" here? Give just the amount.',
        'Find the price of the "{}" and answer with it, nothing else.',
    )
    return says(goal.format(product.title), *money(product.price))


@template("shop-stock", "", 4, "search", "read")
def stock(draw: Random) -> ShopTask:
    """How many pieces there are."""
    product = sold(draw)[0]
    goal = one(
        draw,
        'How many pieces of the "{}" are available? Answer with the number alone.',
        'Look up how many of the "{}" the shop has in stock, and answer with that number.',
    )
    return says(goal.format(product.title), *number(product.stock))


@template("shop-attribute", "", 4, "search", "read")
def attribute(draw: Random) -> ShopTask:
    """Colour, material or weight."""
    product = draw.choice([each for each in products() if not each.sizes])
    what, value, unit = draw.choice(
        (
            ("material", product.material, ""),
            ("colour", product.colour, ""),
            ("weight", str(product.weight), " in grams, a number without a unit"),
        )
    )
    goal = one(
        draw,
        f'Which {what} does the page of the "{product.title}" give? Answer with it alone{unit}.',
        f'Look up the {what} of the "{product.title}" and answer with just that{unit}.',
    )
    return says(goal, value, value.capitalize())


@template("shop-upc", "", 4, "search", "read")
def upc(draw: Random) -> ShopTask:
    """The article number of what is named by its category and its price."""
    name = draw.choice(_PLAIN)
    product = draw.choice(products_of(name))
    goal = one(
        draw,
        'One product under "{}" costs {}. What is its UPC?',
        'Under "{}" there is something for {}: answer with its UPC.',
    )
    return says(goal.format(name, product.pounds), product.upc)


@template("shop-cheapest", "", 2, "browse", "compare")
def cheapest_of_category(draw: Random) -> ShopTask:
    """The cheapest, or the dearest, that can be bought."""
    name = draw.choice(_PLAIN)
    there = [each for each in products_of(name) if each.stock]
    word, product = draw.choice(
        (("cheapest", cheapest(there)), ("dearest", max(there, key=lambda each: each.price)))
    )
    goal = one(
        draw,
        'What is the {} product under "{}" that is in stock? Answer with its name alone.',
        'Name the {} thing in the category "{}" that is not sold out, just its name.',
    )
    return says(goal.format(word, name), product.title)


@template("shop-compare", "", 6, "search", "compare")
def compare(draw: Random) -> ShopTask:
    """Which of two costs less."""
    first, second = sold(draw, 2)
    while first.price == second.price:
        first, second = sold(draw, 2)
    goal = one(
        draw,
        'Which costs less, the "{}" or the "{}"? Answer with its name alone.',
        'I can have the "{}" or the "{}". Which is the cheaper one? Give just its name.',
    )
    return says(goal.format(first.title, second.title), cheapest((first, second)).title)


@template("shop-count", "", 2, "browse", "count")
def count(draw: Random) -> ShopTask:
    """How many of a category lie below a price."""
    name = draw.choice(_PLAIN)
    prices = sorted(each.price for each in products_of(name))
    place = draw.randint(2, 6)
    limit = (prices[place - 1] + prices[place]) // 2
    goal = one(
        draw,
        'How many products under "{}" cost less than {}, in stock or not? Answer with the number.',
        'Count what is cheaper than {1} in the category "{0}", sold out or not.',
    )
    below = sum(each < limit for each in prices)
    return says(goal.format(name, pounds(limit)), *number(below))


@template("shop-reviewer", "", 4, "search", "read")
def reviewer(draw: Random) -> ShopTask:
    """Who wrote a review."""
    shown = [each for each in reviews() if each.is_approved]
    review = draw.choice(
        [
            each
            for each in shown
            if [(other.product, other.title) for other in shown].count((each.product, each.title))
            == 1
        ]
    )
    goal = one(
        draw,
        'Who wrote the review "{1}" of the "{0}"? Answer with the full name.',
        'The "{0}" has a review with the title "{1}". Give the name of the person who wrote it.',
    )
    return says(goal.format(review.product.title, review.title), review.author.name)


@template("shop-order-total", "customer", 3, "account", "read")
def order_total(draw: Random) -> ShopTask:
    """What an order came to."""
    order = draw.choice(orders_of(CUSTOMER))
    goal = one(
        draw,
        "What did my order {} come to, shipping included? Answer with the amount alone.",
        "Look up the total of order {} in my account, and answer with just that.",
    )
    return says(goal.format(order.number), *money(order.total))


@template("shop-order-with", "customer", 2 + 2 * _RECENT, "account", "search", "long")
def order_with(draw: Random) -> ShopTask:
    """Which order has something in it."""
    recent = orders_of(CUSTOMER)[-_RECENT:]
    product = draw.choice([product for order in recent for product, _ in order.lines])
    last = [order for order in recent if product in dict(order.lines)][-1]
    goal = one(
        draw,
        'What is the number of my latest order that has the "{}" in it?',
        'I ordered the "{}" not long ago. Which order was it? Answer with its number, the latest'
        " one if there are several.",
    )
    return says(goal.format(product.title), last.number)


@template("shop-spent", "customer", 3, "account", "compute")
def spent(draw: Random) -> ShopTask:
    """What the orders of a month came to together."""
    by_month: dict[int, list[ShopOrder]] = {}
    for order in orders_of(CUSTOMER):
        by_month.setdefault(order.placed.month, []).append(order)
    month = draw.choice(sorted(by_month))
    goal = one(
        draw,
        "What do my orders of {} 2025 come to together? Answer with the amount alone.",
        "Add up the totals of everything I ordered in {} 2025 and answer with the sum.",
    )
    total = sum(order.total for order in by_month[month])
    return says(goal.format(_MONTHS[month - 1]), *money(total))


@template("shop-buyer-email", "staff", 5, "dashboard", "search", "read")
def buyer_email(draw: Random) -> ShopTask:
    """Who placed an order."""
    order = draw.choice(orders())
    goal = one(
        draw,
        "Which email address does the customer of order {} have?",
        "Look up order {} in the dashboard: answer with the email address of whoever placed it.",
    )
    return says(goal.format(order.number), order.buyer.email)


@template("shop-orders-of", "staff", 5, "dashboard", "search", "read")
def orders_of_customer(draw: Random) -> ShopTask:
    """How often somebody has ordered."""
    person = draw.choice([each for each in EVERYONE if not each.is_staff])
    goal = one(
        draw,
        "How many orders has the customer {} placed? Answer with the number.",
        "Find out in the dashboard how often {} has ordered, and answer with the number.",
    )
    return says(goal.format(person.name), *number(len(orders_of(person))))
