"""Templates for staff, in the dashboard, and those that cannot be done."""

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
    FIRST_ORDER,
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
from benchmarks.templates import EndState, TaskDraft, given_up
from tasks.task import TaskCheck

RECORDS = "partner_stockrecord"
PRODUCTS = "catalogue_product"
_TREE = """SELECT above.name, below.name FROM catalogue_category below
LEFT JOIN catalogue_category above ON above.path = substr(below.path, 1, 4) AND above.depth = 1
WHERE below.depth > 1 AND below.is_public ORDER BY 1, 2"""


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


@template("shop-set-price", "staff", 9, "dashboard search form")
def set_price(draw: Random) -> TaskDraft:
    """Another price."""
    product = sold(draw)[0]
    price = product.price + draw.choice((-95, -50, 45, 100, 155, 250))
    rows = {RECORDS: changed((record(product), record(product, price)))}
    return TaskDraft({"product": product.title, "price": decimal(price)}, does(rows))


@template("shop-set-stock", "staff", 9, "dashboard search form")
def set_stock(draw: Random) -> TaskDraft:
    """Another number in stock."""
    product = draw.choice([each for each in products() if not each.sizes])
    stock = draw.choice([each for each in range(10, 90) if each != product.stock])
    rows = {RECORDS: changed((record(product), record(product, stock=stock)))}
    return TaskDraft({"product": product.title, "stock": stock}, does(rows))


@template("shop-deliveries", "staff", 18, "dashboard search form compute long")
def deliveries(draw: Random) -> TaskDraft:
    """The stock of two products grows."""
    first, second = sold(draw, 2)
    more, again = draw.sample(range(5, 50), 2)
    pairs = [
        (record(each), record(each, stock=each.stock + extra))
        for each, extra in ((first, more), (second, again))
    ]
    return TaskDraft(
        {"more": more, "first": first.title, "again": again, "second": second.title},
        does({RECORDS: changed(*pairs)}),
    )


@template("shop-rename", "staff", 8, "dashboard search form")
def rename(draw: Random) -> TaskDraft:
    """Another title."""
    product = sold(draw)[0]
    title = f"{draw.choice(CHOICES['product_names'])} {product.title.partition(' ')[2]}"
    was = shown(product)
    pair = (was, {**was, "title": title})
    return TaskDraft({"product": product.title, "title": title}, does({PRODUCTS: changed(pair)}))


@template("shop-hide", "staff", 8, "dashboard search form")
def hide(draw: Random) -> TaskDraft:
    """A product that customers do not see any more."""
    product = sold(draw)[0]
    was = shown(product)
    pair = (was, {**was, "is_public": 0})
    return TaskDraft({"product": product.title}, does({PRODUCTS: changed(pair)}))


@template("shop-delete", "staff", 8, "dashboard search confirm")
def delete(draw: Random) -> TaskDraft:
    """A product that is gone, with all that hangs on it; orders keep their lines."""
    held = {*(each.title for each, _ in basket()), *(each.title for each in wishes())}
    product = next(each for each in sold(draw, 8) if each.title not in held)
    rows: dict[str, Row] = {
        PRODUCTS: removed({"id": product_key(product), "title": product.title}),
        RECORDS: removed({"id": record_key(product)}),
        "catalogue_productcategory": removed({"product_id": product_key(product)}),
        "catalogue_productimage": removed({"product_id": product_key(product)}),
        "catalogue_productattributevalue": removed(
            *({"product_id": product_key(product)} for _ in range(3))
        ),
    }
    written = [each for each in reviews() if each.product == product]
    if written:
        rows["reviews_productreview"] = removed(*({"title": each.title} for each in written))
    count = sum(product in dict(order.lines) for order in orders())
    if count:
        was: Row = {"product_id": product_key(product), "title": product.title}
        now: Row = {"product_id": None, "title": product.title}
        rows["order_line"] = changed(*[(was, now)] * count)
    return TaskDraft({"product": product.title}, does(rows))


@template("shop-new-category", "staff", 9, "dashboard form choose")
def new_category(draw: Random) -> TaskDraft:
    """A category below one of the first level."""
    name, parent = draw.choice(CHOICES["categories"]), draw.choice(PARENTS)
    pairs = sorted([*((each.parent, each.name) for each in CATEGORIES), (parent, name)])
    tree = TaskCheck("tree", "equals", [[above, below] for above, below in pairs])
    end_state = does({"may": ["catalogue_category"]}) + EndState((tree,), {"tree": _TREE})
    return TaskDraft({"name": name, "parent": parent}, end_state)


