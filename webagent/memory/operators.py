"""Operators over what a page lists: its smallest, largest or newest record, and their count.

A list is read as records in one of two ways: rows of a table, or blocks that begin with the same
kind of element. Every program that gives what was demonstrated is kept as a descriptor; a chance
hit does not survive the second demonstration.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, TypeAlias

from webagent.memory.constants import LEAST_RECORDS, MOST_CELLS, MOST_SCHEMES
from webagent.memory.pages import Page, Unit, is_within
from webagent.memory.scene import SLOT, Scene

Scheme: TypeAlias = tuple[str, ...]
"""`("rows",)` or `("blocks", role, kind)`: what a record begins with."""
Filter: TypeAlias = tuple[Any, ...]
"""`("has", reference)`, `("lacks", reference)` or `("below" | "above", column, reference)`."""

_NUMBER = re.compile(r"[-+]?[£$€]?\s?(\d[\d,]*(?:\.\d+)?)\s?(?:%|[a-z]{1,3})?")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?")
_DATE = re.compile(r"(\d{1,2})\.? ([A-Z][a-z]{2})[a-z]*\.?,? (\d{4})(?:, (\d{1,2}):(\d\d) ([ap]))?")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of a list."""

    units: tuple[Unit, ...]
    keys: tuple[str, ...]
    numbers: tuple[tuple[int, float], ...]
    """Index of the unit and value, of those that are a number or a date."""

    def number(self, column: int) -> float | None:
        """Return the value of its column-th number."""
        return self.numbers[column][1] if column < len(self.numbers) else None


@lru_cache(65536)
def measure(text: str) -> float | None:
    """Return the number or the date (as one that grows with it) that a text is; None for others."""
    if (match := _NUMBER.fullmatch(text)) is not None:
        amount = float(match.group(1).replace(",", ""))
        return -amount if text.startswith("-") else amount
    if (match := _ISO.fullmatch(text)) is not None:
        year, month, day, *time = (int(part or 0) for part in match.groups())
        hour, minute, second = time
        return ((year * 12 + month) * 31 + day) + (hour + minute / 60 + second / 3600) / 24
    if (match := _DATE.match(text)) is not None and match.group(2) in _MONTHS:
        month = _MONTHS.index(match.group(2)) + 1
        hour = int(match.group(4) or 0) % 12 + 12 * (match.group(6) == "p")
        days = (int(match.group(3)) * 12 + month) * 31 + int(match.group(1))
        return days + (hour + int(match.group(5) or 0) / 60) / 24
    return None


def records(page: Page, scheme: Scheme) -> list[Entry]:
    """Return the records of the page's lists."""
    if (known := page.lists.get(scheme)) is not None:
        return known
    if scheme[0] == "rows":
        groups: dict[int, list[int]] = {}
        for line, row in enumerate(page.rows):
            groups.setdefault(row, []).append(line)
        spans = list(groups.values())
    else:
        heads = page.by_kind.get((scheme[1], scheme[2]), [])
        ends = [*heads[1:], *(min(len(page.nodes), head + 8) for head in heads[-1:])]
        spans = [list(range(a, min(b, a + 10))) for a, b in zip(heads, ends, strict=True)]
    found: list[Entry] = []
    for lines in spans:
        units = [
            unit
            for line in lines
            if page.nodes[line].role != "option"
            for unit in page.units_of(line)
            if unit.text
        ]
        if 2 <= len(units) <= MOST_CELLS:
            numbers = [(i, v) for i, u in enumerate(units) if (v := measure(u.text)) is not None]
            keys = tuple(unit.text.lower() for unit in units)
            found.append(Entry(tuple(units), keys, tuple(numbers)))
    page.lists[scheme] = found
    return found


def schemes(page: Page) -> list[Scheme]:
    """Return the ways in which this page can be read as a list."""
    counts = {
        key: len(lines) for key, lines in page.by_kind.items() if key[0] not in ("option", "text")
    }
    common = [key for key, n in Counter(counts).most_common(MOST_SCHEMES) if n >= LEAST_RECORDS]
    return [("rows",), *(("blocks", *key) for key in common)]


def admit(scene: Scene, entries: Sequence[Entry], filters: Sequence[Filter]) -> list[Entry] | None:
    """Return the records that pass the filters; None where a value is missing."""
    for one in filters:
        test = _test(scene, one)
        if test is None:
            return None
        entries = [entry for entry in entries if test(entry)]
    return list(entries)


def _test(scene: Scene, one: Filter) -> Callable[[Entry], bool] | None:
    text = scene.value(one[-1])
    if not text:
        return None
    key = text.lower()
    match one[0]:
        case "has":
            return lambda entry: _has(entry, key)
        case "lacks":
            return lambda entry: not _has(entry, key)
        case "below" | "above":
            bound = measure(text)
            if bound is None:
                return None
            limit, column, sign = bound, one[1], 1 if one[0] == "below" else -1
            return lambda entry: (
                (value := entry.number(column)) is not None and sign * (limit - value) > 0
            )
    return None


def _has(entry: Entry, key: str) -> bool:
    return key in entry.keys or any(is_within(key, held) for held in entry.keys)


