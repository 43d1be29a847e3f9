"""The application that stands in place of Oscar's own."""

from oscar.apps.shipping.apps import ShippingConfig as OscarShippingConfig


class ShippingConfig(OscarShippingConfig):
    """Oscar's, found here."""

    name = "benchmarks.oscar.site.shop.shipping"
