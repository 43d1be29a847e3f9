"""A shop with customers, orders and a staff dashboard, made with django-oscar."""

from tasks.sites.oscar.application import OscarSite, site

__all__ = ["OscarSite", "site"]
