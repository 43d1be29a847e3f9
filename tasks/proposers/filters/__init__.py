"""Filters: each says of a proposed task why it is not taken, or nothing."""

from tasks.proposers.filters.feasibility import Solving, feasibility
from tasks.proposers.filters.novelty import Alike, Embed, novelty
from tasks.proposers.filters.safety import Limits, safety
from tasks.proposers.filters.validity import validity

__all__ = [
    "Alike",
    "Embed",
    "Limits",
    "Solving",
    "feasibility",
    "novelty",
    "safety",
    "validity",
]
