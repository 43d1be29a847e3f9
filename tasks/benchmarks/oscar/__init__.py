"""Tasks on the shop and its dashboard, checked by what they leave in its database."""

from tasks.benchmarks.oscar.suite import suite

__all__ = ["suite"]
