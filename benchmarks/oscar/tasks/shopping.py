"""Templates that fill a basket, change it and order what is in it."""

from random import Random

from benchmarks.oscar.site.catalogue import SIZED, SIZES, VOUCHERS, Product, products_of
from benchmarks.oscar.site.people import (
    CUSTOMER,
    NEWCOMER,
    SHIPPING,
    SHOPPER,
    Address,
    ShopUser,
    address_key,
    basket,
    basket_key,
    orders_of,
    product_key,
    record_key,
    user_key,
    voucher_key,
)
from benchmarks.oscar.tasks.template import (
    CHOICES,
    Row,
    added,
    amount,
    changed,
    does,
    removed,
    sold,
    template,
)
from benchmarks.templates import TaskDraft
from tasks.task import Json

LINES = "basket_line"


def line(person: ShopUser, product: Product, quantity: int, size: str = "") -> Row:
    """A line of somebody's open basket."""
    return {
        "basket_id": basket_key(person),
        "product_id": product_key(product, size),
        "stockrecord_id": record_key(product, size),
        "quantity": quantity,
    }


@template("shop-add", "customer", 4, "search basket")
def add(draw: Random) -> TaskDraft:
    """One piece of one product."""
    product = sold(draw)[0]
    return TaskDraft({"product": product.title}, does({LINES: added(line(CUSTOMER, product, 1))}))


@template("shop-add-several", "customer", 7, "search basket form")
def add_several(draw: Random) -> TaskDraft:
    """Several pieces of one product."""
    product, quantity = sold(draw)[0], draw.randint(2, 6)
    rows = {LINES: added(line(CUSTOMER, product, quantity))}
    return TaskDraft({"quantity": quantity, "product": product.title}, does(rows))


@template("shop-add-size", "customer", 5, "search basket choose")
def add_size(draw: Random) -> TaskDraft:
    """One of the sizes of a shirt."""
    product, size = draw.choice(products_of(SIZED)), draw.choice(SIZES)
    rows = {LINES: added(line(CUSTOMER, product, 1, size))}
    return TaskDraft({"product": product.title, "size": size}, does(rows))


@template("shop-add-three", "customer", 12, "search basket long")
def add_three(draw: Random) -> TaskDraft:
    """Three products."""
    chosen = sold(draw, 3)
    rows = {LINES: added(*(line(CUSTOMER, product, 1) for product in chosen))}
    return TaskDraft(
        {"first": chosen[0].title, "second": chosen[1].title, "third": chosen[2].title}, does(rows)
    )


@template("shop-add-cheapest", "customer", 3, "browse compare basket")
def add_cheapest(draw: Random) -> TaskDraft:
    """The cheapest of a category that is in stock."""
    name = draw.choice(("Mugs", "Pans", "Cushions", "Clocks", "Planters", "Pens", "Scarves"))
    there = [each for each in products_of(name) if each.stock]
    product = min(there, key=lambda each: each.price)
    return TaskDraft({"category": name}, does({LINES: added(line(CUSTOMER, product, 1))}))


@template("shop-basket-quantity", "shopper", 4, "basket form")
def basket_quantity(draw: Random) -> TaskDraft:
    """More or fewer pieces of what lies in the basket."""
    product, before = draw.choice(basket())
    quantity = draw.choice([each for each in range(1, 8) if each != before])
    pair = (line(SHOPPER, product, before), line(SHOPPER, product, quantity))
    return TaskDraft({"product": product.title, "quantity": quantity}, does({LINES: changed(pair)}))


@template("shop-basket-remove", "shopper", 3, "basket")
def basket_remove(draw: Random) -> TaskDraft:
    """One line less."""
    product, quantity = draw.choice(basket())
    rows = {LINES: removed(line(SHOPPER, product, quantity))}
    return TaskDraft({"product": product.title}, does(rows))


@template("shop-basket-keep", "shopper", 5, "basket long")
def basket_keep(draw: Random) -> TaskDraft:
    """Everything but one line goes."""
    kept, _ = draw.choice(basket())
    gone = [line(SHOPPER, product, count) for product, count in basket() if product != kept]
    return TaskDraft({"product": kept.title}, does({LINES: removed(*gone)}))


