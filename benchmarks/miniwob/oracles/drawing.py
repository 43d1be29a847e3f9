"""Oracles for drawn shapes, drawing boards and sliders."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.miniwob.oracles.words import SAME_COLOR
from benchmarks.oracles import ORDINALS, View, oracle
from webagent.action import Action
from webagent.action.actions import Click, MouseClick, MouseDrag, Press
from webagent.records import Node, Observation

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


_SIZES = ("small", "medium", "large")
_SHAPES = ("circle", "rectangle", "triangle")
_LARGE = 15
"""Sides from here on, in CSS pixels, are what these pages call large."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A drawn figure as people describe it."""

    size: str
    color: str
    figure: str
    """`circle`, `rectangle`, `triangle`, or the letter or digit itself."""

    @property
    def kind(self) -> str:
        """`shape`, `letter` or `digit`."""
        if self.figure in _SHAPES:
            return "shape"
        return "digit" if self.figure.isdigit() else "letter"

    def fits(self, description: str) -> bool:
        """Whether `large red item`, `small k` or `blue shape` is true of it."""
        *words, figure = description.split(" ")
        sizes = [word for word in words if word in _SIZES]
        colors = [_plain(word) for word in words if word not in _SIZES]
        return (
            figure in ("item", self.kind, self.figure)
            and sizes in ([], [self.size])
            and colors in ([], [self.color])
        )


def shape_of(node: Node) -> Shape | None:
    """The figure a line tells of, as `large red circle`; None for other lines."""
    if not node.kind.startswith("svg:"):
        return None
    words = [word for word in node.name.split() if word not in _SIZES]
    size = "large" if max(node.box[2:]) >= _LARGE else "small"
    return Shape(size, _plain(words[0]) if len(words) > 1 else "", words[-1])


@oracle("click-shape")
def click_shape(view: View) -> Action:
    """`Click on a small blue letter`: the first that fits."""
    description = view.read_one(r"Click on a (.+)$")
    fitting = [node for node in view.all() if _fits(node, description)]
    return Click(view.first(fitting, f"a {description}").mark)


@oracle("count-shape")
def count_shapes(view: View) -> Action:
    """`How many large items are there?`: press the button with the number."""
    description = view.read_one(r"How many (.+)s are there")
    count = sum(_fits(node, description) for node in view.page.nodes)
    return Click(view.find("button", name=str(count)).mark)


@oracle("identify-shape")
def identify_shape(view: View) -> Action:
    """`Click the button that best describes the figure below.`"""
    shapes = filter(None, map(shape_of, view.page.nodes))
    shape = next(shapes)
    word = {"shape": shape.figure.capitalize(), "digit": "Number", "letter": "Letter"}[shape.kind]
    return Click(view.find("button", name=word).mark)


@oracle("click-color")
def click_color(view: View) -> Action:
    """`Click on the red colored box.`"""
    color = view.read_one(r"Click on the (\w+) colored box")
    boxes = [node for node in view.all() if _plain(node.name.split(" ")[0]) == _plain(color)]
    return Click(view.first(boxes, f"a {color} box").mark)


@oracle("click-shades")
def click_shades(view: View) -> Action:
    """`Select all the shades of green and press Submit.`: in page order."""
    hue = view.read_one(r"shades of (\w+)")
    shades = [node for node in view.all() if hue in node.name.split()]
    submit = view.find("button", name="Submit")
    return view.next_of(*(Click(shade.mark) for shade in shades), Click(submit.mark))


@oracle("grid-coordinate")
def click_coordinate(view: View) -> Action:
    """`Click on the grid coordinate (-2,1).`: the axes cross in the middle of 5 by 5 points."""
    x, y = map(int, view.read(r"\((-?\d),(-?\d)\)"))
    points = [node for node in view.all() if node.kind == "svg:circle"]
    columns = sorted({node.box[0] for node in points})
    rows = sorted({node.box[1] for node in points}, reverse=True)
    at = {(node.box[0], node.box[1]): node for node in points}
    return Click(at[columns[x + 2], rows[y + 2]].mark)


def _fits(node: Node, description: str) -> bool:
    shape = shape_of(node)
    return shape is not None and shape.fits(description)


def _plain(color: str) -> str:
    return SAME_COLOR.get(color, color)


_FAR = 5
"""From here on a page key is tried before the arrow keys."""


@oracle("use-slider")
def set_slider(view: View) -> Action:
    """`Select 42 with the slider and hit Submit.`"""
    target = int(view.read_one(r"Select (-?\d+) with the slider"))
    return _set(view, [target]) or Click(view.find("button", name="Submit").mark)


@oracle("use-slider-2")
def set_sliders(view: View) -> Action:
    """`Set the sliders to the combination [3,14,7] and submit.`: from the top."""
    targets = json.loads(view.read_one(r"combination (\[.*\])"))
    return _set(view, targets) or Click(view.find("button", name="Submit").mark)


@oracle("form-sequence")
def set_slider_and_check(view: View) -> Action:
    """`Select 4 with the slider, click the 2nd checkbox, then hit Submit.`"""
    target, place = view.read(r"Select (-?\d+) with the slider, click the (\w+) checkbox")
    if move := _set(view, [int(target)]):
        return move
    box = view.all("checkbox")[ORDINALS[place]]
    return view.next_of(Click(box.mark), Click(view.find("button", name="Submit").mark))


@oracle("use-spinner")
def set_spinner(view: View) -> Action:
    """`Select -4 with the spinner and hit Submit.`: one click for each step."""
    target = int(view.read_one(r"Select (-?\d+) with the spinner"))
    field = view.find("spinbutton", "textbox")
    value = int(field.value or 0)
    if value == target:
        return Click(view.find("button", name="Submit").mark)
    up, down = (node for node in view.after(field).all() if node.name != "Submit")
    return Click(up.mark if value < target else down.mark)


def _set(view: View, targets: list[int]) -> Action | None:
    """The next key that brings the sliders to these values; None when they are there."""
    sliders = view.all("slider")
    handles = sliders or [node for node in view.all() if "slider" in node.name]
    for index, (handle, target) in enumerate(zip(handles, targets, strict=True)):
        value = slider_values(view.page)[index]
        if value != target:
            return Press(handle.mark, _key(view, handle, index, target - value))
    return None


def slider_values(page: Observation) -> list[int]:
    """The numbers shown with the sliders, in page order."""
    names = (node.name for node in page.nodes if not node.name.startswith("drawing"))
    return [int(number) for number in re.findall(r"-?\d+", " ".join(names))]


def _key(view: View, handle: Node, index: int, way: int) -> str:
    moves = [
        abs(slider_values(now)[index] - slider_values(then)[index])
        for then, action, now in view.steps
        if isinstance(action, Press) and action.mark == handle.mark and "Page" in action.key
    ]
    page = max(moves, default=0)
    if abs(way) >= (page * 0.6 if page else _FAR):
        return "PageUp" if way > 0 else "PageDown"
    return "ArrowRight" if way > 0 else "ArrowLeft"
