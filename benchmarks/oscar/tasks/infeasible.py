"""Templates that cannot be done, however one tries: right is to give up and change nothing."""

from random import Random

from benchmarks.oscar.site.catalogue import CATEGORIES, products
from benchmarks.oscar.site.people import FIRST_ORDER, basket, orders
from benchmarks.oscar.tasks.template import ShopTask, cannot, one, sold, template

_UNKNOWN = ("Larch", "Osprey", "Tansy", "Merlin", "Sorrel", "Plover", "Bracken")


@template("shop-no-product", "customer", 3, "search", "infeasible")
def no_product(draw: Random) -> ShopTask:
    """The shop does not have it."""
    title = f"{draw.choice(_UNKNOWN)} {draw.choice(CATEGORIES).noun}"
    goal = one(
        draw,
        'Put one "{}" into my basket; nothing else will do.',
        'Add the "{}" to my basket. It must be that one, not something like it.',
    )
    return cannot(goal.format(title))


@template("shop-no-stock", "customer", 4, "search", "infeasible")
def no_stock(draw: Random) -> ShopTask:
    """It is sold out."""
    product = draw.choice([each for each in products() if not each.stock])
    goal = one(
        draw,
        'Put one "{}" into my basket; nothing else will do.',
        'Order one "{}" for me, to my default address, and only if it can be had now.',
    )
    return cannot(goal.format(product.title))


@template("shop-no-voucher", "shopper", 5, "basket", "form", "infeasible")
def no_voucher(draw: Random) -> ShopTask:
    """The code is not known, or its time is over."""
    code = draw.choice(("SPRING25", "LANTERN40", "TAKE30", "MAYDAY15", "BLUE12"))
    goal = one(
        draw,
        "Use the voucher code {} on my basket, and no other.",
        "Get me the discount of the promo code {} on what is in my basket.",
    )
    return cannot(goal.format(code))


@template("shop-too-many", "shopper", 5, "basket", "form", "infeasible")
def too_many(draw: Random) -> ShopTask:
    """There are not so many pieces."""
    product, _ = draw.choice(basket())
    count = product.stock + draw.randint(5, 40)
    goal = one(
        draw,
        'Change the number of "{}" in my basket to {}; fewer are of no use to me.',
        'My basket must have the "{}" exactly {} times.',
    )
    return cannot(goal.format(product.title, count))


@template("shop-no-order", "staff", 5, "dashboard", "search", "infeasible")
def no_order(draw: Random) -> ShopTask:
    """There is no such order."""
    number = FIRST_ORDER + len(orders()) + draw.randint(20, 900)
    goal = one(
        draw,
        'Set the status of order {} to "Cancelled".',
        'Order {} has to be cancelled. Set its status to "Cancelled".',
    )
    return cannot(goal.format(number))


@template("shop-final-order", "staff", 5, "dashboard", "search", "infeasible")
def final_order(draw: Random) -> ShopTask:
    """Its status is the last one that there is."""
    order = draw.choice([each for each in orders() if each.status in ("Complete", "Cancelled")])
    goal = one(
        draw,
        'Set the status of order {} back to "{}".',
        'Order {} must be "{}" once more. Change its status.',
    )
    return cannot(goal.format(order.number, draw.choice(("Pending", "Being processed"))))


@template("shop-no-rights", "customer", 2, "account", "infeasible")
def no_rights(draw: Random) -> ShopTask:
    """Only staff can, and this is a customer."""
    product = sold(draw)[0]
    goal = one(
        draw,
        'Set the price of the "{}" to 1.00 pounds in the shop\'s dashboard.',
        'Delete the "{}" from the catalogue in the shop\'s dashboard.',
    )
    return cannot(goal.format(product.title))
