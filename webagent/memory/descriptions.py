"""Elements by what is true of them: what they look like, hold, measure, and where they stand.

Where `elements` finds a thing by its name and by what stands beside it, these families find it by
the goal's describing words, by a comparison with others of its kind, or by what is still to do.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from webagent.memory.goals import Goal, clean
from webagent.memory.pages import Page, is_within
from webagent.memory.scene import SLOT, Point, Reference, Scene
from webagent.memory.words import (
    SHAPES,
    is_describing,
    normal_word,
    place_of,
    properties_of,
    quantities,
    superlative_of,
    way_of,
)
from webagent.records import Node

Descriptor: TypeAlias = tuple[Any, ...]

_TOKEN = re.compile(r"\w+")
_ORDINAL = re.compile(r"(\d{1,3})(?:st|nd|rd|th)?")
_MOST_MEMBERS = 60
"""Elements of a kind that are compared with each other."""
_MOST_SEGMENTS = 3
_LEVEL = 6
"""CSS pixels within which things stand in one column or row."""
_HOLDS = 6
"""How many times larger than others a rectangle is that holds them."""
_MOST_PER_PAGE = 12
"""Results that a page of a longer list shows, at most."""


def possible(scene: Scene, line: int) -> Iterator[Descriptor]:
    """Yield descriptors of these families that may find the line; each is tried before it is
    kept."""
    page, node = scene.page, scene.page.nodes[line]
    role, kind = node.role, node.kind
    for k in range(len(segments(scene))):
        for each in (role, ""):
            for head, lines in (
                ("described", described(scene, k, each)),
                ("described left", still_described(scene, k, each)),
            ):
                if line in lines[:3]:
                    yield head, k, each, lines.index(line)
    for way in (-1, 1):
        yield "sized", role, way
    loose = left_of(scene, loose_of(page, role))
    if line in loose[:2]:
        yield "loose", role, loose.index(line)
    yield "true", role
    yield from (("asked", role, place) for place in range(3))
    yield from (("superlative", role, kind, span) for span in ("own", "before", "after"))
    yield from (("unsorted", part) for part in ("from", "onto"))
    yield "unmet", role
    yield "toward", role
    yield "placed", role, kind
    yield from (("step", role, step) for step in (-3, -2, -1, 1, 2, 3))
    yield from _by_values(scene, node)


def _by_values(scene: Scene, node: Node) -> Iterator[Descriptor]:
    """Descriptors that go by values of the goal."""
    role, kind, name = node.role, node.kind, clean(node.name)
    slots: list[Reference] = [(SLOT, i) for i in range(len(scene.goal.slots))]
    texts = [slot.text for slot in scene.goal.slots]
    for a, first in zip(slots, texts, strict=True):
        if name.lower().startswith(first.lower()) and name.lower() != first.lower():
            yield "like", role, a, None
            for b, last in zip(slots, texts, strict=True):
                if b != a and name.lower().endswith(last.lower()):
                    yield "like", role, a, b
        if name and scene.page.holds(first):
            named: list[Reference] = [b for b, t in zip(slots, texts, strict=True) if t == name]
            named += [
                b
                for b, t in zip(slots, texts, strict=True)
                if t.lower() == name.lower() and b not in named
            ]
            yield from (("each", a, role, reference) for reference in (*named, ("=", name)))
        if _ORDINAL.fullmatch(first):
            for size in range(2, _MOST_PER_PAGE):
                yield "turn", a, role, kind, size
                yield "leaf", a, role, size
    for a, x, y in _coordinates(scene):
        columns, rows = _grid(scene.page, role, kind)
        left, top = node.box[:2]
        if len(columns) > 1 and len(rows) > 1:
            across, along = _nearest(columns, left), _nearest(rows, top)
            for sign in (1, -1):
                yield "grid", role, kind, a, sign, across - x, along - sign * y
    for k in range(len(segments(scene))):
        if name == str(len(described(scene, k, ""))):
            yield "numbered", role, k


def find(scene: Scene, descriptor: Descriptor) -> int | None:
    """Return the mark that a descriptor of these families finds; None where it finds nothing."""
    line = FINDERS[descriptor[0]](scene, *descriptor[1:])
    return scene.page.mark_at(line) if line is not None else None


# -- what things look like --------------------------------------------------------------------


@lru_cache(16384)
def attributes(name: str, role: str, kind: str) -> frozenset[str]:
    """Return words that are true of an element by its look: those of its name and what they are
    cases of."""
    tokens = _TOKEN.findall(name)
    found = {normal_word(token) for token in tokens}
    parts = kind.split(":")
    found |= {role, parts[-1]} if parts[0] in ("input", "textarea", "button") else set()
    if kind.startswith("svg:") and tokens:
        last = tokens[-1]
        found.add("item")
        if normal_word(last) in SHAPES:
            found |= {"shape", "figure"}
        elif len(last) == 1:
            found |= {"letter"} if last.isalpha() else {"digit", "number"}
    return frozenset(found)


def segments(scene: Scene) -> list[frozenset[str]]:
    """Return the stretches of the goal that say what something looks like, as words."""
    goal = scene.goal
    found = _SEGMENTS.get(goal.text)
    if found is None:
        found = list(_segments(goal.text))[:_MOST_SEGMENTS]
        if len(_SEGMENTS) > 4096:
            _SEGMENTS.clear()
        _SEGMENTS[goal.text] = found
    return found


_SEGMENTS: dict[str, list[frozenset[str]]] = {}


def _segments(text: str) -> Iterator[frozenset[str]]:
    tokens = _TOKEN.findall(text)
    run: list[str] = []
    for i, token in enumerate([*tokens, ""]):
        word = normal_word(token) if token else ""
        if re.fullmatch(r"[^\W_]s", token):
            token = word = token[0]
        is_letter = len(token) == 1 and not (token in "aI" and i + 1 < len(tokens))
        if word and (is_describing(word) or (is_letter and (run or i + 1 == len(tokens)))):
            run.append(word)
        elif run:
            yield frozenset(run)
            run = []


def described(scene: Scene, k: int, role: str) -> list[int]:
    """Return the elements of a role, or of any, of which all words of a stretch are true."""
    stretches = segments(scene)
    if k >= len(stretches):
        return []
    page = scene.page
    key = ("described", stretches[k], role)
    if key not in page.known:
        lines = page.by_role.get(role, ()) if role else sorted(page.line_of.values())
        page.known[key] = [
            i
            for i in lines
            if (n := page.nodes[i]).mark and stretches[k] <= attributes(n.name, n.role, n.kind)
        ]
    found: list[int] = page.known[key]
    return found


def left_of(scene: Scene, lines: Sequence[int]) -> list[int]:
    """Return those that were not acted on before."""
    marks = {done.mark for done in scene.past}
    return [i for i in lines if scene.page.nodes[i].mark not in marks]


def still_described(scene: Scene, k: int, role: str) -> list[int]:
    """Return those described that were not acted on before, and are no box that holds others or lie
    in one."""
    boxes = boxes_of(scene.page)
    nodes = scene.page.nodes
    return [
        i
        for i in left_of(scene, described(scene, k, role))
        if i not in boxes and not any(_is_inside(nodes[i], nodes[box]) for box in boxes)
    ]


def boxes_of(page: Page) -> list[int]:
    """Return the drawn rectangles that are much larger than what else is drawn."""
    if "boxes" not in page.known:
        lines = [i for i in page.by_role.get("graphic", ()) if page.nodes[i].kind != "svg"]
        areas = sorted(_area(page.nodes[i]) for i in lines)
        usual = areas[len(areas) // 3] if areas else 0
        page.known["boxes"] = [
            i
            for i in page.by_kind.get(("graphic", "svg:rect"), ())
            if _area(page.nodes[i]) > _HOLDS * usual
        ]
    found: list[int] = page.known["boxes"]
    return found


def loose_of(page: Page, role: str) -> list[int]:
    """Return the drawn elements of a role that lie in none of the boxes."""
    lines = page.by_role.get(role, ())
    boxes = boxes_of(page)
    if role != "graphic" or not boxes or len(lines) > _MOST_MEMBERS:
        return []
    return [
        i
        for i in lines
        if i not in boxes and not any(_is_inside(page.nodes[i], page.nodes[box]) for box in boxes)
    ]


def _area(node: Node) -> int:
    return node.box[2] * node.box[3]


def middle_of(node: Node) -> Point:
    """Return the middle of an element in whole pixels."""
    left, top, width, height = node.box
    return left + width // 2, top + height // 2


def _is_inside(inner: Node, outer: Node) -> bool:
    x, y = middle_of(inner)
    left, top, width, height = outer.box
    return left <= x <= left + width and top <= y <= top + height


def _pick(lines: Sequence[int], place: int) -> int | None:
    return lines[place] if -len(lines) <= place < len(lines) else None


def _sized(scene: Scene, role: str, way: int) -> int | None:
    nodes = scene.page.nodes
    lines = scene.page.by_role.get(role, ())
    if not 2 <= len(lines) <= _MOST_MEMBERS:
        return None
    return max(lines, key=lambda i: (way * _area(nodes[i]), -i))


def _true(scene: Scene, role: str) -> int | None:
    """The first element not acted on whose name is true of a number in its row, or of a figure."""
    page = scene.page
    lines = page.by_role.get(role, ())
    if len(lines) > _MOST_MEMBERS:
        return None
    figures: set[str] = set()
    for i in page.by_role.get("graphic", ()):
        node = page.nodes[i]
        figures |= attributes(node.name, node.role, node.kind)
    for i in left_of(scene, lines):
        name = clean(page.nodes[i].name).lower()
        row = " ".join(page.nodes[j].name for j in page.row_lines(i) if j != i)
        amounts = quantities(row)
        if name and (
            any(name in properties_of(value) for _, value in amounts) or name in figures - {"item"}
        ):
            return i
    return None


def _asked(scene: Scene, role: str, place: int) -> int | None:
    """The element behind a label that the goal names."""
    page, found = scene.page, list[int]()
    words = " ".join(scene.goal.words)
    for at, unit in enumerate(page.units):
        if not unit.text.endswith(":") or not 3 < len(unit.text) < 30:
            continue
        if is_within(unit.text[:-1].lower(), words):
            after = [u.line for u in page.units[at : at + 3] if page.nodes[u.line].role == role]
            found += after[:1]
    return _pick(found, place)


def _like(scene: Scene, role: str, start: Reference, end: Reference | None) -> int | None:
    """The first element whose name begins with one value and ends with another."""
    head = (scene.value(start) or "\0").lower()
    tail = ((scene.value(end) or "\0") if end else "").lower()
    for i in scene.page.by_role.get(role, ()):
        name = clean(scene.page.nodes[i].name).lower()
        if name.startswith(head) and name.endswith(tail):
            return i
    return None


# -- one after the other ----------------------------------------------------------------------


def each_of(scene: Scene, at: Reference, role: str, named: Reference) -> list[int]:
    """Return the elements of this name, one after each place of a value, before the next place of
    anything like it."""
    page = scene.page
    text, name = scene.value(at), scene.value(named)
    if not text or not name:
        return []
    found = []
    lines = [
        i
        for r, n in page.by_name
        if n == name.lower() and role in ("", r)
        for i in page.by_name[r, n]
    ]
    lines.sort()
    for hit in page.find_all(text)[:_MOST_MEMBERS]:
        line = page.units[hit].line
        after = next((i for i in lines if i > line), None)
        if after is not None and after not in found:
            found.append(after)
    return found


def _each(scene: Scene, at: Reference, role: str, named: Reference) -> int | None:
    return _pick(left_of(scene, each_of(scene, at, role, named)), 0)


def number_of(text: str) -> int | None:
    """Return the number that a text such as `3rd` is; None for other texts."""
    match = _ORDINAL.fullmatch(text)
    return int(match.group(1)) if match else None


def _turn(scene: Scene, at: Reference, role: str, kind: str, size: int) -> int | None:
    """Where so many are shown at a time, the element with the number that a value says."""
    number = number_of(scene.value(at) or "")
    lines = scene.page.by_kind.get((role, kind), ())
    return _pick(lines, (number - 1) % size) if number else None


def _leaf(scene: Scene, at: Reference, role: str, size: int) -> int | None:
    """The link to the page on which that one is."""
    number = number_of(scene.value(at) or "")
    if not number:
        return None
    lines = scene.page.by_name.get((role, str((number - 1) // size + 1)), ())
    return lines[-1] if lines else None


def options_in_goal(page: Page, goal: Goal) -> list[int]:
    """Return the lines of the options that the goal names, each as a whole piece of a list."""
    words = f", {clean(goal.text).lower()}, "
    for stop in (" from ", " and click", " in the "):
        words = words.replace(stop, ", ")
    lines = [i for i, node in enumerate(page.nodes) if node.role == "option"]
    return [
        i
        for i in lines[:400]
        if (name := clean(page.nodes[i].name).lower())
        and (f", {name}, " in words or f" {name}, " in words)
    ]


def options_left(scene: Scene) -> list[int]:
    """Return those options that the goal names and that are neither selected nor were chosen."""
    chosen = {done.text.lower() for done in scene.past}
    return [
        i
        for i in options_in_goal(scene.page, scene.goal)
        if "selected" not in scene.page.nodes[i].states
        and clean(scene.page.nodes[i].name).lower() not in chosen
    ]


# -- comparing --------------------------------------------------------------------------------


def _superlative(scene: Scene, role: str, kind: str, span: str) -> int | None:
    """The element that has, by its name or by the lines before or after it, the least or the most
    of what the goal's words say."""
    wanted = superlative_of(scene.goal)
    page = scene.page
    lines = page.by_kind.get((role, kind), ())
    if wanted is None or not 2 <= len(lines) <= _MOST_MEMBERS:
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
            if role not in ("text", "option", "link") and 2 <= len(lines) <= _MOST_MEMBERS
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
        if slot.kind == "number" and _is_number(slot.text)
        for value in map(float, re.findall(r"-?\d+", slot.text))
    ]
    page = scene.page
    lines = page.by_role.get(role, ())
    for target, line in zip(targets, lines, strict=False):
        shown = shown_at(page, line)
        if shown is not None and shown != target:
            return line, target - shown
    return None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[\d,\s-]+", text) is not None


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
    for i in scene.page.by_role.get(role, ())[:_MOST_MEMBERS]:
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
        lines = page.by_kind.get((role, kind), ())[:_MOST_MEMBERS]
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


