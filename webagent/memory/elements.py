"""Elements by description: the ways in which a demonstrated element can be found on another page.

A descriptor is a small program, as a tuple: `("row", ("$", 0), "link", 1)` is the second link in
the row of the first value of the goal. All that find the demonstrated element are kept with its
case; those on which cases agree are what the demonstrator meant.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from webagent.memory import operators
from webagent.memory.constants import LABELS_NEAR, LONGEST_LABEL, MOST_PLACES_OF_EACH
from webagent.memory.goals import clean, stems_of, turn_name
from webagent.memory.named_fields import list_unfilled
from webagent.memory.pages import Page, is_within
from webagent.memory.scene import SLOT, Reference, Scene

Descriptor: TypeAlias = tuple[Any, ...]


def describe_element(scene: Scene, mark: int) -> frozenset[Descriptor]:
    """Return every descriptor that finds the element in this scene."""
    line = scene.page.line_of.get(mark)
    if line is None:
        return frozenset()
    return frozenset(d for d in _possible(scene, line) if find_element(scene, d) == mark)


def find_element(scene: Scene, descriptor: Descriptor) -> int | None:
    """Return the mark that a descriptor finds in this scene; None where it finds nothing."""
    find = _FINDERS.get(descriptor[0])
    return find(scene, *descriptor[1:]) if find is not None else None


def _possible(scene: Scene, line: int) -> Iterator[Descriptor]:
    """Descriptors that may find the line; each is tried before it is kept."""
    page, node = scene.page, scene.page.nodes[line]
    role, name = node.role, clean(node.name)
    references = scene.references(name) if name else []
    for reference in [("=", name), *references] if name else []:
        same = page.named(role, name)
        yield from (("name", role, reference, place) for place in _places(same, line))
    slots = scene.slots_on_page()
    for reference, text in slots:
        if text.lower() != name.lower():
            lines = _holding(page, role, text)
            yield from (("part", role, reference, place) for place in _places(lines, line))
    yield from (("wanted", role, place) for place in _places(wanted(scene, role), line))
    held = tuple(sorted(page.stems(line) & stems_of(scene.goal.text)))
    yield from [("about", role, held, ())] if held else []
    yield from (("named value", role, place) for place in _places(list_unfilled(scene, role), line))
    kind = node.kind
    yield from (
        ("nth", role, kind, place) for place in _places(page.by_kind.get((role, kind), []), line)
    )
    for state in node.states:
        lines = [i for i in page.by_role.get(role, ()) if state in page.nodes[i].states]
        yield from (("state", role, state, place) for place in _places(lines, line)[:1])
    yield from _relations(scene, line, slots)
    yield from (
        ("untried", role, (), place) for place in _places(_untried(scene, role, ())[:3], line)[:1]
    )
    yield from operators.possible_extremes(scene, line)
    named = [("=", name), *(r for r in references if r[0] == SLOT)] if name else []
    for reference, text in slots:
        if reference[0] == SLOT and text.lower() != name.lower():
            yield from (("each", reference, role, other) for other in named)


def _relations(
    scene: Scene, line: int, slots: Sequence[tuple[Reference, str]]
) -> Iterator[Descriptor]:
    """Where the line stands from others that hold a value of the goal or are its label."""
    page, node = scene.page, scene.page.nodes[line]
    name = clean(node.name).lower()
    anchors = [*slots, *((("=", text), text) for text in labels(page, line))]
    for reference, text in anchors:
        hits = page.find(text)
        lines = [page.units[hit].line for hit in hits]
        chosen = {0, len(hits) - 1, *(i for i, at in enumerate(lines) if at <= line)}
        for hit in sorted(chosen):
            at = lines[hit]
            number = hit if hit < 3 else hit - len(hits)
            for wanted in {"", name} if name else {""}:
                for way in ("row",) if page.rows[at] == page.rows[line] else ():
                    group = _like(page, page.row_lines(at), node.role, wanted)
                    if line in group:
                        yield way, reference, number, node.role, wanted, group.index(line)
                way = "after" if at < line else "before"
                between = page.nodes[at + 1 : line] if at < line else page.nodes[line + 1 : at]
                place = sum(
                    1
                    for x in between
                    if x.mark and x.role == node.role and wanted in ("", clean(x.name).lower())
                )
                if at != line and place < 40:
                    yield way, reference, number, node.role, wanted, place
    in_row = [
        reference
        for reference, text in slots
        if any(page.rows[page.units[hit].line] == page.rows[line] for hit in page.find(text))
    ]
    for chosen_slots in {tuple(in_row), *((one,) for one in in_row)} if in_row else set():
        lines = _in_rows(scene, chosen_slots, node.role)
        yield from (("rows", chosen_slots, node.role, place) for place in _places(lines, line))
        lines = _untried(scene, node.role, chosen_slots)
        if line in lines:
            yield "untried", node.role, chosen_slots, lines.index(line)


def labels(page: Page, line: int) -> list[str]:
    """Return constant texts near a line that may say what it is: in its row, before and after."""
    found: list[str] = []
    for at in [i for i in page.row_lines(line) if i != line]:
        found += [unit.text for unit in page.units_of(at)]
    for way in (range(line - 1, -1, -1), range(line + 1, len(page.nodes))):
        near = 0
        for at in way:
            node = page.nodes[at]
            if node.role == "option" or not node.name:
                continue
            found += [unit.text for unit in page.units_of(at)[:2]]
            near += 1
            if near == LABELS_NEAR:
                break
    return [
        text
        for text in dict.fromkeys(found)
        if text and len(text) < LONGEST_LABEL and not any(c.isdigit() for c in text)
    ][:10]


def _places(lines: Sequence[int], line: int) -> list[int]:
    """The line's place among these from the first and, where there are more, from the last."""
    if line not in lines:
        return []
    place = lines.index(line)
    return [place] if len(lines) == 1 else [place, place - len(lines)]