@template("shop-basket-voucher", "shopper", 5, "basket form")
def basket_voucher(draw: Random) -> TaskDraft:
    """A code that is good."""
    voucher = draw.choice([each for each in VOUCHERS if each.ends > 2026])
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
    return TaskDraft({"code": voucher.code}, does(rows))


@template("shop-basket-save", "shopper", 3, "basket")
def basket_save(draw: Random) -> TaskDraft:
    """A line is kept for later."""
    product, quantity = draw.choice(basket())
    gone = line(SHOPPER, product, quantity)
    kept = {name: gone[name] for name in ("product_id", "stockrecord_id", "quantity")}
    rows: dict[str, Row] = {
        LINES: changed((gone, kept)),
        "basket_basket": added({"status": "Saved"}),
    }
    return TaskDraft({"product": product.title}, does(rows))


@template("shop-reorder", "customer", 4, "account basket")
def reorder(draw: Random) -> TaskDraft:
    """Everything of an old order once more."""
    order = draw.choice(orders_of(CUSTOMER))
    while not all(product.stock >= count for product, count in order.lines):
        order = draw.choice(orders_of(CUSTOMER))
    rows = {LINES: added(*(line(CUSTOMER, product, count) for product, count in order.lines))}
    return TaskDraft({"order": order.number}, does(rows))


_BASKETS = ("basket_basket",)
"""One is closed by the order, and another may be opened afterwards."""
Goods = list[tuple[Product, int]]


def new_address(draw: Random) -> Address:
    """One that is in no address book."""
    first, last = draw.choice(CHOICES["people"])
    return Address(first, last, *draw.choice(CHOICES["places"]))


def written(address: Address) -> str:
    """An address in a goal."""
    name = f"{address.first_name} {address.last_name}"
    return f"{name}, {address.line1}, {address.city}, {address.postcode}, United Kingdom"


def ordered(
    buyer: ShopUser, goods: Goods, to: Address, shipping: str, off: int = 0
) -> dict[str, Row | list[str]]:
    """What an order leaves behind; `off` is a discount in per cent, whose pence are left open."""
    name, charge = SHIPPING[shipping]
    order: dict[str, Json] = {
        "number": str(100_000 + basket_key(buyer)),
        "user_id": user_key(buyer),
        "shipping_method": name,
        "shipping_code": shipping,
        "status": "Pending",
    }
    if not off:
        order["total_incl_tax"] = amount(charge + sum(each.price * n for each, n in goods))
    lines: list[Row] = [
        {
            "product_id": product_key(each),
            "stockrecord_id": record_key(each),
            "quantity": count,
            "line_price_before_discounts_incl_tax": amount(each.price * count),
        }
        for each, count in goods
    ]
    stock: list[tuple[Row, Row]] = [
        (
            {"id": record_key(each)},
            {"num_allocated": count, "num_in_stock": each.stock, "price": amount(each.price)},
        )
        for each, count in goods
    ]
    rows: dict[str, Row | list[str]] = {
        "order_order": added(order),
        "order_line": added(*lines),
        "order_lineprice": added(*({"quantity": count} for _, count in goods)),
        "order_shippingaddress": added(to.row),
        "partner_stockrecord": changed(*stock),
        "may": list(_BASKETS),
    }
    if to in buyer.addresses:
        key: Row = {"id": address_key(buyer, buyer.addresses.index(to))}
        rows["address_useraddress"] = changed((key, {**key, "num_orders_as_shipping_address": 1}))
    else:
        rows["address_useraddress"] = added({**to.row, "user_id": user_key(buyer)})
    return rows


def filled(buyer: ShopUser, goods: Goods) -> dict[str, Row]:
    """The lines that were put into the basket on the way."""
    return {LINES: added(*(line(buyer, each, count) for each, count in goods))}


