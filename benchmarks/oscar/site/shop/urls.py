"""Addresses of the shop: Oscar's own, and the pictures in its state; and its two ways to ship."""

from decimal import Decimal

from django.apps import apps
from django.conf import settings
from django.urls import include, path, re_path
from django.views.static import serve
from oscar.apps.shipping.methods import FixedPrice
from oscar.apps.shipping.repository import Repository

from benchmarks.oscar.site.catalogue import decimal
from benchmarks.oscar.site.people import SHIPPING

urlpatterns = [
    re_path(r"^media/(?P<path>.*)$", serve, {"document_root": settings.MEDIA_ROOT}),
    path("", include(apps.get_app_config("oscar").urls[0])),
]


Repository.methods = ()
for code, (name, charge) in SHIPPING.items():
    method = FixedPrice(Decimal(decimal(charge)), Decimal(decimal(charge)))
    method.code, method.name = code, name
    Repository.methods += (method,)
"""Standard and express, for every basket."""
