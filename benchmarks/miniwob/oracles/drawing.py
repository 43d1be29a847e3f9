"""Oracles for drawn shapes, drawing boards, sliders, and what is done with the mouse held down."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.miniwob.oracles.forms import submit, submit_after
from benchmarks.oracles import ORDINALS, View, oracle
from webagent.action import Action
from webagent.action.actions import Click, DragAndDrop, MouseClick, MouseDrag, Press
from webagent.records import Node, Observation

Point: TypeAlias = tuple[int, int]

_SAME_COLOR = {"aqua": "cyan", "grey": "gray", "fuchsia": "magenta"}
"""Second names of colours."""
_HALF_LINE = 30
"""Half the length of a drawn line, in CSS pixels."""
_INSET = 2
"""These boards draw a point so many pixels right of and below the click."""


@oracle("draw-line")
def draw_line(view: View) -> Action:
    """`Draw a vertical line that runs through the dot, then press submit.`"""
    direction = view.read_one(r"Draw a (horizontal|vertical) line")
    if view.done:
        return submit(view)
    x, y = middle(_circles(view)[0])
    dx, dy = (_HALF_LINE, 0) if direction == "horizontal" else (0, _HALF_LINE)
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


def find_center(view: View) -> Point:
    """`Find and click on the center of the circle, then press submit.`"""
    return middle(_circles(view)[0])


def find_midpoint(view: View) -> Point:
    """`Find and click on the shortest mid-point between the two points, then press submit.`"""
    (ax, ay), (bx, by) = map(middle, _circles(view)[:2])
    return (ax + bx) // 2, (ay + by) // 2


def find_right_angle(view: View) -> Point:
    """`Add a third point to create a right angle, then press submit.`"""
    vertex, other = _corner(view)
    return _best_point(view, vertex, lambda point: abs(angle(other, vertex, point) - 90))


def find_bisector(view: View) -> Point:
    """`Create a line that bisects the angle evenly in two, then press submit.`"""
    vertex, one, other = _corner(view)
    half = angle(one, vertex, other) / 2
    return _best_point(
        view, vertex, lambda p: max(abs(angle(arm, vertex, p) - half) for arm in (one, other))
    )


_POINTS = {
    "circle-center": find_center,
    "find-midpoint": find_midpoint,
    "right-angle": find_right_angle,
    "bisect-angle": find_bisector,
}
for _task in _POINTS:

    @oracle(_task)
    def click_point(view: View, task: str = _task) -> Action:
        """Click the point of the board, then submit."""
        if view.done:
            return submit(view)
        x, y = _POINTS[task](view)
        return MouseClick(x - _INSET, y - _INSET)


_SIZES = ("small", "medium", "large")
_SHAPES = ("circle", "rectangle", "triangle")
_LARGE = 15
"""Sides from here on, in CSS pixels, are what these pages call large."""


@dataclass(frozen=True, slots=True)
class DrawnShape:
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


def shape_of(node: Node) -> DrawnShape | None:
    """The figure a line tells of, as `large red circle`; None for other lines."""
    if not node.kind.startswith("svg:"):
        return None
    words = [word for word in node.name.split() if word not in _SIZES]
    size = "large" if max(node.box[2:]) >= _LARGE else "small"
    return DrawnShape(size, _plain(words[0]) if len(words) > 1 else "", words[-1])


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
    return view.click("button", name=str(count))


@oracle("identify-shape")
def identify_shape(view: View) -> Action:
    """`Click the button that best describes the figure below.`"""
    shapes = filter(None, map(shape_of, view.page.nodes))
    shape = next(shapes)
    word = {"shape": shape.figure.capitalize(), "digit": "Number", "letter": "Letter"}[shape.kind]
    return view.click("button", name=word)


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
    return submit_after(view, *(Click(shade.mark) for shade in shades))


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
    return _SAME_COLOR.get(color, color)


_FAR = 5
"""From here on a page key is tried before the arrow keys."""


@oracle("use-slider")
def set_slider(view: View) -> Action:
    """`Select 42 with the slider and hit Submit.`"""
    target = int(view.read_one(r"Select (-?\d+) with the slider"))
    return _set(view, [target]) or submit(view)


@oracle("use-slider-2")
def set_sliders(view: View) -> Action:
    """`Set the sliders to the combination [3,14,7] and submit.`: from the top."""
    targets = json.loads(view.read_one(r"combination (\[.*\])"))
    return _set(view, targets) or submit(view)


@oracle("form-sequence")
def set_slider_and_check(view: View) -> Action:
    """`Select 4 with the slider, click the 2nd checkbox, then hit Submit.`"""
    target, place = view.read(r"Select (-?\d+) with the slider, click the (\w+) checkbox")
    if move := _set(view, [int(target)]):
        return move
    box = view.all("checkbox")[ORDINALS[place]]
    return submit_after(view, Click(box.mark))


@oracle("use-spinner")
def set_spinner(view: View) -> Action:
    """`Select -4 with the spinner and hit Submit.`: one click for each step."""
    target = int(view.read_one(r"Select (-?\d+) with the spinner"))
    field = view.find("spinbutton", "textbox")
    value = int(field.value or 0)
    if value == target:
        return submit(view)
    up, down = (node for node in view.after(field).all() if node.name != "Submit")
    return Click(up.mark if value < target else down.mark)


def _set(view: View, targets: list[int]) -> Action | None:
    """The next key that brings the sliders to these values; None when they are there."""
    sliders = view.all("slider")
    handles = sliders or [node for node in view.all() if "slider" in node.name]
    for index, (handle, target) in enumerate(zip(handles, targets, strict=True)):
        value = slider_values(view.page)[index]
        if value != target:
            moves = [
                abs(slider_values(now)[index] - slider_values(then)[index])
                for then, action, now in view.steps
                if isinstance(action, Press) and action.mark == handle.mark and "Page" in action.key
            ]
            page, distance = max(moves, default=0), target - value
            is_far = abs(distance) >= (page * 0.6 if page else _FAR)
            keys = ("PageUp", "PageDown") if is_far else ("ArrowRight", "ArrowLeft")
            return Press(handle.mark, keys[distance < 0])
    return None


def slider_values(page: Observation) -> list[int]:
    """The numbers shown with the sliders, in page order."""
    names = (node.name for node in page.nodes if not node.name.startswith("drawing"))
    return [int(number) for number in re.findall(r"-?\d+", " ".join(names))]


_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_CONTAINER = 40
"""Width, in CSS pixels, from which on a rectangle is a box to drag into."""
_PAST = 6
"""How far beyond the middle of its new place an item is let go, in CSS pixels."""
_STEP = 15
"""How far, in CSS pixels, a shape is dragged where any distance does."""


@oracle("drag-box")
def drag_box(view: View) -> Action:
    """`Drag the smaller box so that it is completely inside the larger box.`"""
    small, large = view.find(name="s"), view.find(name="L")
    left, top, width, height = small.box
    outer_left, outer_top, outer_width, outer_height = large.box
    is_inside = (
        outer_left < left < outer_left + outer_width - width
        and outer_top < top < outer_top + outer_height - height
    )
    return submit(view) if is_inside else DragAndDrop(small.mark, large.mark)


@oracle("drag-circle", "drag-single-shape")
def drag_shape_one_way(view: View) -> Action:
    """`Drag the circle left then press Submit.`"""
    right, down = _WAYS[view.read_one(r"Drag the \w+ (\w+) then press")]
    if view.done:
        return submit(view)
    x, y = middle(next(node for node in view.page.nodes if node.kind.startswith("svg:")))
    return MouseDrag(x, y, x + 2 * _STEP * right, y + 2 * _STEP * down)


@oracle("drag-shapes")
def drag_shapes_into_box(view: View) -> Action:
    """`Drag all circles into the black box.`, then Submit."""
    figure = view.read_one(r"Drag all (\w+)s into")
    first = view.start.page
    (box,) = _boxes(first)
    plan = [_drag(node, box) for node in _loose(first) if node.name.endswith(figure)]
    return submit_after(view, *plan)


@oracle("drag-shapes-2")
def sort_shapes_into_boxes(view: View) -> Action:
    """`Drag all red shapes into the left box, and everything else into the right box.`"""
    word = view.read_one(r"Drag all (\w+?)(?:s| shapes) into the left box")
    first = view.start.page
    left, right = sorted(_boxes(first), key=lambda node: node.box)
    words = {word, _SAME_COLOR.get(word, word)}
    plan = [
        _drag(node, left if words & set(node.name.split()) else right) for node in _loose(first)
    ]
    return submit_after(view, *plan)


@oracle("drag-items")
def drag_item(view: View) -> Action:
    """`Drag Aaren to the 3rd position.` or `up by one position.`, `to the top.` ..."""
    name, where = view.read(r"Drag (\S+) (.+)\.$")
    items = _items(view)
    index = [node.name for node in items].index(name)
    if found := re.search(r"(\d)\w\w position", where):
        place = int(found[1]) - 1
    elif where.startswith("to the"):
        place = 0 if "top" in where else len(items) - 1
    else:
        place = index - 1 if where.startswith("up") else index + 1
    return _drag_to(items, index, place)


@oracle("drag-items-grid")
def drag_item_in_grid(view: View) -> Action:
    """`Drag Aaren to the bottom left.` or `up by one.` ..."""
    name, where = view.read(r"Drag (\S+) (.+)\.$")
    items = _items(view)
    index = [node.name for node in items].index(name)
    if found := re.match(r"(\w+) by one", where):
        right, down = _WAYS[found[1]]
        return _drag_to(items, index, index + right + 3 * down)
    row = 0 if "top" in where else 2 if "bottom" in where else 1
    column = 0 if "left" in where else 2 if "right" in where else 1
    return _drag_to(items, index, 3 * row + column)


@oracle("drag-sort-numbers")
def sort_numbers(view: View) -> Action:
    """`Sort the numbers in increasing order`: the lowest of the rest to the next place."""
    items = _items(view)
    numbers = [int(node.name) for node in items]
    for place, number in enumerate(sorted(numbers)):
        if numbers[place] != number:
            return _drag_to(items, numbers.index(number, place), place)
    return submit(view)


@oracle("resize-textarea")
def resize_field(view: View) -> Action:
    """`Resize the textarea so that the width is larger than its initial size`: by its corner."""
    side, change = view.read(r"the (width|height) is (smaller|larger)")
    if view.done:
        return submit(view)
    left, top, width, height = view.find("textbox").box
    x, y = left + width - 4, top + height - 4
    step = _STEP if change == "larger" else -_STEP
    return MouseDrag(x, y, x + step * (side == "width"), y + step * (side == "height"))


@oracle("highlight-text", "highlight-text-2")
def highlight_text(view: View) -> Action:
    """`Highlight the text in the 2nd paragraph and click submit.`: from its start to its end."""
    found = re.search(r"in the (\d\w\w) paragraph", view.goal)
    lines = [node for node in view.page.nodes if not node.mark]
    left, top, width, height = lines[ORDINALS[found[1]] if found else 0].box
    drag = MouseDrag(left, top + 2, left + width, top + height - 2)
    return submit_after(view, drag)


def _boxes(page: Observation) -> list[Node]:
    """The boxes to drag into, much larger than what is dragged."""
    return [n for n in page.nodes if n.kind == "svg:rect" and n.box[2] >= _CONTAINER]


def _loose(page: Observation) -> list[Node]:
    """The shapes that can be dragged."""
    shapes = [node for node in page.nodes if node.kind.startswith("svg:")]
    return [node for node in shapes if node.box[2] < _CONTAINER]


def _drag(source: Node, target: Node) -> Action:
    return MouseDrag(*middle(source), *middle(target))


def _items(view: View) -> list[Node]:
    return [node for node in view.all() if node.role != "button"]


def _drag_to(items: list[Node], index: int, place: int) -> Action:
    """Drag an item to another one's place, a little past its middle: short of it nothing moves."""
    (x, y), (to_x, to_y) = middle(items[index]), middle(items[place])
    past_x, past_y = _PAST * _sign(to_x - x), _PAST * _sign(to_y - y)
    return MouseDrag(x, y, to_x + past_x, to_y + past_y)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
