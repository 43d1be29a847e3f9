"""Elements by comparison with others of their kind: by size, order, amount and place."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from webagent.memory.goals import clean
from webagent.memory.pages import Page, read_page
from webagent.memory.scene import SLOT, Point, Reference, Scene
from webagent.memory.words import place_of, quantities, superlative_of, way_of
from webagent.records import Node

Descriptor: TypeAlias = tuple[Any, ...]

_ORDINAL = re.compile(r"(\d{1,3})(?:st|nd|rd|th)?")
MOST_MEMBERS = 60
"""Elements of a kind that are compared with each other."""
_LEVEL = 6
"""CSS pixels within which things stand in one column or row."""
_SHOWN = ("selected", "current")
"""States of the link to the page that is shown."""


def possible(scene: Scene, line: int) -> Iterator[Descriptor]:
    """Yield descriptors of these families that may find the line."""
    node = scene.page.nodes[line]
    role, kind = node.role, node.kind
    yield from (("sized", role, way) for way in (-1, 1))
    yield from (("superlative", role, kind, span) for span in ("own", "before", "after"))
    yield from (("unsorted", part) for part in ("from", "onto"))
    yield "unmet", role
    yield "toward", role
    yield "placed", role, kind
    yield from (("step", role, step) for step in (-3, -2, -1, 1, 2, 3))
    for i, slot in enumerate(scene.goal.slots):
        if _ORDINAL.fullmatch(slot.text):
            listed = [
                key for key, lines in scene.page.by_kind.items() if scene.page.nodes[lines[0]].mark
            ]
            yield from (("turn", (SLOT, i), *key) for key in listed)
    columns, rows = _grid(scene.page, role, kind)
    if len(columns) > 1 and len(rows) > 1:
        across, along = _nearest(columns, node.box[0]), _nearest(rows, node.box[1])
        for pair, (x, y) in enumerate(_coordinates(scene)):
            for sign in (1, -1):
                yield "grid", role, kind, pair, (sign, across - x, along - sign * y)


def number_of(text: str) -> int | None:
    """Return the number that a text such as `3rd` is; None for other texts."""
    match = _ORDINAL.fullmatch(text)
    return int(match.group(1)) if match else None


def _turn(scene: Scene, at: Reference, role: str, kind: str) -> int | None:
    """The element with the number that a value says, of a list shown on several pages, or the link
    to the page on which it is."""
    number = number_of(scene.value(at) or "")
    pages = [scene.page, *(read_page(done.observation) for done in scene.past)]
    size = max(len(_listed(page, role, kind)) for page in pages)
    links = _page_links(scene.page)
    if not number or not size or not links:
        return None
    link = pick(links, (number - 1) // size)
    if link is None or not set(_SHOWN).isdisjoint(scene.page.nodes[link].states):
        return pick(_listed(scene.page, role, kind), (number - 1) % size)
    return link


def _page_links(page: Page) -> list[int]:
    """The links named 1, 2, 3 and so on, side by side, that lead through a longer list."""
    lines = [i for i in sorted(page.line_of.values()) if page.nodes[i].name.strip().isdigit()]
    names = [clean(page.nodes[i].name) for i in lines]
    level = len({page.rows[i] for i in lines}) == 1
    return (
        lines if level and len(lines) > 1 and names == [*map(str, range(1, len(lines) + 1))] else []
    )


def _listed(page: Page, role: str, kind: str) -> list[int]:
    """The elements of a kind above the links to other pages."""
    links = _page_links(page)
    lines = page.by_kind.get((role, kind), ()) if links else ()
    return [i for i in lines if i < links[0] and page.rows[i] != page.rows[links[0]]]


def _sized(scene: Scene, role: str, way: int) -> int | None:
    nodes = scene.page.nodes
    lines = scene.page.by_role.get(role, ())
    if not 2 <= len(lines) <= MOST_MEMBERS:
        return None
    return max(lines, key=lambda i: (way * area_of(nodes[i]), -i))


def area_of(node: Node) -> int:
    """Return the square pixels that an element takes."""
    return node.box[2] * node.box[3]


def middle_of(node: Node) -> Point:
    """Return the middle of an element in whole pixels."""
    left, top, width, height = node.box
    return left + width // 2, top + height // 2


def pick(lines: Sequence[int], place: int) -> int | None:
    """Return the line at a place, from the end for one below zero; None where there is none."""
    return lines[place] if -len(lines) <= place < len(lines) else None


def _superlative(scene: Scene, role: str, kind: str, span: str) -> int | None:
    """The element that has, by its name or by the lines before or after it, the least or the most
    of what the goal's words say."""
    wanted = superlative_of(scene.goal)
    page = scene.page
    lines = page.by_kind.get((role, kind), ())
    if wanted is None or not 2 <= len(lines) <= MOST_MEMBERS:
        return None
    sign, unit = wanted
    valued: list[tuple[float, int]] = []
    for at, line in enumerate(lines):
        before = lines[at - 1] if at else -1
        after = lines[at + 1] if at + 1 < len(lines) else len(page.nodes)
        around = {"own": [line], "before": range(before + 1, line), "after": range(line, after)}
        texts = [page.nodes[i].name for i in around[span]]
        amounts = [v for text in texts for k, v in quantities(text) if unit in ("", k)]
        if amounts:
            valued.append((sign * amounts[0], -line))
    return -max(valued)[1] if len(valued) > 1 else None