def filters_of(scene: Scene, entries: Sequence[Entry]) -> list[tuple[Filter, ...]]:
    """Return the filters that a goal could mean: its values in any choice of at most three, each
    with or without a state that several records share."""
    single: list[Filter] = []
    for i, slot in enumerate(scene.goal.slots):
        key, reference = slot.text.lower(), (SLOT, i)
        if any(_has(entry, key) for entry in entries):
            single.append(("has", reference))
        elif measure(slot.text) is not None:
            columns = min(2, max((len(entry.numbers) for entry in entries), default=0))
            single += [(way, c, reference) for c in range(columns) for way in ("below", "above")]
    choices = [c for size in range(min(3, len(single)) + 1) for c in combinations(single, size)]
    shared = Counter(
        unit.text
        for entry in entries
        for unit in entry.units
        if len(unit.text) < 30 and measure(unit.text) is None
    )
    states = [text for text, n in shared.most_common(6) if LEAST_RECORDS <= n < len(entries)]
    stated: list[tuple[Filter, ...]] = [(("has", ("=", text)),) for text in states]
    stated += [(("lacks", ("=", text)),) for text in states]
    return [*choices, *(c + s for c in choices if len(c) < 3 for s in stated)][:120]


def _best(entries: Sequence[Entry], way: str, column: int) -> Entry | None:
    """The record that is first by this column; None where the list has none or several such."""
    valued = [(v, entry) for entry in entries if (v := entry.number(column)) is not None]
    if len(valued) < 1:
        return None
    values = [value for value, _ in valued]
    best = min(values) if way == "min" else max(values)
    if values.count(best) != 1 and len({e.keys for v, e in valued if v == best}) > 1:
        return None
    return next(entry for value, entry in valued if value == best)


# -- elements ---------------------------------------------------------------------------------


def possible_extremes(scene: Scene, line: int) -> Iterator[tuple[Any, ...]]:
    """Descriptors of the element of the smallest or largest record that may find this line."""
    page = scene.page
    node = page.nodes[line]
    for scheme in schemes(page):
        entries = records(page, scheme)
        if not any(any(unit.line == line for unit in entry.units) for entry in entries):
            continue
        for filters in filters_of(scene, entries)[:40]:
            admitted = admit(scene, entries, filters)
            if not admitted:
                continue
            for column in range(min(3, max(len(entry.numbers) for entry in admitted))):
                for way in ("min", "max"):
                    found = _best(admitted, way, column)
                    if found and any(unit.line == line for unit in found.units):
                        yield "extreme", way, column, node.role, scheme, filters


def find_extreme(
    scene: Scene, way: str, column: int, role: str, scheme: Scheme, filters: Sequence[Filter]
) -> int | None:
    """Return the element of that role in the smallest or largest record."""
    admitted = admit(scene, records(scene.page, scheme), filters)
    found = _best(admitted, way, column) if admitted else None
    if found is None:
        return None
    nodes = scene.page.nodes
    return next((nodes[u.line].mark for u in found.units if nodes[u.line].role == role), None)


# -- texts ------------------------------------------------------------------------------------


def possible_totals(scene: Scene, text: str) -> Iterator[tuple[Any, ...]]:
    """Descriptors of a count or of a cell of the first record that may give this text."""
    for scheme in schemes(scene.page):
        entries = records(scene.page, scheme)
        if len(entries) < LEAST_RECORDS:
            continue
        for filters in filters_of(scene, entries):
            admitted = admit(scene, entries, filters)
            if admitted is None:
                continue
            if text.isdigit() and len(admitted) == int(text):
                yield "count", scheme, filters
            if admitted:
                yield from _possible_cells(admitted, scheme, filters, text)


def _possible_cells(
    admitted: Sequence[Entry], scheme: Scheme, filters: tuple[Filter, ...], text: str
) -> Iterator[tuple[Any, ...]]:
    """A cell of the first or of the only one of the admitted records."""
    if len(admitted) == 1:
        for cell, unit in enumerate(admitted[0].units):
            if filters and unit.text == text:
                yield "only", cell, scheme, filters
        return
    for column in range(min(3, max(len(entry.numbers) for entry in admitted))):
        for way in ("min", "max"):
            found = _best(admitted, way, column)
            for cell, unit in enumerate(found.units if found else ()):
                if unit.text == text:
                    yield "cell of", way, column, cell, scheme, filters


def compute(scene: Scene, descriptor: tuple[Any, ...]) -> str | None:
    """Return the text that one of these descriptors gives; None where it gives none."""
    *_, scheme, filters = descriptor
    entries = records(scene.page, scheme)
    if len(entries) < LEAST_RECORDS:
        return None
    admitted = admit(scene, entries, filters)
    if admitted is None:
        return None
    match descriptor:
        case ("count", _, _):
            return str(len(admitted))
        case ("cell of", way, column, cell, _, _):
            found = _best(admitted, way, column)
            return found.units[cell].text if found and cell < len(found.units) else None
        case ("only", cell, _, _):
            units = admitted[0].units if len(admitted) == 1 else ()
            return units[cell].text if cell < len(units) else None
    return None
