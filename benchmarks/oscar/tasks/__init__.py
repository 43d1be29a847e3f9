"""Tasks on the shop and its dashboard, checked by what they leave in its database."""

from benchmarks.oscar.tasks.suite import suite

__all__ = ["suite"]
