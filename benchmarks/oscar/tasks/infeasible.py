"""Templates that cannot be done, however one tries: right is to give up and change nothing."""

from random import Random

from benchmarks.oscar.site.catalogue import CATEGORIES, products
from benchmarks.oscar.site.people import FIRST_ORDER, basket, orders
from benchmarks.oscar.tasks.template import cannot, sold, template
from benchmarks.templates import TaskDraft

_UNKNOWN = ("Larch", "Osprey", "Tansy", "Merlin", "Sorrel", "Plover", "Bracken")


@template("shop-no-product", "customer", 3, "search infeasible")
def no_product(draw: Random) -> TaskDraft:
    """The shop does not have it."""
    title = f"{draw.choice(_UNKNOWN)} {draw.choice(CATEGORIES).noun}"
    return TaskDraft({"product": title}, cannot())


@template("shop-no-stock", "customer", 4, "search infeasible")
def no_stock(draw: Random) -> TaskDraft:
    """It is sold out."""
    product = draw.choice([each for each in products() if not each.stock])
    return TaskDraft({"product": product.title}, cannot())


@template("shop-no-voucher", "shopper", 5, "basket form infeasible")
def no_voucher(draw: Random) -> TaskDraft:
    """The code is not known, or its time is over."""
    code = draw.choice(("SPRING25", "LANTERN40", "TAKE30", "MAYDAY15", "BLUE12"))
    return TaskDraft({"code": code}, cannot())


@template("shop-too-many", "shopper", 5, "basket form infeasible")
def too_many(draw: Random) -> TaskDraft:
    """There are not so many pieces."""
    product, _ = draw.choice(basket())
    count = product.stock + draw.randint(5, 40)
    return TaskDraft({"product": product.title, "count": count}, cannot())


@template("shop-no-order", "staff", 5, "dashboard search infeasible")
def no_order(draw: Random) -> TaskDraft:
    """There is no such order."""
    number = FIRST_ORDER + len(orders()) + draw.randint(20, 900)
    return TaskDraft({"order": number}, cannot())


@template("shop-final-order", "staff", 5, "dashboard search infeasible")
def final_order(draw: Random) -> TaskDraft:
    """Its status is the last one that there is."""
    order = draw.choice([each for each in orders() if each.status in ("Complete", "Cancelled")])
    state = draw.getstate()
    draw.choice((0, 1))  # what the wording will take: seeds keep the status that they had after it
    status = draw.choice(("Pending", "Being processed"))
    draw.setstate(state)
    return TaskDraft({"order": order.number, "status": status}, cannot())


@template("shop-no-rights", "customer", 2, "account infeasible")
def no_rights(draw: Random) -> TaskDraft:
    """Only staff can, and this is a customer."""
    product = sold(draw)[0]
    return TaskDraft({"product": product.title}, cannot())
