"""Templates for staff: the catalogue, orders, offers, vouchers and reviews in the dashboard."""

from dataclasses import replace
from random import Random

from benchmarks.oscar.site.catalogue import (
    CATEGORIES,
    OFFERS,
    PARENTS,
    RANGES,
    VOUCHERS,
    Product,
    decimal,
    products,
)
from benchmarks.oscar.site.people import (
    NEXT_STATUSES,
    OTHERS,
    STAFF,
    ShopOrder,
    basket,
    category_key,
    offer_key,
    order_key,
    orders,
    orders_of,
    product_key,
    range_key,
    record_key,
    review_key,
    reviews,
    user_key,
    wishes,
)
from benchmarks.oscar.tasks.template import (
    Row,
    ShopTask,
    added,
    amount,
    changed,
    does,
    one,
    removed,
    sold,
    template,
)
from tasks.task import Check

RECORDS = "partner_stockrecord"
PRODUCTS = "catalogue_product"
_TREE = """SELECT above.name, below.name FROM catalogue_category below
LEFT JOIN catalogue_category above ON above.path = substr(below.path, 1, 4) AND above.depth = 1
WHERE below.depth > 1 AND below.is_public ORDER BY 1, 2"""
_NEW_CATEGORIES = ("Bowls", "Teapots", "Mirrors", "Doormats", "Candles", "Globes", "Kites", "Hats")
_NEW_PRODUCTS = ("Larch", "Osprey", "Tansy", "Birch", "Merlin", "Sorrel", "Bracken", "Plover")


def record(product: Product, price: int = -1, stock: int = -1) -> Row:
    """What is stored of the price and the stock of a product."""
    return {
        "id": record_key(product),
        "product_id": product_key(product),
        "partner_sku": f"W-{product.upc}",
        "price": amount(product.price if price < 0 else price),
        "num_in_stock": product.stock if stock < 0 else stock,
        "low_stock_threshold": 5,
    }


def shown(product: Product) -> Row:
    """What is stored of a product itself."""
    return {
        "id": product_key(product),
        "upc": product.upc,
        "title": product.title,
        "description": f"<p>{product.description}</p>",
        "is_public": 1,
        "is_discountable": 1,
        "priority": 0,
    }


@template("shop-set-price", "staff", 9, "dashboard", "search", "form")
def set_price(draw: Random) -> ShopTask:
    """Another price."""
    product = sold(draw)[0]
    price = product.price + draw.choice((-95, -50, 45, 100, 155, 250))
    goal = one(
        draw,
        'Set the price of the "{}" to {} pounds.',
        'From today the "{}" costs {} pounds. Change it in the catalogue.',
    )
    rows = {RECORDS: changed((record(product), record(product, price)))}
    return does(goal.format(product.title, decimal(price)), rows)


@template("shop-set-stock", "staff", 9, "dashboard", "search", "form")
def set_stock(draw: Random) -> ShopTask:
    """Another number in stock."""
    product = draw.choice([each for each in products() if not each.sizes])
    stock = draw.choice([each for each in range(10, 90) if each != product.stock])
    goal = one(
        draw,
        'We have counted {1} pieces of the "{0}": set the number in stock to that.',
        'Set the stock of the "{0}" to {1}.',
    )
    rows = {RECORDS: changed((record(product), record(product, stock=stock)))}
    return does(goal.format(product.title, stock), rows)


@template("shop-deliveries", "staff", 18, "dashboard", "search", "form", "compute", "long")
def deliveries(draw: Random) -> ShopTask:
    """The stock of two products grows."""
    first, second = sold(draw, 2)
    more, again = draw.sample(range(5, 50), 2)
    goal = one(
        draw,
        'A delivery has come: {} more of the "{}" and {} more of the "{}". Add them to what is in'
        " stock of each.",
        'Book what has arrived: the stock grows by {} for the "{}" and by {} for the "{}".',
    )
    pairs = [
        (record(each), record(each, stock=each.stock + extra))
        for each, extra in ((first, more), (second, again))
    ]
    goal = goal.format(more, first.title, again, second.title)
    return does(goal, {RECORDS: changed(*pairs)})


