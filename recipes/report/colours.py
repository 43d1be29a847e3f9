"""A colour and a shape for each arm, so that neither alone has to tell them apart."""

from recipes.arms import ARMS
from recipes.summary import Summary

SHAPES = (
    *("circle", "square", "circle", "diamond", "up", "down", "cross", "square"),
    *("up", "diamond", "down"),
)


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
