"""Oracles for what is done with the mouse held down: moving, sorting, resizing, selecting."""

import re

from benchmarks.miniwob.oracles.words import SAME_COLOR
from benchmarks.oracles import ORDINALS, View, oracle
from webagent.action import Action
from webagent.action.actions import Click, DragAndDrop, MouseDrag
from webagent.records import Node, Observation

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
    if _is_inside(small, large):
        return _submit(view)
    return DragAndDrop(small.mark, large.mark)


@oracle("drag-circle", "drag-single-shape")
def drag_shape_one_way(view: View) -> Action:
    """`Drag the circle left then press Submit.`"""
    right, down = _WAYS[view.read_one(r"Drag the \w+ (\w+) then press")]
    if view.done:
        return _submit(view)
    x, y = center(next(node for node in view.page.nodes if node.kind.startswith("svg:")))
    return MouseDrag(x, y, x + 2 * _STEP * right, y + 2 * _STEP * down)


@oracle("drag-shapes")
def drag_shapes_into_box(view: View) -> Action:
    """`Drag all circles into the black box.`, then Submit."""
    figure = view.read_one(r"Drag all (\w+)s into")
    first = view.start.page
    (box,) = _boxes(first)
    plan = [_drag(node, box) for node in _loose(first) if node.name.endswith(figure)]
    return view.next_of(*plan, _submit(view))


@oracle("drag-shapes-2")
def sort_shapes_into_boxes(view: View) -> Action:
    """`Drag all red shapes into the left box, and everything else into the right box.`"""
    word = view.read_one(r"Drag all (\w+?)(?:s| shapes) into the left box")
    first = view.start.page
    left, right = sorted(_boxes(first), key=lambda node: node.box)
    words = {word, SAME_COLOR.get(word, word)}
    plan = [
        _drag(node, left if words & set(node.name.split()) else right) for node in _loose(first)
    ]
    return view.next_of(*plan, _submit(view))


@oracle("drag-items")
def drag_item(view: View) -> Action:
    """`Drag Aaren to the 3rd position.` or `up by one position.`, `to the top.` ..."""
    name, where = view.read(r"Drag (\S+) (.+)\.$")
    items = _items(view)
    index = [node.name for node in items].index(name)
    return _drag_to(items, index, _place(where, index, len(items)))


@oracle("drag-items-grid")
def drag_item_in_grid(view: View) -> Action:
    """`Drag Aaren to the bottom left.` or `up by one.` ..."""
    name, where = view.read(r"Drag (\S+) (.+)\.$")
    items = _items(view)
    index = [node.name for node in items].index(name)
    return _drag_to(items, index, _grid_place(where, index))


@oracle("drag-sort-numbers")
def sort_numbers(view: View) -> Action:
    """`Sort the numbers in increasing order`: the lowest of the rest to the next place."""
    items = _items(view)
    numbers = [int(node.name) for node in items]
    for place, number in enumerate(sorted(numbers)):
        if numbers[place] != number:
            return _drag_to(items, numbers.index(number, place), place)
    return _submit(view)


@oracle("resize-textarea")
def resize_field(view: View) -> Action:
    """`Resize the textarea so that the width is larger than its initial size`: by its corner."""
    side, change = view.read(r"the (width|height) is (smaller|larger)")
    if view.done:
        return _submit(view)
    left, top, width, height = view.find("textbox").box
    x, y = left + width - 4, top + height - 4
    way = _STEP if change == "larger" else -_STEP
    return MouseDrag(x, y, x + way * (side == "width"), y + way * (side == "height"))


@oracle("highlight-text", "highlight-text-2")
def highlight_text(view: View) -> Action:
    """`Highlight the text in the 2nd paragraph and click submit.`: from its start to its end."""
    found = re.search(r"in the (\d\w\w) paragraph", view.goal)
    lines = [node for node in view.page.nodes if not node.mark]
    left, top, width, height = lines[ORDINALS[found[1]] if found else 0].box
    drag = MouseDrag(left, top + 2, left + width, top + height - 2)
    return view.next_of(drag, _submit(view))


def center(node: Node) -> tuple[int, int]:
    """The middle of an element, in whole pixels."""
    left, top, width, height = node.box
    return left + width // 2, top + height // 2


def _boxes(page: Observation) -> list[Node]:
    """The boxes to drag into, much larger than what is dragged."""
    return [n for n in page.nodes if n.kind == "svg:rect" and n.box[2] >= _CONTAINER]


def _loose(page: Observation) -> list[Node]:
    """The shapes that can be dragged."""
    shapes = [node for node in page.nodes if node.kind.startswith("svg:")]
    return [node for node in shapes if node.box[2] < _CONTAINER]


def _drag(source: Node, target: Node) -> Action:
    return MouseDrag(*center(source), *center(target))


def _is_inside(inner: Node, outer: Node) -> bool:
    left, top, width, height = inner.box
    return (
        outer.box[0] < left < outer.box[0] + outer.box[2] - width
        and outer.box[1] < top < outer.box[1] + outer.box[3] - height
    )


def _submit(view: View) -> Click:
    return Click(view.find("button", name="Submit").mark)


def _items(view: View) -> list[Node]:
    return [node for node in view.all() if node.role != "button"]


def _drag_to(items: list[Node], index: int, place: int) -> Action:
    """Drag an item to another one's place, a little past its middle: short of it nothing moves."""
    (x, y), (to_x, to_y) = center(items[index]), center(items[place])
    past_x, past_y = _PAST * _sign(to_x - x), _PAST * _sign(to_y - y)
    return MouseDrag(x, y, to_x + past_x, to_y + past_y)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _place(where: str, index: int, count: int) -> int:
    if found := re.search(r"(\d)\w\w position", where):
        return int(found[1]) - 1
    if where.startswith("to the"):
        return 0 if "top" in where else count - 1
    return index - 1 if where.startswith("up") else index + 1


def _grid_place(where: str, index: int) -> int:
    if way := re.match(r"(\w+) by one", where):
        right, down = _WAYS[way[1]]
        return index + right + 3 * down
    row = 0 if "top" in where else 2 if "bottom" in where else 1
    column = 0 if "left" in where else 2 if "right" in where else 1
    return 3 * row + column
