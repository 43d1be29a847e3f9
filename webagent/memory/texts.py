"""Texts by description: the ways in which a demonstrated text follows from goal, pages and past."""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from webagent.memory import operators
from webagent.memory.constants import (
    LONGEST_FIELD_LABEL,
    LONGEST_SEARCHED,
    MOST_EARLIER_PAGES,
    MOST_LINES,
    MOST_PLACES,
)
from webagent.memory.elements import labels
from webagent.memory.goals import clean, shape, words_of
from webagent.memory.named_fields import read_named_value
from webagent.memory.pages import Page, Unit, is_within, read_page
from webagent.memory.scene import SLOT, Reference, Scene

Descriptor: TypeAlias = tuple[Any, ...]
Form: TypeAlias = tuple[Any, ...]
"""What of a text is meant: `("all",)`, `("word", i)`, `("between", a, b)`, `("shape", s, i)`."""

_WORD = re.compile(r"[\w£$€@.,:/'-]*\w")


def describe_text(scene: Scene, text: str) -> frozenset[Descriptor]:
    """Return every descriptor that gives the text in this scene."""
    wanted = clean(text)
    possible = list(_possible(scene, wanted))
    field = scene.page.observation.node(scene.field)
    held = field.value.rstrip() if field else ""
    if held and text.startswith(held):
        # A value of the goal behind what the field holds, with what stands around it.
        for i, slot in enumerate(scene.goal.slots):
            before, added, after = text[len(held) :].partition(slot.text)
            if added:
                possible.append(("append", before, (SLOT, i), after))
    found = {d for d in possible if find_text(scene, d) in (wanted, text)}
    return frozenset({*found, ("is", ("=", text))})


def find_text(scene: Scene, descriptor: Descriptor) -> str | None:
    """Return the text that a descriptor gives in this scene; None where it gives none."""
    head = descriptor[0]
    if head in _OPERATORS:
        return operators.compute(scene, descriptor)
    find = _FINDERS.get(head)
    return find(scene, *descriptor[1:]) if find is not None else None


def extract_form(text: str, form: Form) -> str | None:
    """Return the part of a text that a form means; None where it has no such part."""
    match form:
        case ("all",):
            return text
        case ("word", place):
            words = _WORD.findall(text)
            return words[place] if -len(words) <= place < len(words) else None
        case ("between", before, after):
            start = text.find(before) if before else 0
            if start < 0:
                return None
            start += len(before)
            end = text.find(after, start) if after else len(text)
            return text[start:end].strip() or None if end > start else None
        case ("shape", wanted, place):
            words = [word for word in _WORD.findall(text) if shape(word) == wanted]
            return words[place] if place < len(words) else None
    return None


def _forms(text: str, wanted: str) -> list[Form]:
    """The forms by which the wanted text comes from a text that holds it."""
    if text == wanted:
        return [("all",)]
    found: list[Form] = []
    start = text.find(wanted)
    if start < 0:
        return found
    end = start + len(wanted)
    if (start and text[start - 1].isalnum()) or (end < len(text) and text[end].isalnum()):
        return found
    words = _WORD.findall(text)
    if wanted in words:
        place = words.index(wanted)
        found += [("word", place), ("word", place - len(words))]
        like = [word for word in words if shape(word) == shape(wanted)]
        found.append(("shape", shape(wanted), like.index(wanted)))
    head = re.search(r"\S*\s*$", text[:start])
    tail = re.match(r"\s*\S*", text[end:])
    found.append(("between", head.group() if head else "", tail.group() if tail else ""))
    return found


def _possible(scene: Scene, wanted: str) -> Iterator[Descriptor]:
    """Descriptors that may give the text; each is tried before it is kept."""
    if not wanted:
        return
    references = scene.references(wanted)
    yield from (("is", reference) for reference in references)
    held: list[tuple[Reference, str]] = [
        ((SLOT, i), slot.text) for i, slot in enumerate(scene.goal.slots)
    ]
    for reference, text in held:
        if text != wanted and wanted.lower() in text.lower():
            yield from (("is", reference, form) for form in _forms(text, wanted))
    yield from _composed(scene, wanted)
    yield from (("labelled option",), ("named value",))
    if len(wanted) < LONGEST_SEARCHED:
        yield from _on_page(scene, wanted)
        kinds = dict.fromkeys(done.signature for done in reversed(scene.past))
        for signature in list(kinds)[:MOST_EARLIER_PAGES]:
            before = _back(scene, signature)
            if before is not None and before.page.observation is not scene.page.observation:
                yield from (("earlier", signature, inner) for inner in _on_page(before, wanted))
        if not references:
            yield from operators.possible_totals(scene, wanted)


def _composed(scene: Scene, wanted: str) -> Iterator[Descriptor]:
    """The text as constant pieces around values of the goal."""
    values: list[tuple[Reference, str]] = [
        ((SLOT, i), slot.text) for i, slot in enumerate(scene.goal.slots)
    ]
    values += scene.numbers()
    parts: list[Reference] = [("=", wanted)]
    for reference, value in sorted(values, key=lambda each: -len(each[1])):
        if len(value) < 2 or value == wanted:
            continue
        for at, part in enumerate(parts):
            if part[0] == "=" and is_within(value.lower(), part[1].lower()):
                start = part[1].lower().find(value.lower())
                pieces: list[Reference] = [("=", part[1][:start]), reference]
                pieces.append(("=", part[1][start + len(value) :]))
                parts[at : at + 1] = [piece for piece in pieces if piece != ("=", "")]
                break
    if len(parts) > 1:
        yield "compose", tuple(parts)