def _pick(page: Page, lines: Sequence[int], place: int) -> int | None:
    if not -len(lines) <= place < len(lines):
        return None
    return page.mark_at(lines[place])


def _named(scene: Scene, role: str, reference: Reference, place: int) -> int | None:
    """The element of that name; another place among several where there are fewer of them. Where
    there is none, the only one whose name goes on after it: `Block` may be `Block @user`."""
    text = scene.value(reference)
    if not text:
        return None
    lines = scene.page.named(role, text)
    if not lines and reference[0] == SLOT:
        names = (
            (i, clean(scene.page.nodes[i].name).lower()) for i in scene.page.by_role.get(role, ())
        )
        longer = [i for i, name in names if name.startswith(f"{text.lower()} ")]
        lines = longer if len(longer) == 1 else []
    return _pick(scene.page, lines, min(place, len(lines) - 1)) if lines else None


def _holding(page: Page, role: str, text: str) -> list[int]:
    keys = list(filter(None, (text.lower(), turn_name(text).lower())))
    names = {i: page.nodes[i].name.lower() for i in page.by_role.get(role, ())}
    found = ([i for i, name in names.items() if is_within(key, name)] for key in keys)
    return next(filter(None, found), [])


def wanted(scene: Scene, role: str) -> list[int]:
    """Return the elements of a role whose whole name stands in the goal, in its very case where one
    does, more often than it was entered on this page, and that were not acted on before."""
    goal, url = scene.goal.text, scene.page.observation.url
    marks = {done.mark for done in scene.past}
    entered = Counter(done.text.lower() for done in scene.past if done.observation.url == url)
    found = []
    for i in scene.page.by_role.get(role, ()):
        for name in scene.page.captions(i):
            key = name.lower()
            is_named = len(name) < LONGEST_LABEL and is_within(key, goal.lower())
            if is_named and goal.lower().count(key) > entered[key]:
                found.append((i, name))
    exact = {name.lower() for _, name in found if is_within(name, goal)}
    return [
        i
        for i, name in found
        if (name.lower() not in exact or is_within(name, goal))
        and scene.page.nodes[i].mark not in marks
    ]


def _about(scene: Scene, role: str, words: Sequence[str], others: Sequence[str]) -> int | None:
    """The element of a role that is called by most of these words, rare ones counting more, among
    equals by most of the others and by the fewest besides; None where that leaves several, or where
    less than half of either is in the other."""
    page = scene.page
    called = {line: page.stems(line) for line in page.by_role.get(role, ())}
    counts = Counter(word for held in called.values() for word in held)
    rated = sorted(
        (
            *(sum(1 / counts[w] for w in each if w in held) for each in (words, others)),
            -len(held.difference(words, others)),
            line,
        )
        for line, held in called.items()
        if 2 * len(held.intersection(words)) >= min(len(words), len(held.difference(others))) > 0
    )
    if not rated or [each[:3] for each in rated[-2:]].count(rated[-1][:3]) > 1:
        return None
    return page.mark_at(int(rated[-1][3]))


