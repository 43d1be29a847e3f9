"""Templates that only ask: the answer is computed from what the shop begins with."""

from calendar import month_name
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
from benchmarks.oscar.tasks.template import money, number, says, sold, template
from benchmarks.templates import TaskDraft

_PLAIN = tuple(each.name for each in CATEGORIES if each.name != SIZED)
_RECENT = 4
"""How many orders back the ones lie that are asked for by what is in them."""


@template("shop-price", "", 3, "search read")
def price(draw: Random) -> TaskDraft:
    """The price of one product."""
    product = draw.choice([each for each in products() if not each.sizes])
    return TaskDraft({"product": product.title}, says(*money(product.price)))


@template("shop-stock", "", 4, "search read")
def stock(draw: Random) -> TaskDraft:
    """How many pieces there are."""
    product = sold(draw)[0]
    return TaskDraft({"product": product.title}, says(*number(product.stock)))


@template("shop-attribute", "", 4, "search read")
def attribute(draw: Random) -> TaskDraft:
    """Colour, material or weight."""
    product = draw.choice([each for each in products() if not each.sizes])
    what, value, unit = draw.choice(
        (
            ("material", product.material, ""),
            ("colour", product.colour, ""),
            ("weight", str(product.weight), " in grams, a number without a unit"),
        )
    )
    return TaskDraft(
        {"what": what, "product": product.title, "unit": unit}, says(value, value.capitalize())
    )


@template("shop-upc", "", 4, "search read")
def upc(draw: Random) -> TaskDraft:
    """The article number of what is named by its category and its price."""
    name = draw.choice(_PLAIN)
    product = draw.choice(products_of(name))
    return TaskDraft({"category": name, "price": product.pounds}, says(product.upc))


@template("shop-cheapest", "", 2, "browse compare")
def cheapest_of_category(draw: Random) -> TaskDraft:
    """The cheapest, or the dearest, that can be bought."""
    name = draw.choice(_PLAIN)
    there = [each for each in products_of(name) if each.stock]
    word, product = draw.choice(
        (("cheapest", cheapest(there)), ("dearest", max(there, key=lambda each: each.price)))
    )
    return TaskDraft({"degree": word, "category": name}, says(product.title))


@template("shop-compare", "", 6, "search compare")
def compare(draw: Random) -> TaskDraft:
    """Which of two costs less."""
    first, second = sold(draw, 2)
    while first.price == second.price:
        first, second = sold(draw, 2)
    return TaskDraft(
        {"first": first.title, "second": second.title}, says(cheapest((first, second)).title)
    )


@template("shop-count", "", 2, "browse count")
def count(draw: Random) -> TaskDraft:
    """How many of a category lie below a price."""
    name = draw.choice(_PLAIN)
    prices = sorted(each.price for each in products_of(name))
    place = draw.randint(2, 6)
    limit = (prices[place - 1] + prices[place]) // 2
    below = sum(each < limit for each in prices)
    return TaskDraft({"category": name, "limit": pounds(limit)}, says(*number(below)))


@template("shop-reviewer", "", 4, "search read")
def reviewer(draw: Random) -> TaskDraft:
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
    return TaskDraft(
        {"product": review.product.title, "title": review.title}, says(review.author.name)
    )


@template("shop-order-total", "customer", 3, "account read")
def order_total(draw: Random) -> TaskDraft:
    """What an order came to."""
    order = draw.choice(orders_of(CUSTOMER))
    return TaskDraft({"order": order.number}, says(*money(order.total)))


@template("shop-order-with", "customer", 2 + 2 * _RECENT, "account search long")
def order_with(draw: Random) -> TaskDraft:
    """Which order has something in it."""
    recent = orders_of(CUSTOMER)[-_RECENT:]
    product = draw.choice([product for order in recent for product, _ in order.lines])
    last = [order for order in recent if product in dict(order.lines)][-1]
    return TaskDraft({"product": product.title}, says(last.number))


@template("shop-spent", "customer", 3, "account compute")
def spent(draw: Random) -> TaskDraft:
    """What the orders of a month came to together."""
    by_month: dict[int, list[ShopOrder]] = {}
    for order in orders_of(CUSTOMER):
        by_month.setdefault(order.placed.month, []).append(order)
    month = draw.choice(sorted(by_month))
    total = sum(order.total for order in by_month[month])
    return TaskDraft({"month": month_name[month]}, says(*money(total)))


@template("shop-buyer-email", "staff", 5, "dashboard search read")
def buyer_email(draw: Random) -> TaskDraft:
    """Who placed an order."""
    order = draw.choice(orders())
    return TaskDraft({"order": order.number}, says(order.buyer.email))


@template("shop-orders-of", "staff", 5, "dashboard search read")
def orders_of_customer(draw: Random) -> TaskDraft:
    """How often somebody has ordered."""
    person = draw.choice([each for each in EVERYONE if not each.is_staff])
    return TaskDraft({"customer": person.name}, says(*number(len(orders_of(person)))))