@template("shop-buy", "customer", 11, "search checkout long")
def buy(draw: Random) -> TaskDraft:
    """One product to one of one's addresses."""
    product, address = sold(draw)[0], draw.choice(CUSTOMER.addresses)
    shipping = draw.choice(tuple(SHIPPING))
    goods = [(product, 1)]
    rows = ordered(CUSTOMER, goods, address, shipping) | filled(CUSTOMER, goods)
    return TaskDraft(
        {"product": product.title, "city": address.city, "shipping": SHIPPING[shipping][0]},
        does(rows),
    )


@template("shop-buy-cheapest", "customer", 13, "browse compare checkout long")
def buy_cheapest(draw: Random) -> TaskDraft:
    """Several pieces of the cheapest of a category."""
    name = draw.choice(("Mugs", "Pans", "Knives", "Cushions", "Planters", "Notebooks", "Puzzles"))
    there = [each for each in products_of(name) if each.stock]
    product = min(there, key=lambda each: each.price)
    count, address = draw.randint(2, 5), draw.choice(CUSTOMER.addresses)
    goods = [(product, count)]
    rows = ordered(CUSTOMER, goods, address, "standard") | filled(CUSTOMER, goods)
    return TaskDraft({"count": count, "category": name, "city": address.city}, does(rows))


@template("shop-buy-two", "customer", 18, "search checkout form long")
def buy_two(draw: Random) -> TaskDraft:
    """Two products, one of them several times."""
    first, second = sold(draw, 2)
    count, address = draw.randint(2, 5), draw.choice(CUSTOMER.addresses)
    shipping = draw.choice(tuple(SHIPPING))
    goods = [(first, count), (second, 1)]
    rows = ordered(CUSTOMER, goods, address, shipping) | filled(CUSTOMER, goods)
    return TaskDraft(
        {
            "count": count,
            "first": first.title,
            "second": second.title,
            "city": address.city,
            "shipping": SHIPPING[shipping][0],
        },
        does(rows),
    )


@template("shop-buy-new-address", "newcomer", 16, "search checkout form long")
def buy_new_address(draw: Random) -> TaskDraft:
    """A first order, to an address that has to be typed."""
    product, address = sold(draw)[0], new_address(draw)
    shipping = draw.choice(tuple(SHIPPING))
    goods = [(product, 1)]
    rows = ordered(NEWCOMER, goods, address, shipping) | filled(NEWCOMER, goods)
    return TaskDraft(
        {"product": product.title, "address": written(address), "shipping": SHIPPING[shipping][0]},
        does(rows),
    )


@template("shop-buy-basket", "shopper", 7, "basket checkout")
def buy_basket(draw: Random) -> TaskDraft:
    """What lies in the basket already."""
    address, shipping = draw.choice(SHOPPER.addresses), draw.choice(tuple(SHIPPING))
    return TaskDraft(
        {"city": address.city, "shipping": SHIPPING[shipping][0]},
        does(ordered(SHOPPER, basket(), address, shipping)),
    )


@template("shop-buy-voucher", "shopper", 11, "basket checkout form long")
def buy_voucher(draw: Random) -> TaskDraft:
    """What lies in the basket, with a code."""
    address, shipping = draw.choice(SHOPPER.addresses), draw.choice(tuple(SHIPPING))
    voucher = draw.choice([each for each in VOUCHERS if each.ends > 2026])
    used: Row = {"voucher_id": voucher_key(voucher.code)}
    rows = ordered(SHOPPER, basket(), address, shipping, voucher.percent) | {
        "basket_basket_vouchers": added({**used, "basket_id": basket_key(SHOPPER)}),
        "voucher_voucherapplication": added({**used, "user_id": user_key(SHOPPER)}),
        "voucher_voucher": changed(({"code": voucher.code}, {"num_orders": 1})),
        "order_orderdiscount": added({**used, "voucher_code": voucher.code}),
        "may": [*_BASKETS, "offer_conditionaloffer", "order_orderlinediscount"],
    }
    return TaskDraft(
        {"city": address.city, "shipping": SHIPPING[shipping][0], "code": voucher.code}, does(rows)
    )
