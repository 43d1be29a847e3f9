"""A shop with customers, orders and a staff dashboard, made with django-oscar."""

from benchmarks.oscar.site.application import OscarSite, site

__all__ = ["OscarSite", "site"]
