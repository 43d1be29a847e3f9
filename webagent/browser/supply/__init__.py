"""Browsers started, lent page by page, weighed and replaced."""
