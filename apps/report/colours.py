"""A colour and a shape for each arm, so that neither alone has to tell them apart."""

from loop.arms import ARMS
from loop.summary import Summary

SHAPES = (
    *("circle", "square", "circle", "diamond", "up", "down", "cross", "square"),
    *("up", "diamond", "down"),
)

_MARKERS = {"circle": "o", "square": "s", "diamond": "D", "up": "^", "down": "v", "cross": "P"}
"""The same marks as matplotlib calls them."""
_COLOURS = (
    *("#6b7280", "#8a6d1d", "#0062a3", "#00795c", "#b3478a", "#c2500a"),
    *("#4aa3df", "#7a4fb5", "#9a2f2f", "#4f6b1f", "#5a4636"),
)
"""Those of the page in its light form, for pictures."""


def colour_of(summary: Summary, arm: str) -> str:
    """The arm's colour in pictures."""
    return _COLOURS[_place(summary, arm)]


def marker_of(summary: Summary, arm: str) -> str:
    """The arm's mark in pictures."""
    return _MARKERS[shape_of(summary, arm)]


def colour_class(summary: Summary, arm: str) -> str:
    """The class that sets the arm's colour; an arm has the same one in every report."""
    return f"a{_place(summary, arm)}"


def shape_of(summary: Summary, arm: str) -> str:
    """The arm's mark."""
    return SHAPES[_place(summary, arm)]


def _place(summary: Summary, arm: str) -> int:
    if arm in ARMS:
        return list(ARMS).index(arm)
    return (2 + [row["name"] for row in summary["arms"]].index(arm)) % len(SHAPES)