@template("shop-new-product", "staff", 18, "dashboard form choose long")
def new_product(draw: Random) -> TaskDraft:
    """A product with category, price and stock."""
    category = draw.choice([each for each in CATEGORIES if each.name != "Shirts"])
    title = f"{draw.choice(CHOICES['product_names'])} {category.noun}"
    upc = str(draw.randint(90_000_000, 99_999_999))
    price = category.cheapest + draw.randrange(0, 2000, 5)
    stock = draw.randint(5, 80)
    rows: dict[str, Row] = {
        PRODUCTS: added({"title": title, "upc": upc, "structure": "standalone", "is_public": 1}),
        RECORDS: added({"partner_sku": f"W-{upc}", "price": amount(price), "num_in_stock": stock}),
        "catalogue_productcategory": added({"category_id": category_key(category.name)}),
    }
    return TaskDraft(
        {
            "title": title,
            "upc": upc,
            "category": category.name,
            "sku": f"W-{upc}",
            "stock": stock,
            "price": decimal(price),
        },
        does(rows),
    )


ORDERS = "order_order"


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


@template("shop-order-status", "staff", 8, "dashboard search choose")
def order_status(draw: Random) -> TaskDraft:
    """The next status of an order."""
    order = draw.choice([each for each in orders() if NEXT_STATUSES[each.status]])
    status = draw.choice(NEXT_STATUSES[order.status])
    rows: dict[str, Row] = {
        ORDERS: changed(_moved(order, status)),
        "order_orderstatuschange": added(_status_change(order, status)),
        "order_ordernote": added(_system_note(order)),
    }
    return TaskDraft({"order": order.number, "status": status}, does(rows))


@template("shop-order-note", "staff", 8, "dashboard search form")
def order_note(draw: Random) -> TaskDraft:
    """A note on an order."""
    order, note = draw.choice(orders()), draw.choice(CHOICES["notes"])
    row: Row = {"order_id": order_key(order), "message": note, "user_id": user_key(STAFF)}
    return TaskDraft({"order": order.number, "note": note}, does({"order_ordernote": added(row)}))


@template("shop-order-ship", "staff", 14, "dashboard choose form long")
def order_ship(draw: Random) -> TaskDraft:
    """All lines of an order are shipped."""
    among = [each for each in orders() if each.status == "Being processed"]
    order = draw.choice(among)
    before = sum(len(each.lines) for each in orders()[: order_key(order) - 1])
    tracking = f"TR{draw.randint(10000, 99999)}"
    lines: list[Row] = [
        {"line_id": before + 1 + place, "quantity": count}
        for place, (_, count) in enumerate(order.lines)
    ]
    event: Row = {"order_id": order_key(order), "event_type_id": 1, "notes": tracking}
    rows: dict[str, Row] = {
        "order_shippingevent": added(event),
        "order_shippingeventquantity": added(*lines),
    }
    return TaskDraft({"order": order.number, "reference": tracking}, does(rows))


@template("shop-orders-cancel", "staff", 16, "dashboard search choose long")
def orders_cancel(draw: Random) -> TaskDraft:
    """Every order of somebody that has not been begun."""
    waiting = {
        person.email: [each for each in orders_of(person) if each.status == "Pending"]
        for person in OTHERS
    }
    person = draw.choice([each for each in OTHERS if 1 <= len(waiting[each.email]) <= 2])
    chosen = waiting[person.email]
    rows: dict[str, Row] = {
        ORDERS: changed(*(_moved(order, "Cancelled") for order in chosen)),
        "order_orderstatuschange": added(*(_status_change(order, "Cancelled") for order in chosen)),
        "order_ordernote": added(*(_system_note(order) for order in chosen)),
    }
    return TaskDraft({"customer": person.name}, does(rows))


OFFER_TABLE = "offer_conditionaloffer"


def _turned(name: str, before: str, after: str) -> Row:
    key: Row = {"id": offer_key(name), "name": name}
    return changed(({**key, "status": before}, {**key, "status": after}))


@template("shop-offer-end", "staff", 5, "dashboard browse")
def offer_end(draw: Random) -> TaskDraft:
    """An open offer is suspended."""
    offer = draw.choice([each for each in OFFERS if each.is_open])
    rows = {OFFER_TABLE: _turned(offer.name, "Open", "Suspended")}
    return TaskDraft({"offer": offer.name}, does(rows))


@template("shop-offer-open", "staff", 5, "dashboard browse")
def offer_open(draw: Random) -> TaskDraft:
    """A suspended offer applies again."""
    offer = draw.choice([each for each in OFFERS if not each.is_open])
    rows = {OFFER_TABLE: _turned(offer.name, "Suspended", "Open")}
    return TaskDraft({"offer": offer.name}, does(rows))


