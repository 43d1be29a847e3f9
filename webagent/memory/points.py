"""Points by description: where in an element, between drawn things, or how far along one clicks.

A drag ends at a point that is described by where it began or by another element. Points are exact,
since that is what drawn pages ask for.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from webagent.memory.comparisons import middle_of
from webagent.memory.elements import describe_element, find_element
from webagent.memory.pages import Page
from webagent.memory.scene import Point, Scene, line_at
from webagent.memory.words import way_of

Descriptor: TypeAlias = tuple[Any, ...]
Place: TypeAlias = tuple[float, float, int, int]
"""Share of width and of height from the left and the top, and CSS pixels beyond that."""
Drawn: TypeAlias = tuple[str, str, int]
"""A drawn thing: its name or kind, which of the two it is, and its number among those."""

_REACH = 16
"""CSS pixels from an edge or a middle within which a point is said by it."""
_INSETS = (0, 1, 2, 3)
"""CSS pixels by which a drawing may put what is drawn beside the mouse."""
_BORDER = 5
"""CSS pixels at the edge of a drawing that are not drawn on."""
_MOST_SHAPES = 4
_PAST = 8
"""CSS pixels beyond a middle at which a thing is let go so that it takes the place."""


def describe_point(scene: Scene, name: str, point: Point) -> frozenset[Descriptor]:
    """Return every descriptor that gives the point, `spot` or `to`, in this scene."""
    possible = _possible_ends(scene, point) if name == "to" else _possible_spots(scene, point)
    return frozenset(d for d in possible if find_point(scene, d) == point) | {("is", ("=", point))}


def find_point(scene: Scene, descriptor: Descriptor) -> Point | None:
    """Return the point that a descriptor gives in this scene; None where it gives none."""
    match descriptor:
        case ("in", tuple(element), tuple(place)):
            box = _box_of(scene, element)
            return _placed(box, place) if box else None
        case ("past", tuple(element), int(far)):
            return _past(scene, element, far)
        case ("from", int(dx), int(dy)):
            return (scene.start[0] + dx, scene.start[1] + dy) if scene.start else None
        case ("is", ("=", (int(x), int(y)))):
            return x, y
    return _find_by_drawing(scene, descriptor)


def _find_by_drawing(scene: Scene, descriptor: Descriptor) -> Point | None:
    """The point that is told by the way the goal says, or by drawn things."""
    match descriptor:
        case ("along", int(far)):
            way = way_of(scene.goal)
            if way is None or scene.start is None:
                return None
            return scene.start[0] + far * way[0], scene.start[1] + far * way[1]
        case ("off", tuple(shape), int(far)):
            way, middle = way_of(scene.goal), _shape(scene.page, shape)
            if way is None or middle is None:
                return None
            return middle[0] + far * way[0], middle[1] + far * way[1]
        case ("between", tuple(a), tuple(b), int(dx), int(dy)):
            one, other = _shape(scene.page, a), _shape(scene.page, b)
            if one is None or other is None:
                return None
            return (one[0] + other[0]) // 2 + dx, (one[1] + other[1]) // 2 + dy
        case ("square" | "bisect" as how, tuple(shapes), int(inset)):
            return _angled(scene.page, how, shapes, inset)
    return None


def _possible_spots(scene: Scene, point: Point) -> Iterator[Descriptor]:
    """Descriptors of where to press, in the element that is chosen or by what is drawn."""
    page = scene.page
    box = _box_of(scene, ())
    if box:
        yield from (("in", (), place) for place in _places(box, point))
    yield from _by_shapes(scene, point)
    shapes = _shapes(page)
    names = [shape for shape in shapes if len(shape[0]) and shape[1] == "svg:circle"]
    for i, a in enumerate(names[:_MOST_SHAPES]):
        for b in names[i + 1 : _MOST_SHAPES]:
            middle = find_point(scene, ("between", a, b, 0, 0)) or (0, 0)
            dx, dy = point[0] - middle[0], point[1] - middle[1]
            if max(abs(dx), abs(dy)) <= max(_INSETS):
                yield "between", a, b, dx, dy
    for vertex in names[:_MOST_SHAPES]:
        others = [each for each in names[:_MOST_SHAPES] if each != vertex]
        chosen: list[tuple[str, tuple[Drawn, ...]]] = []
        if len(others) == 1:
            chosen.append(("square", (vertex, others[0])))
        elif len(others) == 2:
            chosen.append(("bisect", (vertex, *others)))
        yield from ((how, group, inset) for how, group in chosen for inset in _INSETS)


def _possible_ends(scene: Scene, point: Point) -> Iterator[Descriptor]:
    """Descriptors of where to let go, from where it began or by what is there."""
    if scene.start is not None:
        dx, dy = point[0] - scene.start[0], point[1] - scene.start[1]
        yield "from", dx, dy
        if way := way_of(scene.goal):
            yield "along", dx * way[0] + dy * way[1]
    box = _box_of(scene, ())
    if box:
        yield from (("in", (), place) for place in _places(box, point))
    yield from _by_shapes(scene, point)
    page = scene.page
    mark = line_at(page, point)
    if mark and mark != scene.field:
        node = page.nodes[page.line_of[mark]]
        for element in describe_element(scene, mark):
            yield from (("in", element, place) for place in _places(node.box, point)[:2])
            yield from (("past", element, far) for far in range(1, _PAST + 1))


def _by_shapes(scene: Scene, point: Point) -> Iterator[Descriptor]:
    """Descriptors of a point that is so far from a drawn thing in the way the goal says."""
    way = way_of(scene.goal)
    if way is None:
        return
    for shape in _shapes(scene.page)[: 2 * _MOST_SHAPES]:
        middle = _shape(scene.page, shape)
        if middle is not None:
            yield "off", shape, (point[0] - middle[0]) * way[0] + (point[1] - middle[1]) * way[1]


# -- in elements ------------------------------------------------------------------------------


def _box_of(scene: Scene, element: Descriptor) -> tuple[int, int, int, int] | None:
    mark = find_element(scene, element) if element else scene.field
    line = scene.page.line_of.get(mark) if mark else None
    return scene.page.nodes[line].box if line is not None else None


def _places(box: tuple[int, int, int, int], point: Point) -> list[Place]:
    """The point by the middle, the edges and the corners of a box that are near it."""
    found: list[tuple[int, Place]] = []
    for right in (0.5, 0.0, 1.0):
        for down in (0.5, 0.0, 1.0):
            x, y = _placed(box, (right, down, 0, 0))
            dx, dy = point[0] - x, point[1] - y
            if abs(dx) <= _REACH and abs(dy) <= _REACH:
                found.append((abs(dx) + abs(dy), (right, down, dx, dy)))
    return [place for _, place in sorted(found, key=lambda each: each[0])]


def _placed(box: tuple[int, int, int, int], place: Place) -> Point:
    left, top, width, height = box
    right, down, dx, dy = place
    return left + int(width * right) + dx, top + int(height * down) + dy


def _past(scene: Scene, element: Descriptor, far: int) -> Point | None:
    """A little beyond the middle of an element, seen from where the drag began."""
    mark = find_element(scene, element)
    line = scene.page.line_of.get(mark) if mark else None
    if line is None or scene.start is None:
        return None
    x, y = middle_of(scene.page.nodes[line])
    return x + far * _sign(x - scene.start[0]), y + far * _sign(y - scene.start[1])


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


# -- drawn things -----------------------------------------------------------------------------


def _shapes(page: Page) -> list[Drawn]:
    """The drawn things, each by its kind and number and by its name and number."""
    if "shapes" not in page.known:
        found: list[Drawn] = []
        seen: dict[tuple[str, str], int] = {}
        for line in page.by_role.get("graphic", ())[:40]:
            node = page.nodes[line]
            if node.kind == "svg":
                continue
            for key in (("", node.kind), (node.name, node.kind)):
                found.append((*key, seen.get(key, 0)))
                seen[key] = seen.get(key, 0) + 1
        page.known["shapes"] = found
    shapes: list[Drawn] = page.known["shapes"]
    return shapes


def _shape(page: Page, shape: Sequence[Any]) -> Point | None:
    """The middle of a drawn thing."""
    name, kind, place = shape
    lines = [i for i in page.by_kind.get(("graphic", kind), ()) if name in ("", page.nodes[i].name)]
    return middle_of(page.nodes[lines[place]]) if place < len(lines) else None


def _angled(page: Page, how: str, shapes: Sequence[Any], inset: int) -> Point | None:
    """The point of the drawing that makes a right angle at the first of two things, or halves the
    angle at the first of three, best; far off, since a pixel's blur counts less there."""
    points = [_shape(page, shape) for shape in shapes]
    board = next((n for n in page.nodes if n.kind == "svg"), None)
    if board is None or None in points or len(set(points)) < len(points):
        return None
    key = ("angled", how, tuple(points))
    if key not in page.known:
        page.known[key] = _best_point(board.box, how, [p for p in points if p is not None])
    x, y = page.known[key]
    return x - inset, y - inset