def _each(scene: Scene, at: Reference, role: str, named: Reference) -> int | None:
    """The first element of this name, not acted on before, that comes after a place of a value and
    before the next element of its name."""
    page = scene.page
    text, name = scene.value(at), scene.value(named)
    if not text or not name:
        return None
    marks = {done.mark for done in scene.past}
    lines = page.named(role, name)
    for hit in page.find_all(text)[:MOST_PLACES_OF_EACH]:
        line = page.units[hit].line
        after = next((i for i in lines if i > line), None)
        if after is not None and page.nodes[after].mark not in marks:
            return page.mark_at(after)
    return None


def _like(page: Page, lines: Sequence[int], role: str, name: str) -> list[int]:
    nodes = page.nodes
    return [
        i
        for i in lines
        if nodes[i].mark and nodes[i].role == role and name in ("", clean(nodes[i].name).lower())
    ]


def _beside(
    scene: Scene, way: str, reference: Reference, hit: int, wanted: tuple[str, str], place: int
) -> int | None:
    page = scene.page
    text = scene.value(reference)
    hits = page.find(text) if text else ()
    if not -len(hits) <= hit < len(hits):
        return None
    at = page.units[hits[hit]].line
    role, name = wanted
    if way == "row":
        return _pick(page, _like(page, page.row_lines(at), role, name), place)
    lines = page.by_name.get((role, name), ()) if name else page.by_role.get(role, ())
    ordered = [i for i in lines if i > at] if way == "after" else [i for i in lines if i < at][::-1]
    return _pick(page, ordered[: place + 1], place) if place < len(ordered) else None


def _in_rows(scene: Scene, references: Sequence[Reference], role: str) -> list[int]:
    """Elements of a role in rows that hold all these values."""
    page = scene.page
    rows: set[int] | None = None
    for reference in references:
        text = scene.value(reference)
        if not text:
            return []
        held = {page.rows[page.units[hit].line] for hit in page.find_all(text)}
        rows = held if rows is None else rows & held
    return [i for i in page.by_role.get(role, ()) if page.rows[i] in (rows or ())]


def _untried(scene: Scene, role: str, references: Sequence[Reference]) -> list[int]:
    """Elements of a role, in rows that hold these values, not acted on before in this episode."""
    page = scene.page
    tried = {(d.role, d.name) for d in scene.past if d.name}
    marks = {d.mark for d in scene.past}
    lines = _in_rows(scene, references, role) if references else page.by_role.get(role, ())
    return [
        i
        for i in lines
        if (role, clean(page.nodes[i].name)) not in tried and page.nodes[i].mark not in marks
    ]


def _finder_beside(way: str) -> Callable[..., int | None]:
    def find(scene: Scene, at: Reference, hit: int, role: str, name: str, place: int) -> int | None:
        return _beside(scene, way, at, hit, (role, name), place)

    return find


_FINDERS: dict[str, Callable[..., int | None]] = {
    "name": _named,
    "part": lambda scene, role, reference, place: (
        _pick(scene.page, _holding(scene.page, role, text), place)
        if (text := scene.value(reference))
        else None
    ),
    "about": _about,
    "wanted": lambda scene, role, place: _pick(scene.page, wanted(scene, role), place),
    "named value": lambda scene, role, place: _pick(scene.page, list_unfilled(scene, role), place),
    "nth": lambda scene, role, kind, place: _pick(
        scene.page, scene.page.by_kind.get((role, kind), ()), place
    ),
    "state": lambda scene, role, state, place: _pick(
        scene.page,
        [i for i in scene.page.by_role.get(role, ()) if state in scene.page.nodes[i].states],
        place,
    ),
    "after": _finder_beside("after"),
    "before": _finder_beside("before"),
    "row": _finder_beside("row"),
    "rows": lambda scene, references, role, place: _pick(
        scene.page, _in_rows(scene, references, role), place
    ),
    "untried": lambda scene, role, references, place: _pick(
        scene.page, _untried(scene, role, references), place
    ),
    "each": _each,
    "extreme": operators.find_extreme,
}
"""How each family of descriptors finds its element."""