@template("shop-voucher-new", "staff", 14, "dashboard form choose long")
def voucher_new(draw: Random) -> TaskDraft:
    """A voucher for an offer that there is."""
    (name, code), number = draw.choice(CHOICES["vouchers"]), draw.randint(11, 98)
    giver = draw.choice([each for each in VOUCHERS if each.ends > 2026])
    year = draw.randint(2030, 2060)
    row: Row = {
        "name": f"{name} {number}",
        "code": f"{code}{number}",
        "start_datetime": "2025-01-01 00:00:00",
        "end_datetime": f"{year}-12-31 00:00:00",
    }
    place = [each.name for each in VOUCHERS].index(giver.name)
    given: Row = {"conditionaloffer_id": len(OFFERS) + 1 + place}
    rows: dict[str, Row] = {"voucher_voucher": added(row), "voucher_voucher_offers": added(given)}
    return TaskDraft(
        {
            "name": f"{name} {number}",
            "code": f"{code}{number}",
            "year": year,
            "offer": f"Offer for voucher '{giver.name}'",
        },
        does(rows),
    )


@template("shop-range-add", "staff", 8, "dashboard form search")
def range_add(draw: Random) -> TaskDraft:
    """Two products in a range, by their article numbers."""
    name, (first, second) = draw.choice(RANGES), sold(draw, 2)
    rows = {
        "offer_rangeproduct": added(
            *(
                {"range_id": range_key(name), "product_id": product_key(each)}
                for each in (first, second)
            )
        )
    }
    return TaskDraft({"range": name, "first": first.upc, "second": second.upc}, does(rows))


@template("shop-review-approve", "staff", 9, "dashboard search choose")
def review_approve(draw: Random) -> TaskDraft:
    """A review that waits is let in, or not."""
    waiting = [(at, each) for at, each in enumerate(reviews()) if not each.is_approved]
    place, review = draw.choice(waiting)
    word, status = draw.choice((("Approved", 1), ("Rejected", 2)))
    same: Row = {
        "id": review_key(place),
        "title": review.title,
        "body": review.body,
        "score": review.score,
    }
    pair = ({**same, "status": 0}, {**same, "status": status})
    rows: dict[str, Row] = {"reviews_productreview": changed(pair)}
    return TaskDraft(
        {
            "product": review.product.title,
            "title": review.title,
            "author": review.author.name,
            "status": word,
        },
        does({**rows, "may": ["catalogue_product"]}),
    )


@template("shop-no-product", "customer", 3, "search infeasible")
def no_product(draw: Random) -> TaskDraft:
    """The shop does not have it."""
    title = f"{draw.choice(CHOICES['unknown_names'])} {draw.choice(CATEGORIES).noun}"
    return TaskDraft({"product": title}, given_up())


@template("shop-no-stock", "customer", 4, "search infeasible")
def no_stock(draw: Random) -> TaskDraft:
    """It is sold out."""
    product = draw.choice([each for each in products() if not each.stock])
    return TaskDraft({"product": product.title}, given_up())


@template("shop-no-voucher", "shopper", 5, "basket form infeasible")
def no_voucher(draw: Random) -> TaskDraft:
    """The code is not known, or its time is over."""
    code = draw.choice(("SPRING25", "LANTERN40", "TAKE30", "MAYDAY15", "BLUE12"))
    return TaskDraft({"code": code}, given_up())


@template("shop-too-many", "shopper", 5, "basket form infeasible")
def too_many(draw: Random) -> TaskDraft:
    """There are not so many pieces."""
    product, _ = draw.choice(basket())
    count = product.stock + draw.randint(5, 40)
    return TaskDraft({"product": product.title, "count": count}, given_up())


@template("shop-no-order", "staff", 5, "dashboard search infeasible")
def no_order(draw: Random) -> TaskDraft:
    """There is no such order."""
    number = FIRST_ORDER + len(orders()) + draw.randint(20, 900)
    return TaskDraft({"order": number}, given_up())


@template("shop-final-order", "staff", 5, "dashboard search infeasible")
def final_order(draw: Random) -> TaskDraft:
    """Its status is the last one that there is."""
    order = draw.choice([each for each in orders() if each.status in ("Complete", "Cancelled")])
    state = draw.getstate()
    draw.choice((0, 1))  # what the wording will take: seeds keep the status that they had after it
    status = draw.choice(("Pending", "Being processed"))
    draw.setstate(state)
    return TaskDraft({"order": order.number, "status": status}, given_up())


@template("shop-no-rights", "customer", 2, "account infeasible")
def no_rights(draw: Random) -> TaskDraft:
    """Only staff can, and this is a customer."""
    product = sold(draw)[0]
    return TaskDraft({"product": product.title}, given_up())
