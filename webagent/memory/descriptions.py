"""Elements by what is true of them: what they look like, hold, measure, and where they stand.

Where `elements` finds a thing by its name and by what stands beside it, these families find it by
the goal's describing words, by a comparison with others of its kind, or by what is still to do.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from webagent.memory import comparisons
from webagent.memory.comparisons import MOST_MEMBERS, area_of, middle_of, pick
from webagent.memory.goals import Goal, clean
from webagent.memory.pages import Page, is_within
from webagent.memory.scene import SLOT, Reference, Scene
from webagent.memory.words import (
    SHAPES,
    is_describing,
    normal_word,
    properties_of,
    quantities,
)
from webagent.records import Node

Descriptor: TypeAlias = tuple[Any, ...]

_TOKEN = re.compile(r"\w+")
_MOST_SEGMENTS = 3
_HOLDS = 6
"""How many times larger than others a rectangle is that holds them."""


def possible(scene: Scene, line: int) -> Iterator[Descriptor]:
    """Yield descriptors of these families that may find the line; each is tried before it is
    kept."""
    page, node = scene.page, scene.page.nodes[line]
    role = node.role
    for k in range(len(segments(scene))):
        for each in (role, ""):
            for head, lines in (
                ("described", described(scene, k, each)),
                ("described left", still_described(scene, k, each)),
            ):
                if line in lines[:3]:
                    yield head, k, each, lines.index(line)
    loose = left_of(scene, loose_of(page, role))
    if line in loose[:2]:
        yield "loose", role, loose.index(line)
    yield "true", role
    yield from (("asked", role, place) for place in range(3))
    yield from comparisons.possible(scene, line)
    yield from _by_values(scene, node)


def _by_values(scene: Scene, node: Node) -> Iterator[Descriptor]:
    """Descriptors that go by values of the goal."""
    role, name = node.role, clean(node.name)
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
        areas = sorted(area_of(page.nodes[i]) for i in lines)
        usual = areas[len(areas) // 3] if areas else 0
        page.known["boxes"] = [
            i
            for i in page.by_kind.get(("graphic", "svg:rect"), ())
            if area_of(page.nodes[i]) > _HOLDS * usual
        ]
    found: list[int] = page.known["boxes"]
    return found


def loose_of(page: Page, role: str) -> list[int]:
    """Return the drawn elements of a role that lie in none of the boxes."""
    lines = page.by_role.get(role, ())
    boxes = boxes_of(page)
    if role != "graphic" or not boxes or len(lines) > MOST_MEMBERS:
        return []
    return [
        i
        for i in lines
        if i not in boxes and not any(_is_inside(page.nodes[i], page.nodes[box]) for box in boxes)
    ]


def _is_inside(inner: Node, outer: Node) -> bool:
    x, y = middle_of(inner)
    left, top, width, height = outer.box
    return left <= x <= left + width and top <= y <= top + height


def _true(scene: Scene, role: str) -> int | None:
    """The first element not acted on whose name is true of a number in its row, or of a figure."""
    page = scene.page
    lines = page.by_role.get(role, ())
    if len(lines) > MOST_MEMBERS:
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
    return pick(found, place)


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
    for hit in page.find_all(text)[:MOST_MEMBERS]:
        line = page.units[hit].line
        after = next((i for i in lines if i > line), None)
        if after is not None and after not in found:
            found.append(after)
    return found


def _each(scene: Scene, at: Reference, role: str, named: Reference) -> int | None:
    return pick(left_of(scene, each_of(scene, at, role, named)), 0)


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


def _numbered(scene: Scene, role: str, k: int) -> int | None:
    """The element whose name is how many things a stretch of the goal describes."""
    if k >= len(segments(scene)):
        return None
    lines = scene.page.by_name.get((role, str(len(described(scene, k, "")))), ())
    return lines[0] if lines else None


FINDERS: dict[str, Callable[..., int | None]] = {
    **comparisons.FINDERS,
    "described": lambda scene, k, role, place: pick(described(scene, k, role), place),
    "described left": lambda scene, k, role, place: pick(still_described(scene, k, role), place),
    "loose": lambda scene, role, place: pick(left_of(scene, loose_of(scene.page, role)), place),
    "true": _true,
    "asked": _asked,
    "like": _like,
    "each": _each,
    "numbered": _numbered,
}
"""How each of these families finds its line."""
