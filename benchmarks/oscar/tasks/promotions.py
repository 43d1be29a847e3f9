"""Templates about offers, vouchers, ranges and reviews in the dashboard."""

from random import Random

from benchmarks.oscar.site.keys import offer_key, product_key, range_key, review_key
from benchmarks.oscar.site.people import reviews
from benchmarks.oscar.site.promotions import OFFERS, RANGES, VOUCHERS
from benchmarks.oscar.tasks.template import Case, Row, added, changed, does, one, sold, template

OFFER_TABLE = "offer_conditionaloffer"
_CODES = (("Winter letter", "WINTER"), ("Neighbours", "HELLO"), ("Newsletter", "NEWS"))


def _turned(name: str, before: str, after: str) -> Row:
    key: Row = {"id": offer_key(name), "name": name}
    return changed(({**key, "status": before}, {**key, "status": after}))


@template("shop-offer-end", "staff", 5, "dashboard", "browse")
def offer_end(draw: Random) -> Case:
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
def offer_open(draw: Random) -> Case:
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
def voucher_new(draw: Random) -> Case:
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
def range_add(draw: Random) -> Case:
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
def review_approve(draw: Random) -> Case:
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