@template("shop-rename", "staff", 8, "dashboard", "search", "form")
def rename(draw: Random) -> ShopTask:
    """Another title."""
    product = sold(draw)[0]
    title = f"{draw.choice(_NEW_PRODUCTS)} {product.title.partition(' ')[2]}"
    goal = one(
        draw,
        'Rename the product "{}" to "{}". Nothing else about it changes.',
        'The "{}" has a new name: change its title to "{}".',
    )
    was = shown(product)
    pair = (was, {**was, "title": title})
    return does(goal.format(product.title, title), {PRODUCTS: changed(pair)})


@template("shop-hide", "staff", 8, "dashboard", "search", "form")
def hide(draw: Random) -> ShopTask:
    """A product that customers do not see any more."""
    product = sold(draw)[0]
    goal = one(
        draw,
        'Take the "{}" out of the shop without deleting it: it must not be public any more.',
        'Make the product "{}" non-public, so that customers do not see it.',
    )
    was = shown(product)
    pair = (was, {**was, "is_public": 0})
    return does(goal.format(product.title), {PRODUCTS: changed(pair)})


@template("shop-delete", "staff", 8, "dashboard", "search", "confirm")
def delete(draw: Random) -> ShopTask:
    """A product that is gone, with all that hangs on it; orders keep their lines."""
    held = {*(each.title for each, _ in basket()), *(each.title for each in wishes())}
    product = next(each for each in sold(draw, 8) if each.title not in held)
    goal = one(
        draw,
        'Delete the product "{}" from the catalogue.',
        'We do not sell the "{}" any more. Delete it in the dashboard.',
    )
    rows: dict[str, Row] = {
        PRODUCTS: removed({"id": product_key(product), "title": product.title}),
        RECORDS: removed({"id": record_key(product)}),
        "catalogue_productcategory": removed({"product_id": product_key(product)}),
        "catalogue_productimage": removed({"product_id": product_key(product)}),
        "catalogue_productattributevalue": removed(
            *({"product_id": product_key(product)} for _ in range(3))
        ),
    }
    told = [each for each in reviews() if each.product == product]
    if told:
        rows["reviews_productreview"] = removed(*({"title": each.title} for each in told))
    count = sum(product in dict(order.lines) for order in orders())
    if count:
        was: Row = {"product_id": product_key(product), "title": product.title}
        now: Row = {"product_id": None, "title": product.title}
        rows["order_line"] = changed(*[(was, now)] * count)
    return does(goal.format(product.title), rows)


@template("shop-new-category", "staff", 9, "dashboard", "form", "choose")
def new_category(draw: Random) -> ShopTask:
    """A category below one of the first level."""
    name, parent = draw.choice(_NEW_CATEGORIES), draw.choice(PARENTS)
    goal = one(
        draw,
        'Create a category "{}" below "{}".',
        'We will sell something new: add the category "{}" as a child of "{}".',
    )
    case = does(goal.format(name, parent), {"may": ["catalogue_category"]})
    pairs = sorted([*((each.parent, each.name) for each in CATEGORIES), (parent, name)])
    whole = Check("tree", "equals", [[above, below] for above, below in pairs])
    return replace(case, checks=(*case.checks, whole), queries={"tree": _TREE})


@template("shop-new-product", "staff", 18, "dashboard", "form", "choose", "long")
def new_product(draw: Random) -> ShopTask:
    """A product with category, price and stock."""
    category = draw.choice([each for each in CATEGORIES if each.name != "Shirts"])
    title = f"{draw.choice(_NEW_PRODUCTS)} {category.noun}"
    upc = str(draw.randint(90_000_000, 99_999_999))
    price = category.cheapest + draw.randrange(0, 2000, 5)
    stock = draw.randint(5, 80)
    goal = one(
        draw,
        'Create a product of the type Goods: title "{}", UPC "{}", category "{}". The partner'
        ' Warehouse has it under the SKU "{}", {} pieces at {} pounds.',
        'Add a new product to the catalogue (type Goods): "{}", with the UPC "{}", in the category'
        ' "{}". It comes from the partner Warehouse, SKU "{}"; {} are in stock, at {} pounds.',
    ).format(title, upc, category.name, f"W-{upc}", stock, decimal(price))
    rows: dict[str, Row] = {
        PRODUCTS: added({"title": title, "upc": upc, "structure": "standalone", "is_public": 1}),
        RECORDS: added({"partner_sku": f"W-{upc}", "price": amount(price), "num_in_stock": stock}),
        "catalogue_productcategory": added({"category_id": category_key(category.name)}),
    }
    return does(goal, rows)