def _appended(scene: Scene, before: str, reference: Reference, after: str) -> str | None:
    field, value = scene.page.observation.node(scene.field), scene.value(reference)
    held = field.value.rstrip() if field else ""
    return f"{held}{before}{value}{after}" if held and value else value


def _on_page(scene: Scene, wanted: str) -> Iterator[Descriptor]:
    """Where the text stands on the page, from a value of the goal, a label or the top."""
    page = scene.page
    places = [
        (unit, forms)
        for unit in page.units
        if wanted in unit.text
        and page.nodes[unit.line].role != "option"
        and (forms := _forms(unit.text, wanted))
    ]
    slots = scene.slots_on_page()
    for unit, forms in places[:MOST_PLACES]:
        anchors = [(reference, text, 8) for reference, text in slots]
        cells = page.units_of(unit.line)
        own = [cells[unit.cell - 1].text] if unit.cell else []
        anchors += [
            # Constant texts: that of the cell before it, and those near its line.
            (("=", label), label, 3)
            for label in [text for text in [*own, *labels(page, unit.line)] if text][:6]
        ]
        found = labelled_cells(scene)
        ways: list[Descriptor] = [
            ("labelled", place) for place in ([found.index(unit)] if unit in found else [])
        ]
        kind = page.nodes[unit.line].role, page.nodes[unit.line].kind
        same = [i for i, node in enumerate(page.nodes) if (node.role, node.kind) == kind]
        if not unit.cell and len(same) <= MOST_LINES:
            place = same.index(unit.line)
            ways += [("line", *kind, place), ("line", *kind, place - len(same))]
        for reference, text, reach in anchors:
            for number, hit in enumerate(page.find(text)):
                anchor = page.units[hit]
                if abs(unit.line - anchor.line) <= reach and anchor is not unit:
                    lines = unit.line - anchor.line
                    # From cell to cell within a line, else the place in its line.
                    cell = unit.cell - anchor.cell if lines == 0 else unit.cell
                    ways.append(("beside", reference, number, lines, cell))
        yield from ((*way, form) for way in ways for form in forms)


def labelled_cells(scene: Scene) -> list[Unit]:
    """Return the cells that stand behind a label which the goal's words name."""
    page, found = scene.page, []
    words = " ".join(scene.goal.template)
    for i, unit in enumerate(page.units[:-1]):
        label = unit.text.rstrip(": ").lower()
        if 2 < len(label) < LONGEST_FIELD_LABEL and page.nodes[unit.line].role != "option":
            after = page.units[i + 1]
            is_labelled = after.line == unit.line or unit.text.endswith(":")
            if is_labelled and is_within(label, words):
                found.append(after)
    return found


def _beside(
    scene: Scene, reference: Reference, hit: int, lines: int, cells: int, form: Form
) -> str | None:
    page = scene.page
    text = scene.value(reference)
    hits = page.find(text) if text else ()
    if hit >= len(hits):
        return None
    anchor = page.units[hits[hit]]
    line = anchor.line + lines
    if not 0 <= line < len(page.nodes):
        return None
    cell = anchor.cell + cells if lines == 0 else cells
    units = page.units_of(line)
    return extract_form(units[cell].text, form) if 0 <= cell < len(units) else None


def _line(page: Page, role: str, kind: str, place: int, form: Form) -> str | None:
    same = [i for i, node in enumerate(page.nodes) if (node.role, node.kind) == (role, kind)]
    if not -len(same) <= place < len(same):
        return None
    return extract_form(page.units[page.first_unit[same[place]]].text, form)


def _back(scene: Scene, signature: str) -> Scene | None:
    """The scene of the latest step with this signature."""
    for at in range(len(scene.past) - 1, -1, -1):
        done = scene.past[at]
        if done.signature == signature:
            return Scene(scene.goal, read_page(done.observation), scene.past[:at])
    return None


def _by_option(scene: Scene) -> str | None:
    """The one label of the list chosen that stands in the goal, in marks or not."""
    line, goal = scene.page.line_of.get(scene.field), f" {' '.join(scene.goal.words)} "
    names = [clean(n.name) for n in scene.page.options(line)] if line is not None else []
    keys = {key: name for name in names if (key := f" {' '.join(words_of(name))} ") in goal}
    named = [name for key, name in keys.items() if sum(key in other for other in keys) == 1]
    return named[0] if len(named) == 1 and named[0] else None


_FINDERS: dict[str, Callable[..., str | None]] = {
    "is": lambda scene, reference, form=("all",): (
        extract_form(text, form) if (text := scene.value(reference)) else text
    ),
    "append": _appended,
    "compose": lambda scene, parts: (
        None
        if None in (values := [scene.value(part) for part in parts])
        else clean("".join(value or "" for value in values))
    ),
    "labelled": lambda scene, place, form: (
        extract_form(found[place].text, form)
        if place < len(found := labelled_cells(scene))
        else None
    ),
    "beside": _beside,
    "line": lambda scene, *place: _line(scene.page, *place),
    "earlier": lambda scene, signature, inner: (
        find_text(before, inner) if (before := _back(scene, signature)) is not None else None
    ),
    "labelled option": _by_option,
    "named value": read_named_value,
}
"""How each family of descriptors finds its text."""
_OPERATORS = ("count", "cell of", "only")
