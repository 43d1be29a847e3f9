"""Texts by description: the ways in which a demonstrated text follows from goal, pages and past."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from webagent.memory import computing, operators
from webagent.memory.comparisons import unmet_of
from webagent.memory.elements import labels
from webagent.memory.goals import clean, shape
from webagent.memory.pages import Page, Unit, is_within, read_page
from webagent.memory.scene import SLOT, Reference, Scene
from webagent.memory.words import place_of

Descriptor: TypeAlias = tuple[Any, ...]
Form: TypeAlias = tuple[Any, ...]
"""What of a text is meant: `("all",)`, `("word", i)`, `("first", n)`, `("between", a, b)`,
`("shape", s, i)`, `("lower",)`, `("upper",)`."""

_WORD = re.compile(r"[\w£$€@.,:/'-]*\w")
_MOST_PLACES = 6
"""Places of a text on a page from which descriptors are made."""
_LABEL = 30
"""Letters of a text beyond which it is no label of a value."""
_MOST_LINES = 60
"""Lines of one kind among which a place says something."""
_SHORT = 80
"""Letters of a text that is looked for on pages."""
_MOST_PAGES = 3
"""Kinds of earlier pages that are looked back at."""


def describe_text(scene: Scene, text: str) -> frozenset[Descriptor]:
    """Return every descriptor that gives the text in this scene."""
    wanted = clean(text)
    found = {d for d in _possible(scene, wanted) if find_text(scene, d) in (wanted, text)}
    return frozenset({*found, *_edits(scene, text), ("is", ("=", text))})


def describe_constant(scene: Scene, name: str, value: Any) -> frozenset[Descriptor]:
    """Return every descriptor that gives a key, an amount or another argument of few values."""
    possible: list[Descriptor] = []
    if name == "key" and isinstance(value, str):
        possible = [("move", "Arrow"), ("move", "Page")]
    elif name in ("dx", "dy") and value:
        possible = [("by place", name, abs(value))]
    found = {d for d in possible if find_constant(scene, d) == value}
    return frozenset({*found, ("is", ("=", value))})


def find_constant(scene: Scene, descriptor: Descriptor) -> Any:
    """Return the value that such a descriptor gives in this scene; None where it gives none."""
    match descriptor:
        case ("is", ("=", value)):
            return value
        case ("move", str(size)):
            line = scene.page.line_of.get(scene.field)
            missing = unmet_of(scene, scene.page.nodes[line].role) if line is not None else None
            if missing is None or missing[0] != line:
                return None
            is_more = missing[1] > 0
            return _KEYS[size][0 if is_more else 1]
        case ("by place", name, int(far)):
            place = place_of(scene.goal)
            return far * place[0 if name == "dx" else 1] or None if place else None
    return None


_KEYS = {"Arrow": ("ArrowRight", "ArrowLeft"), "Page": ("PageUp", "PageDown")}
"""Keys by which controls take a little or much more, or less."""


def find_text(scene: Scene, descriptor: Descriptor) -> str | None:
    """Return the text that a descriptor gives in this scene; None where it gives none."""
    head = descriptor[0]
    if head in _OPERATORS:
        return operators.compute(scene, descriptor)
    if head in _EDITS:
        return _edited(scene, descriptor)
    if head in computing.FINDERS:
        return computing.find(scene, descriptor)
    find = _FINDERS.get(head)
    return find(scene, *descriptor[1:]) if find is not None else None


def extract_form(text: str, form: Form) -> str | None:
    """Return the part of a text that a form means; None where it has no such part."""
    match form:
        case ("all",):
            return text
        case ("lower",):
            return text.lower()
        case ("upper",):
            return text.upper()
        case ("word", place):
            words = _WORD.findall(text)
            return words[place] if -len(words) <= place < len(words) else None
        case ("first", length):
            return text[:length] if len(text) > length else None
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
    if text.lower() == wanted:
        found.append(("lower",))
    if text.upper() == wanted:
        found.append(("upper",))
    start = text.find(wanted)
    if start < 0:
        return found
    if start == 0 and len(wanted) > 3 and text[len(wanted) : len(wanted) + 1].isalnum():
        found.append(("first", len(wanted)))
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
    for reference, text in [*held, *scene.registers()]:
        if text != wanted and wanted.lower() in text.lower():
            yield from (("is", reference, form) for form in _forms(text, wanted))
    yield from _composed(scene, wanted)
    yield from computing.possible(scene, wanted)
    if len(wanted) < _SHORT:
        yield from _on_page(scene, wanted)
        kinds = dict.fromkeys(done.signature for done in reversed(scene.past))
        for signature in list(kinds)[:_MOST_PAGES]:
            before = _back(scene, signature)
            if before is not None and before.page.observation is not scene.page.observation:
                yield from (("earlier", signature, inner) for inner in _on_page(before, wanted))
        if not references:
            yield from operators.possible_totals(scene, wanted)
            yield from _sums(scene, wanted)


def _composed(scene: Scene, wanted: str) -> Iterator[Descriptor]:
    """The text as constant pieces around values of the goal or names acted on before, or as the
    goal's quoted values one after another."""
    slots = scene.goal.slots
    quoted = [i for i, slot in enumerate(slots) if slot.kind == "quoted"]
    for separator in (", ", " ", ",", "; "):
        if len(quoted) > 1 and wanted == separator.join(slots[i].text for i in quoted):
            yield "join", separator, tuple((SLOT, i) for i in quoted)
            yield "all", separator
    values: list[tuple[Reference, str]] = [
        ((SLOT, i), slot.text) for i, slot in enumerate(scene.goal.slots)
    ]
    values += [*scene.registers(), *scene.numbers()]
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
    for unit, forms in places[:_MOST_PLACES]:
        anchors = [(reference, text, 8) for reference, text in slots]
        cells = page.units_of(unit.line)
        own = [cells[unit.cell - 1].text] if unit.cell else []
        anchors += [
            # Constant texts: that of the cell before it, and those near its line.
            (("=", label), label, 3)
            for label in [text for text in [*own, *labels(page, unit.line)] if text][:6]
        ]
        found = asked(scene)
        ways: list[Descriptor] = [
            ("asked", place) for place in ([found.index(unit)] if unit in found else [])
        ]
        ways += [("line", *place) for place in _by_order(page, unit)]
        for reference, text, reach in anchors:
            for number, hit in enumerate(page.find(text)):
                anchor = page.units[hit]
                if abs(unit.line - anchor.line) <= reach and anchor is not unit:
                    lines = unit.line - anchor.line
                    # From cell to cell within a line, else the place in its line.
                    cell = unit.cell - anchor.cell if lines == 0 else unit.cell
                    ways.append(("beside", reference, number, lines, cell))
        yield from ((*way, form) for way in ways for form in forms)