ORDERS = "order_order"
_NOTES = (
    "Customer asked for a gift wrap.",
    "Leave the parcel with the neighbour.",
    "Phoned: delivery only after 5 pm.",
    "Address confirmed by email.",
    "Wants an invoice in the company's name.",
)


def _order(order: ShopOrder, status: str) -> Row:
    return {
        "number": order.number,
        "user_id": user_key(order.buyer),
        "total_incl_tax": float(decimal(order.total)),
        "status": status,
    }


def _moved(order: ShopOrder, status: str) -> tuple[Row, Row]:
    return _order(order, order.status), _order(order, status)


def _status_change(order: ShopOrder, status: str) -> Row:
    return {"order_id": order_key(order), "old_status": order.status, "new_status": status}


def _system_note(order: ShopOrder) -> Row:
    """The note that Oscar leaves by itself when a status changes."""
    return {"order_id": order_key(order), "note_type": "System"}


@template("shop-order-status", "staff", 8, "dashboard", "search", "choose")
def order_status(draw: Random) -> ShopTask:
    """The next status of an order."""
    order = draw.choice([each for each in orders() if NEXT_STATUSES[each.status]])
    status = draw.choice(NEXT_STATUSES[order.status])
    goal = one(
        draw,
        'Set the status of order {} to "{}".',
        'Order {} has a new status: "{}". Change it in the dashboard.',
    )
    rows: dict[str, Row] = {
        ORDERS: changed(_moved(order, status)),
        "order_orderstatuschange": added(_status_change(order, status)),
        "order_ordernote": added(_system_note(order)),
    }
    return does(goal.format(order.number, status), rows)


@template("shop-order-note", "staff", 8, "dashboard", "search", "form")
def order_note(draw: Random) -> ShopTask:
    """A note on an order."""
    order, note = draw.choice(orders()), draw.choice(_NOTES)
    goal = one(
        draw,
        'Leave a note on order {}: "{}"',
        'Write this down with order {}, as a note: "{}"',
    )
    row: Row = {"order_id": order_key(order), "message": note, "user_id": user_key(STAFF)}
    return does(goal.format(order.number, note), {"order_ordernote": added(row)})


@template("shop-order-ship", "staff", 14, "dashboard", "choose", "form", "long")
def order_ship(draw: Random) -> ShopTask:
    """All lines of an order are shipped."""
    among = [each for each in orders() if each.status == "Being processed"]
    order = draw.choice(among)
    before = sum(len(each.lines) for each in orders()[: order_key(order) - 1])
    tracking = f"TR{draw.randint(10000, 99999)}"
    goal = one(
        draw,
        'Everything in order {} has been sent. Create a shipping event "Shipped" for all its lines,'
        ' with the reference "{}".',
        'Record for order {} that all of its lines are "Shipped": one shipping event, reference'
        ' "{}".',
    ).replace('"Shipped"', "Shipped")
    lines: list[Row] = [
        {"line_id": before + 1 + place, "quantity": count}
        for place, (_, count) in enumerate(order.lines)
    ]
    event: Row = {"order_id": order_key(order), "event_type_id": 1, "notes": tracking}
    rows: dict[str, Row] = {
        "order_shippingevent": added(event),
        "order_shippingeventquantity": added(*lines),
    }
    return does(goal.format(order.number, tracking), rows)


@template("shop-orders-cancel", "staff", 16, "dashboard", "search", "choose", "long")
def orders_cancel(draw: Random) -> ShopTask:
    """Every order of somebody that has not been begun."""
    waiting = {
        person.email: [each for each in orders_of(person) if each.status == "Pending"]
        for person in OTHERS
    }
    person = draw.choice([each for each in OTHERS if 1 <= len(waiting[each.email]) <= 2])
    goal = one(
        draw,
        'Cancel all orders of {} that are still "Pending".',
        'The customer {} wants nothing of what is still "Pending": cancel those orders.',
    ).replace('"Pending"', "Pending")
    chosen = waiting[person.email]
    rows: dict[str, Row] = {
        ORDERS: changed(*(_moved(order, "Cancelled") for order in chosen)),
        "order_orderstatuschange": added(*(_status_change(order, "Cancelled") for order in chosen)),
        "order_ordernote": added(*(_system_note(order) for order in chosen)),
    }
    return does(goal.format(person.name), rows)


