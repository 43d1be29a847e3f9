"""Filters: each says of a proposed task why it is not taken, or nothing."""

from loop.proposers.filters.feasibility import Solving, feasibility
from loop.proposers.filters.novelty import Alike, Embed, novelty
from loop.proposers.filters.safety import Limits, safety
from loop.proposers.filters.validity import validity

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