def asked(scene: Scene) -> list[Unit]:
    """Return the cells that stand behind a label which the goal's words name."""
    page, found = scene.page, []
    words = " ".join(scene.goal.template)
    for i, unit in enumerate(page.units[:-1]):
        label = unit.text.rstrip(": ").lower()
        if 2 < len(label) < _LABEL and page.nodes[unit.line].role != "option":
            after = page.units[i + 1]
            is_labelled = after.line == unit.line or unit.text.endswith(":")
            if is_labelled and is_within(label, words):
                found.append(after)
    return found


def _asked(scene: Scene, place: int, form: Form) -> str | None:
    found = asked(scene)
    return extract_form(found[place].text, form) if place < len(found) else None


def _by_order(page: Page, unit: Unit) -> list[tuple[str, str, int]]:
    """The unit's line by its place among those of its kind, from the first and from the last."""
    node = page.nodes[unit.line]
    same = [i for i, n in enumerate(page.nodes) if (n.role, n.kind) == (node.role, node.kind)]
    if unit.cell or len(same) > _MOST_LINES:
        return []
    place = same.index(unit.line)
    return [(node.role, node.kind, place), (node.role, node.kind, place - len(same))]


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


def _earlier(scene: Scene, signature: str, inner: Descriptor) -> str | None:
    before = _back(scene, signature)
    return find_text(before, inner) if before is not None else None


# -- arithmetic -------------------------------------------------------------------------------


def _sums(scene: Scene, wanted: str) -> Iterator[Descriptor]:
    """A number of the page and one of the goal, added or subtracted."""
    total = operators.measure(wanted)
    if total is None:
        return
    values: list[tuple[Reference, str]] = []
    for i, slot in enumerate(scene.goal.slots):
        values += [((SLOT, i), slot.text), *((turn, slot.text) for turn in scene.turns(slot.text))]
    for reference, text in values:
        value = operators.measure(text)
        if value is None or not value:
            continue
        for sign in (1, -1):
            rest = total - sign * value
            if rest < 0:
                continue
            for held in {operators.written_like(rest, wanted), operators.written_like(rest, "1")}:
                for inner in _on_page(scene, held):
                    yield "plus", inner, reference, sign
                field = scene.page.observation.node(scene.field)
                if field is not None and clean(field.value) == held:
                    yield "plus", ("value",), reference, sign