OFFER_TABLE = "offer_conditionaloffer"
_CODES = (("Winter letter", "WINTER"), ("Neighbours", "HELLO"), ("Newsletter", "NEWS"))


def _turned(name: str, before: str, after: str) -> Row:
    key: Row = {"id": offer_key(name), "name": name}
    return changed(({**key, "status": before}, {**key, "status": after}))


@template("shop-offer-end", "staff", 5, "dashboard", "browse")
def offer_end(draw: Random) -> ShopTask:
    """An open offer is suspended."""
    offer = draw.choice([each for each in OFFERS if each.is_open])
    goal = one(
        draw,
        'Suspend the offer "{}".',
        'The offer "{}" must not apply any more for now: suspend it, do not delete it.',
    )
    rows = {OFFER_TABLE: _turned(offer.name, "Open", "Suspended")}
    return does(goal.format(offer.name), rows)


@template("shop-offer-open", "staff", 5, "dashboard", "browse")
def offer_open(draw: Random) -> ShopTask:
    """A suspended offer applies again."""
    offer = draw.choice([each for each in OFFERS if not each.is_open])
    goal = one(
        draw,
        'Reinstate the offer "{}".',
        'The offer "{}" is suspended. Bring it back.',
    )
    rows = {OFFER_TABLE: _turned(offer.name, "Suspended", "Open")}
    return does(goal.format(offer.name), rows)


@template("shop-voucher-new", "staff", 14, "dashboard", "form", "choose", "long")
def voucher_new(draw: Random) -> ShopTask:
    """A voucher for an offer that there is."""
    (name, code), number = draw.choice(_CODES), draw.randint(11, 98)
    giver = draw.choice([each for each in VOUCHERS if each.ends > 2026])
    year = draw.randint(2030, 2060)
    goal = one(
        draw,
        'Create a voucher named "{0}" with the code "{1}". It starts on 2025-01-01 00:00:00, ends'
        ' on {2}-12-31 00:00:00, and gives "{3}".',
        'We need a new voucher: name "{0}", code "{1}", good from 2025-01-01 00:00:00 to'
        ' {2}-12-31 00:00:00, with the offer "{3}".',
    ).format(f"{name} {number}", f"{code}{number}", year, f"Offer for voucher '{giver.name}'")
    row: Row = {
        "name": f"{name} {number}",
        "code": f"{code}{number}",
        "start_datetime": "2025-01-01 00:00:00",
        "end_datetime": f"{year}-12-31 00:00:00",
    }
    place = [each.name for each in VOUCHERS].index(giver.name)
    given: Row = {"conditionaloffer_id": len(OFFERS) + 1 + place}
    rows: dict[str, Row] = {
        "voucher_voucher": added(row),
        "voucher_voucher_offers": added(given),
    }
    return does(goal, rows)


@template("shop-range-add", "staff", 8, "dashboard", "form", "search")
def range_add(draw: Random) -> ShopTask:
    """Two products in a range, by their article numbers."""
    name, (first, second) = draw.choice(RANGES), sold(draw, 2)
    goal = one(
        draw,
        'Add the products with the UPCs "{1}" and "{2}" to the range "{0}".',
        'Put these two into the range "{0}", by their UPCs: "{1}", "{2}".',
    )
    rows = {
        "offer_rangeproduct": added(
            *(
                {"range_id": range_key(name), "product_id": product_key(each)}
                for each in (first, second)
            )
        ),
    }
    return does(goal.format(name, first.upc, second.upc), rows)


@template("shop-review-approve", "staff", 9, "dashboard", "search", "choose")
def review_approve(draw: Random) -> ShopTask:
    """A review that waits is let in, or not."""
    waiting = [(at, each) for at, each in enumerate(reviews()) if not each.is_approved]
    place, review = draw.choice(waiting)
    word, status = draw.choice((("Approved", 1), ("Rejected", 2)))
    goal = one(
        draw,
        'Set the review "{1}" that {2} wrote of the "{0}" to {3}.',
        '{2} has reviewed the "{0}" with the title "{1}". Moderate that review: it is {3}.',
    ).format(review.product.title, review.title, review.author.name, word)
    same: Row = {
        "id": review_key(place),
        "title": review.title,
        "body": review.body,
        "score": review.score,
    }
    pair = ({**same, "status": 0}, {**same, "status": status})
    rows: dict[str, Row] = {"reviews_productreview": changed(pair)}
    return does(goal, {**rows, "may": ["catalogue_product"]})