def unsorted_of(page: Page) -> tuple[int, int] | None:
    """Return of a list of numbers the line that is to be moved next and that of its place, so that
    they ascend; None where they do, or where there is no such list."""
    for lines in _number_lists(page):
        numbers = [float(clean(page.nodes[i].name)) for i in lines]
        for place, number in enumerate(sorted(numbers)):
            if numbers[place] != number:
                return lines[numbers.index(number, place)], lines[place]
    return None


def _number_lists(page: Page) -> list[list[int]]:
    if "number lists" not in page.known:
        page.known["number lists"] = [
            lines
            for (role, _), lines in page.by_kind.items()
            if role not in ("text", "option", "link") and 2 <= len(lines) <= MOST_MEMBERS
            if all(re.fullmatch(r"-?\d+(\.\d+)?", clean(page.nodes[i].name)) for i in lines)
        ]
    found: list[list[int]] = page.known["number lists"]
    return found


def is_sorted(page: Page) -> bool | None:
    """Return whether a list of numbers ascends; None where there is no such list."""
    return unsorted_of(page) is None if _number_lists(page) else None


def unmet_of(scene: Scene, role: str) -> tuple[int, float] | None:
    """Return the first element of a role beside which another number stands than the goal's, value
    by value, and how much is missing; None where all are met."""
    targets = [
        value
        for slot in scene.goal.slots
        if slot.kind == "number" and (re.fullmatch(r"[\d,\s-]+", slot.text) is not None)
        for value in map(float, re.findall(r"-?\d+", slot.text))
    ]
    page = scene.page
    lines = page.by_role.get(role, ())
    for target, line in zip(targets, lines, strict=False):
        shown = shown_at(page, line)
        if shown is not None and shown != target:
            return line, target - shown
    return None


def shown_at(page: Page, line: int) -> float | None:
    """Return the number that a control has, or that stands as text after it."""
    node = page.nodes[line]
    if re.fullmatch(r"-?\d+", node.value):
        return float(node.value)
    for after in page.nodes[line + 1 : line + 3]:
        if not after.mark and re.fullmatch(r"-?\d+", clean(after.name)):
            return float(after.name)
    return None


# -- places -----------------------------------------------------------------------------------


