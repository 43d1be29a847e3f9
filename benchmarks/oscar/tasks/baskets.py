"""Templates that fill and change a basket, and leave it at that."""

from random import Random

from benchmarks.oscar.site.catalogue import SIZED, SIZES, Product, products_of
from benchmarks.oscar.site.keys import basket_key, product_key, record_key, voucher_key
from benchmarks.oscar.site.people import CUSTOMER, SHOPPER, Person, basket, orders_of
from benchmarks.oscar.site.promotions import VOUCHERS
from benchmarks.oscar.tasks.template import (
    Case,
    Row,
    added,
    changed,
    does,
    one,
    removed,
    sold,
    template,
)

LINES = "basket_line"


def line(person: Person, product: Product, quantity: int, size: str = "") -> Row:
    """A line of somebody's open basket."""
    return {
        "basket_id": basket_key(person),
        "product_id": product_key(product, size),
        "stockrecord_id": record_key(product, size),
        "quantity": quantity,
    }


@template("shop-add", "customer", 4, "search", "basket")
def add(draw: Random) -> Case:
    """One piece of one product."""
    product = sold(draw)[0]
    goal = one(
        draw,
        'Put one "{}" into my basket.',
        'Add the "{}" to the basket, a single piece.',
        'I want the "{}". Lay one in my basket, but do not order yet.',
    )
    return does(goal.format(product.title), {LINES: added(line(CUSTOMER, product, 1))})


@template("shop-add-several", "customer", 7, "search", "basket", "form")
def add_several(draw: Random) -> Case:
    """Several pieces of one product."""
    product, quantity = sold(draw)[0], draw.randint(2, 6)
    goal = one(
        draw,
        'Put {} pieces of the "{}" into my basket.',
        'I need {} of the "{}": see that my basket has that many, and order nothing.',
    )
    rows = {LINES: added(line(CUSTOMER, product, quantity))}
    return does(goal.format(quantity, product.title), rows)


@template("shop-add-size", "customer", 5, "search", "basket", "choose")
def add_size(draw: Random) -> Case:
    """One of the sizes of a shirt."""
    product, size = draw.choice(products_of(SIZED)), draw.choice(SIZES)
    goal = one(
        draw,
        'Put one "{}" in size {} into my basket.',
        'Add the "{}" to the basket, size {}.',
    )
    rows = {LINES: added(line(CUSTOMER, product, 1, size))}
    return does(goal.format(product.title, size), rows)


@template("shop-add-three", "customer", 12, "search", "basket", "long")
def add_three(draw: Random) -> Case:
    """Three products."""
    chosen = sold(draw, 3)
    goal = one(
        draw,
        'Put these into my basket, one of each: "{}", "{}" and "{}".',
        'Collect a "{}", a "{}" and a "{}" in the basket, one piece each, without ordering.',
    )
    rows = {LINES: added(*(line(CUSTOMER, product, 1) for product in chosen))}
    return does(goal.format(*(product.title for product in chosen)), rows)


@template("shop-add-cheapest", "customer", 3, "browse", "compare", "basket")
def add_cheapest(draw: Random) -> Case:
    """The cheapest of a category that is in stock."""
    name = draw.choice(("Mugs", "Pans", "Cushions", "Clocks", "Planters", "Pens", "Scarves"))
    there = [each for each in products_of(name) if each.stock]
    product = min(there, key=lambda each: each.price)
    goal = one(
        draw,
        'Put the cheapest product under "{}" that is in stock into my basket.',
        'Of what the category "{}" has in stock, add the one with the lowest price to the basket.',
    )
    return does(goal.format(name), {LINES: added(line(CUSTOMER, product, 1))})


@template("shop-basket-quantity", "shopper", 4, "basket", "form")
def basket_quantity(draw: Random) -> Case:
    """More or fewer pieces of what lies in the basket."""
    product, before = draw.choice(basket())
    quantity = draw.choice([each for each in range(1, 8) if each != before])
    goal = one(
        draw,
        'Change the number of "{}" in my basket to {}.',
        'My basket should have the "{}" {} times. Leave the rest of it as it is.',
    )
    pair = (line(SHOPPER, product, before), line(SHOPPER, product, quantity))
    return does(goal.format(product.title, quantity), {LINES: changed(pair)})


@template("shop-basket-remove", "shopper", 3, "basket")
def basket_remove(draw: Random) -> Case:
    """One line less."""
    product, quantity = draw.choice(basket())
    goal = one(
        draw,
        'Take the "{}" out of my basket.',
        'I do not want the "{}" any more: remove it from the basket, and nothing else.',
    )
    rows = {LINES: removed(line(SHOPPER, product, quantity))}
    return does(goal.format(product.title), rows)


@template("shop-basket-keep", "shopper", 5, "basket", "long")
def basket_keep(draw: Random) -> Case:
    """Everything but one line goes."""
    kept, _ = draw.choice(basket())
    goal = one(
        draw,
        'Remove everything from my basket but the "{}".',
        'Keep only the "{}" in the basket; take all the rest out.',
    )
    gone = [line(SHOPPER, product, count) for product, count in basket() if product != kept]
    return does(goal.format(kept.title), {LINES: removed(*gone)})


@template("shop-basket-voucher", "shopper", 5, "basket", "form")
def basket_voucher(draw: Random) -> Case:
    """A code that is good."""
    voucher = draw.choice([each for each in VOUCHERS if each.ends > 2026])
    goal = one(
        draw,
        "Use the voucher code {} on my basket.",
        "I have a promo code, {}. Enter it for what is in the basket, but do not order.",
    )
    used: Row = {"basket_id": basket_key(SHOPPER), "voucher_id": voucher_key(voucher.code)}
    rows: dict[str, Row] = {
        "basket_basket_vouchers": added(used),
        "voucher_voucher": changed(
            (
                {"code": voucher.code, "num_basket_additions": 0},
                {"code": voucher.code, "num_orders": 0},
            )
        ),
    }
    return does(goal.format(voucher.code), rows)


@template("shop-basket-save", "shopper", 3, "basket")
def basket_save(draw: Random) -> Case:
    """A line is kept for later."""
    product, quantity = draw.choice(basket())
    goal = one(
        draw,
        'Save the "{}" in my basket for later.',
        'Move the "{}" from the basket to what is saved for later.',
    )
    gone = line(SHOPPER, product, quantity)
    kept = {name: gone[name] for name in ("product_id", "stockrecord_id", "quantity")}
    rows: dict[str, Row] = {
        LINES: changed((gone, kept)),
        "basket_basket": added({"status": "Saved"}),
    }
    return does(goal.format(product.title), rows)


@template("shop-reorder", "customer", 4, "account", "basket")
def reorder(draw: Random) -> Case:
    """Everything of an old order once more."""
    order = draw.choice(orders_of(CUSTOMER))
    while not all(product.stock >= count for product, count in order.lines):
        order = draw.choice(orders_of(CUSTOMER))
    goal = one(
        draw,
        "Put everything of my order {} into the basket again.",
        "I want the same as in order {}: get its products into my basket, without ordering yet.",
    )
    rows = {LINES: added(*(line(CUSTOMER, product, count) for product, count in order.lines))}
    return does(goal.format(order.number), rows)