def _best_point(box: tuple[int, int, int, int], how: str, points: Sequence[Point]) -> Point:
    left, top, width, height = box
    vertex, *arms = points
    xs = np.arange(left + _BORDER, left + width - _BORDER)
    ys = np.arange(top + _BORDER, top + height - _BORDER)
    # One column after the other, so that of equals the first is the leftmost.
    across, down = (each.T - v for each, v in zip(np.meshgrid(xs, ys), vertex, strict=True))
    away = np.hypot(across, down)
    turns = np.degrees(np.arctan2(down, across))

    def angle_to(arm: Point) -> Any:
        own = math.degrees(math.atan2(arm[1] - vertex[1], arm[0] - vertex[0]))
        turn = np.abs(turns - own) % 360
        return np.minimum(turn, 360 - turn)

    if how == "square":
        error = np.abs(angle_to(arms[0]) - 90)
    else:
        first, second = (math.atan2(arm[1] - vertex[1], arm[0] - vertex[0]) for arm in arms)
        whole = abs(math.degrees(first - second)) % 360
        half = min(whole, 360 - whole) / 2
        error = np.maximum(np.abs(angle_to(arms[0]) - half), np.abs(angle_to(arms[1]) - half))
    blurred = error + np.degrees(1 / np.maximum(away, 1e-9))
    best = int(np.argmin(np.where(away > 0, blurred, np.inf)))
    column, row = divmod(best, len(ys))
    return int(xs[column]), int(ys[row])