def _plus(scene: Scene, inner: Descriptor, reference: Reference, sign: int) -> str | None:
    field = scene.page.observation.node(scene.field)
    held = clean(field.value) if inner == ("value",) and field else find_text(scene, inner)
    value = scene.value(reference)
    a, b = operators.measure(held or ""), operators.measure(value or "")
    if a is None or b is None or held is None or value is None:
        return None
    sample = held if "." in held or held[:1] in "£$€" else value
    return operators.written_like(a + sign * b, sample)


# -- edits ------------------------------------------------------------------------------------


def _edits(scene: Scene, text: str) -> Iterator[Descriptor]:
    """The text as a small change of what stands in the field."""
    node = scene.page.observation.node(scene.field)
    old = node.value if node else ""
    if len(old) < 2 or old == text:
        return
    start = 0
    while start < min(len(old), len(text)) and old[start] == text[start]:
        start += 1
    end = 0
    while end < min(len(old), len(text)) - start and old[-1 - end] == text[-1 - end]:
        end += 1
    if start + end < len(old) / 2:
        return
    values: list[tuple[Reference, str]] = [
        ((SLOT, i), slot.text) for i, slot in enumerate(scene.goal.slots)
    ]
    values += scene.registers()
    for reference, value in values:
        for other, new in values:
            yield from (
                d
                for d in [("swap", reference, other), ("swap cell", reference, other)]
                if value != new and _edited(scene, d) == text
            )
        head, found, tail = text.partition(value)
        if found and head.strip() == old.strip() and head.startswith(old.rstrip()):
            yield "append", head[len(old.rstrip()) :], reference, tail
    if text.startswith(old.rstrip()):
        yield "append", "", ("=", text[len(old.rstrip()) :]), ""


def _edited(scene: Scene, descriptor: Descriptor) -> str | None:
    node = scene.page.observation.node(scene.field)
    if node is None:
        return None
    match descriptor:
        case ("append", before, reference, after):
            value = scene.value(reference)
            return f"{node.value.rstrip()}{before}{value}{after}" if value else None
        case ("swap", reference, other):
            value, new = scene.value(reference), scene.value(other)
            if not value or new is None or value not in node.value:
                return None
            word = rf"(?<!\w){re.escape(value)}(?!\w)"
            return re.sub(word, new.replace("\\", r"\\"), node.value, count=1)
        case ("swap cell", reference, other):
            value, new = scene.value(reference), scene.value(other)
            if not value or new is None:
                return None
            lines = node.value.split("\n")
            at = next((i for i, line in enumerate(lines) if value in line), None)
            if at is None:
                return None
            text, rest = new.replace("\\", r"\\"), lines[at].partition(value)
            lines[at] = (
                rest[0] + value + re.sub(r"(?<![\w.])[\w.]*\d[\w.]*", text, rest[2], count=1)
            )
            return "\n".join(lines)
    return None


def _is(scene: Scene, reference: Reference, form: Form = ("all",)) -> str | None:
    text = scene.value(reference)
    return extract_form(text, form) if text else text


def _joined(scene: Scene, separator: str, references: Sequence[Reference]) -> str | None:
    values = [scene.value(reference) for reference in references]
    return separator.join(v for v in values if v) if all(values) else None


def _all(scene: Scene, separator: str) -> str | None:
    return separator.join(s.text for s in scene.goal.slots if s.kind == "quoted") or None


def _put_together(scene: Scene, parts: Sequence[Reference]) -> str | None:
    values = [scene.value(part) for part in parts]
    return None if None in values else clean("".join(v or "" for v in values))


_FINDERS: dict[str, Callable[..., str | None]] = {
    "is": _is,
    "join": _joined,
    "all": _all,
    "compose": _put_together,
    "asked": _asked,
    "beside": _beside,
    "line": lambda scene, *place: _line(scene.page, *place),
    "earlier": _earlier,
    "plus": _plus,
}
"""How each family of descriptors finds its text."""
_OPERATORS = ("count", "sum", "cell of", "only")
_EDITS = ("append", "swap", "swap cell")
