"""Oracles for drawing boards: find the point or the line that the figure asks for."""

import math
from collections.abc import Callable
from typing import TypeAlias

from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import View
from webagent.action import Action
from webagent.action.actions import Click, MouseClick, MouseDrag
from webagent.records import Node

Point: TypeAlias = tuple[int, int]

_HALF_LINE = 30
"""Half the length of a drawn line, in CSS pixels."""
_INSET = 2
"""These boards draw a point so many pixels right of and below the click."""


@oracle("circle-center")
def click_center(view: View) -> Action:
    """`Find and click on the center of the circle, then press submit.`"""
    return _click_then_submit(view, lambda: middle(_circles(view)[0]))


@oracle("find-midpoint")
def click_midpoint(view: View) -> Action:
    """`Find and click on the shortest mid-point between the two points, then press submit.`"""

    def midpoint() -> Point:
        (ax, ay), (bx, by) = map(middle, _circles(view)[:2])
        return (ax + bx) // 2, (ay + by) // 2

    return _click_then_submit(view, midpoint)


@oracle("right-angle")
def click_right_angle(view: View) -> Action:
    """`Add a third point to create a right angle, then press submit.`"""

    def corner() -> Point:
        vertex, other = _corner(view)
        return _best_point(view, vertex, lambda point: abs(angle(other, vertex, point) - 90))

    return _click_then_submit(view, corner)


@oracle("bisect-angle")
def click_bisector(view: View) -> Action:
    """`Create a line that bisects the angle evenly in two, then press submit.`"""

    def bisector() -> Point:
        vertex, one, other = _corner(view)
        half = angle(one, vertex, other) / 2
        return _best_point(
            view,
            vertex,
            lambda p: max(abs(angle(arm, vertex, p) - half) for arm in (one, other)),
        )

    return _click_then_submit(view, bisector)


@oracle("draw-line")
def draw_line(view: View) -> Action:
    """`Draw a vertical line that runs through the dot, then press submit.`"""
    way = view.read_one(r"Draw a (horizontal|vertical) line")
    if view.done:
        return Click(view.find("button", name="Submit").mark)
    x, y = middle(_circles(view)[0])
    dx, dy = (_HALF_LINE, 0) if way == "horizontal" else (0, _HALF_LINE)
    return MouseDrag(x - dx, y - dy, x + dx, y + dy)


def middle(node: Node) -> Point:
    """The middle of an element, in whole pixels."""
    left, top, width, height = node.box
    return left + width // 2, top + height // 2


def angle(one: Point, vertex: Point, other: Point) -> float:
    """The angle at the vertex, in degrees from 0 to 180."""
    first = math.atan2(one[1] - vertex[1], one[0] - vertex[0])
    second = math.atan2(other[1] - vertex[1], other[0] - vertex[0])
    turn = abs(math.degrees(first - second)) % 360
    return min(turn, 360 - turn)


def _circles(view: View) -> list[Node]:
    return [node for node in view.page.nodes if node.kind == "svg:circle"]


def _corner(view: View) -> list[Point]:
    """The vertex, which is blue, and the ends of its arms, which are black."""
    circles = sorted(_circles(view), key=lambda node: "blue" not in node.name)
    return [middle(node) for node in circles]


def _best_point(view: View, vertex: Point, error: Callable[[Point], float]) -> Point:
    """The point of the board with the least error in degrees, a pixel's blur included."""
    left, top, width, height = view.find(kind="svg").box
    columns, rows = range(left + 5, left + width - 5), range(top + 5, top + height - 5)
    points = [(x, y) for x in columns for y in rows if (x, y) != vertex]
    return min(points, key=lambda point: error(point) + math.degrees(1 / math.dist(point, vertex)))


def _click_then_submit(view: View, point: Callable[[], Point]) -> Action:
    if view.done:
        return Click(view.find("button", name="Submit").mark)
    x, y = point()
    return MouseClick(x - _INSET, y - _INSET)
