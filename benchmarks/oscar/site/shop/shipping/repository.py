"""The ways to ship that the checkout offers."""

from decimal import Decimal

from oscar.apps.shipping.methods import FixedPrice
from oscar.apps.shipping.repository import Repository as OscarRepository

from benchmarks.oscar.site.catalogue import decimal
from benchmarks.oscar.site.people import SHIPPING


def _method(code: str) -> FixedPrice:
    name, charge = SHIPPING[code]
    method = FixedPrice(Decimal(decimal(charge)), Decimal(decimal(charge)))
    method.code, method.name = code, name
    return method


class Repository(OscarRepository):
    """Standard and express, for every basket."""

    methods = tuple(_method(code) for code in SHIPPING)