def _coordinates(scene: Scene) -> list[tuple[int, int, int]]:
    """The pairs of whole numbers in brackets in the goal, each with its place among them."""
    pairs = re.findall(r"\((-?\d+),\s?(-?\d+)\)", scene.goal.text)
    return [(i, int(x), int(y)) for i, (x, y) in enumerate(pairs[:2])]


def _on_grid(
    scene: Scene, role: str, kind: str, pair: int, sign: int, dx: int, dy: int
) -> int | None:
    """The element in the column and row that a pair of numbers of the goal says."""
    pairs = _coordinates(scene)
    columns, rows = _grid(scene.page, role, kind)
    if pair >= len(pairs):
        return None
    _, x, y = pairs[pair]
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


def _numbered(scene: Scene, role: str, k: int) -> int | None:
    """The element whose name is how many things a stretch of the goal describes."""
    if k >= len(segments(scene)):
        return None
    lines = scene.page.by_name.get((role, str(len(described(scene, k, "")))), ())
    return lines[0] if lines else None


def _unsorted(scene: Scene, part: str) -> int | None:
    found = unsorted_of(scene.page)
    return found[0 if part == "from" else 1] if found else None


def _unmet(scene: Scene, role: str) -> int | None:
    found = unmet_of(scene, role)
    return found[0] if found else None


FINDERS: dict[str, Callable[..., int | None]] = {
    "described": lambda scene, k, role, place: _pick(described(scene, k, role), place),
    "described left": lambda scene, k, role, place: _pick(still_described(scene, k, role), place),
    "sized": _sized,
    "loose": lambda scene, role, place: _pick(left_of(scene, loose_of(scene.page, role)), place),
    "true": _true,
    "asked": _asked,
    "like": _like,
    "each": _each,
    "turn": _turn,
    "leaf": _leaf,
    "superlative": _superlative,
    "unsorted": _unsorted,
    "unmet": _unmet,
    "toward": _toward,
    "placed": _placed,
    "grid": _on_grid,
    "step": _step,
    "numbered": _numbered,
}
"""How each of these families finds its line."""