def _toward(scene: Scene, role: str) -> int | None:
    """The nearest element from the chosen one in the way that the goal's words say."""
    way, at = way_of(scene.goal), scene.page.line_of.get(scene.field)
    if way is None or at is None:
        return None
    x, y = middle_of(scene.page.nodes[at])
    best: tuple[int, int] | None = None
    for i in scene.page.by_role.get(role, ())[:MOST_MEMBERS]:
        to_x, to_y = middle_of(scene.page.nodes[i])
        ahead = (to_x - x) * way[0] + (to_y - y) * way[1]
        aside = abs((to_x - x) * way[1]) + abs((to_y - y) * way[0])
        if i != at and ahead > _LEVEL:
            rank = ahead + 4 * aside, i
            best = min(best, rank) if best else rank
    return best[1] if best else None


def _placed(scene: Scene, role: str, kind: str) -> int | None:
    """The element of a kind at the place that the goal's words say: top, bottom left, center."""
    place = place_of(scene.goal)
    columns, rows = _grid(scene.page, role, kind)
    if place is None or len(columns) * len(rows) < 2:
        return None
    x = (columns[0], columns[len(columns) // 2], columns[-1])[place[0] + 1]
    y = (rows[0], rows[len(rows) // 2], rows[-1])[place[1] + 1]
    return _at(scene.page, role, kind, x, y)


def _grid(page: Page, role: str, kind: str) -> tuple[list[int], list[int]]:
    """Lefts of the columns and tops of the rows in which elements of a kind stand."""
    key = ("grid", role, kind)
    if key not in page.known:
        lines = page.by_kind.get((role, kind), ())[:MOST_MEMBERS]
        page.known[key] = tuple(
            _levels(sorted(page.nodes[i].box[axis] for i in lines)) for axis in (0, 1)
        )
    found: tuple[list[int], list[int]] = page.known[key]
    return found


def _levels(values: Sequence[int]) -> list[int]:
    found: list[int] = []
    for value in values:
        if not found or value - found[-1] > _LEVEL:
            found.append(value)
    return found


def _nearest(levels: Sequence[int], value: int) -> int:
    return min(range(len(levels)), key=lambda i: abs(levels[i] - value))


def _at(page: Page, role: str, kind: str, x: int, y: int) -> int | None:
    for i in page.by_kind.get((role, kind), ()):
        left, top = page.nodes[i].box[:2]
        if abs(left - x) <= _LEVEL and abs(top - y) <= _LEVEL:
            return i
    return None


def _coordinates(scene: Scene) -> list[Point]:
    """The pairs of whole numbers in brackets in the goal."""
    pairs = re.findall(r"\((-?\d+),\s?(-?\d+)\)", scene.goal.text)
    return [(int(x), int(y)) for x, y in pairs[:2]]


def _on_grid(
    scene: Scene, role: str, kind: str, pair: int, turn: tuple[int, int, int]
) -> int | None:
    """The element in the column and row that a pair of numbers of the goal says."""
    pairs = _coordinates(scene)
    columns, rows = _grid(scene.page, role, kind)
    if pair >= len(pairs):
        return None
    x, y = pairs[pair]
    sign, dx, dy = turn
    across, along = x + dx, sign * y + dy
    if not (0 <= across < len(columns) and 0 <= along < len(rows)):
        return None
    return _at(scene.page, role, kind, columns[across], rows[along])


def _step(scene: Scene, role: str, step: int) -> int | None:
    """The element of a role so many places after the chosen one."""
    lines = scene.page.by_role.get(role, ())
    at = scene.page.line_of.get(scene.field)
    if at is None or at not in lines:
        return None
    place = lines.index(at) + step
    return lines[place] if 0 <= place < len(lines) else None


def _unsorted(scene: Scene, part: str) -> int | None:
    found = unsorted_of(scene.page)
    return found[0 if part == "from" else 1] if found else None


def _unmet(scene: Scene, role: str) -> int | None:
    found = unmet_of(scene, role)
    return found[0] if found else None


FINDERS: dict[str, Callable[..., int | None]] = {
    "sized": _sized,
    "superlative": _superlative,
    "unsorted": _unsorted,
    "unmet": _unmet,
    "toward": _toward,
    "placed": _placed,
    "grid": _on_grid,
    "step": _step,
    "turn": _turn,
}
"""How each of these families finds its line."""
