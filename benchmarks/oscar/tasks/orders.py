"""Templates about orders in the dashboard: their status, notes, and what is shipped."""

from random import Random

from benchmarks.oscar.site.catalogue import decimal
from benchmarks.oscar.site.keys import order_key, user_key
from benchmarks.oscar.site.people import NEXT_STATUSES, OTHERS, STAFF, Order, orders, orders_of
from benchmarks.oscar.tasks.template import Case, Row, added, changed, does, one, template

ORDERS = "order_order"
_NOTES = (
    "Customer asked for a gift wrap.",
    "Leave the parcel with the neighbour.",
    "Phoned: delivery only after 5 pm.",
    "Address confirmed by email.",
    "Wants an invoice in the company's name.",
)


def _order(order: Order, status: str) -> Row:
    return {
        "number": order.number,
        "user_id": user_key(order.buyer),
        "total_incl_tax": float(decimal(order.total)),
        "status": status,
    }


def _moved(order: Order, status: str) -> tuple[Row, Row]:
    return _order(order, order.status), _order(order, status)


def _noted(order: Order, status: str) -> Row:
    return {"order_id": order_key(order), "old_status": order.status, "new_status": status}


def _traced(order: Order) -> Row:
    """The note that Oscar leaves by itself when a status changes."""
    return {"order_id": order_key(order), "note_type": "System"}


@template("shop-order-status", "staff", 8, "dashboard", "search", "choose")
def order_status(draw: Random) -> Case:
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
        "order_orderstatuschange": added(_noted(order, status)),
        "order_ordernote": added(_traced(order)),
    }
    return does(goal.format(order.number, status), rows)


@template("shop-order-note", "staff", 8, "dashboard", "search", "form")
def order_note(draw: Random) -> Case:
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
def order_ship(draw: Random) -> Case:
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
def orders_cancel(draw: Random) -> Case:
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
        "order_orderstatuschange": added(*(_noted(order, "Cancelled") for order in chosen)),
        "order_ordernote": added(*(_traced(order) for order in chosen)),
    }
    return does(goal.format(person.name), rows)
