"""Pages as memory reads them: units of text that can be found, beside, above and below others."""

import re
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from typing import Any
from urllib.parse import urlsplit

from webagent.memory.constants import LABELS_NEAR, MOST_HITS
from webagent.memory.goals import clean, stems_of, turn_name
from webagent.records import Node, Observation

_CELL = " | "
"""How an observation joins the cells of a row of text."""
_CODE = re.compile(r"\w*\d\w*")
_WORDS = re.compile(r"[^\W\d_]{2}")
HEADINGS = ("h1", "h2", "h3", "legend")


@dataclass(frozen=True, slots=True)
class Unit:
    """One cell of a line."""

    line: int
    cell: int
    text: str


@dataclass(slots=True)
class Page:
    """An observation, indexed."""

    observation: Observation
    nodes: Sequence[Node]
    units: list[Unit]
    keys: list[str]
    """The units' texts in lower case, to find them by."""
    first_unit: list[int]
    """Index of each line's first unit, and one past the last."""
    line_of: dict[int, int]
    """Line by mark; static text has those of `mark_at`."""
    rows: list[int]
    """Number of the row on the screen in which each line stands."""
    by_kind: dict[tuple[str, str], list[int]]
    """Lines by role and widget kind, those of static text too."""
    by_role: dict[str, list[int]]
    by_name: dict[tuple[str, str], list[int]]
    """Lines that can be acted on, by role and lower-case name."""
    _whole: dict[str, list[int]]
    lists: dict[tuple[str, ...], list[Any]] = field(default_factory=dict)
    """Records of its lists by the way of reading them, once they were read."""
    known: dict[Any, Any] = field(default_factory=dict)
    """What was worked out about it, by what it is called."""
    _found: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _contents: dict[int, list[int]] = field(default_factory=dict)

    def mark_at(self, line: int) -> int:
        """Return the mark by which a line is known here: its own, below zero for static text."""
        return self.nodes[line].mark or -1 - line

    def find(self, text: str) -> tuple[int, ...]:
        """Return the units that are the text or, where none is, those that hold it as words; where
        none does, those with it as a name in the other order."""
        return self.find_all(text)[:MOST_HITS]

    def find_all(self, text: str) -> tuple[int, ...]:
        """Return what `find` does, however often the text stands there."""
        if text not in self._found:
            self._found[text] = self._find(text) or self._find(turn_name(text))
        return self._found[text]

    def _find(self, text: str) -> tuple[int, ...]:
        key = text.lower()
        whole = self._whole.get(key, []) if key else []
        hits = [i for i in whole if self.units[i].text == text] or whole
        return tuple(hits) or tuple(
            i for i, held in enumerate(self.keys) if key and key in held and is_within(key, held)
        )

    def whole(self, text: str) -> list[Unit]:
        """Return the units that are the text and nothing else, in its letter case if any is."""
        units = [self.units[i] for i in self._whole.get(text.lower(), ())]
        return [unit for unit in units if unit.text == text] or units

    def named(self, role: str, name: str) -> list[int]:
        """Return the lines of a role and name, in the name's own letter case if any is."""
        lines = self.by_name.get((role, name.lower())) or self.by_name.get(
            (role, turn_name(name).lower()), []
        )
        return [i for i in lines if clean(self.nodes[i].name) == name] or lines

    def holds(self, text: str) -> bool:
        """Whether the text stands anywhere on the page."""
        return bool(self.find(text))

    def row_lines(self, line: int) -> list[int]:
        """Return the lines of the row on the screen in which a line stands."""
        if not self._contents:
            for at, row in enumerate(self.rows):
                self._contents.setdefault(row, []).append(at)
        return self._contents[self.rows[line]]

    def captions(self, line: int) -> tuple[str, ...]:
        """Return the name of an element or, where it has none in letters, the texts between it and
        the control or heading before it."""
        found = [clean(self.nodes[line].name)]
        if not _WORDS.search(found[0]):
            before = reversed(self.nodes[max(0, line - LABELS_NEAR) : line])
            texts = takewhile(lambda node: not node.mark and node.kind not in HEADINGS, before)
            found += [clean(node.name) for node in texts]
        return tuple(filter(None, found))

    def stems(self, line: int) -> frozenset[str]:
        """Return the stems of the words by which an element is called."""
        return stems_of(" ".join(self.captions(line)))

    def units_of(self, line: int) -> list[Unit]:
        """Return the cells of a line."""
        return self.units[self.first_unit[line] : self.first_unit[line + 1]]

    def options(self, line: int) -> list[Node]:
        """Return the options of a list that stand below it."""
        found = []
        for node in self.nodes[line + 1 :]:
            if node.role != "option":
                break
            found.append(node)
        return found


def read_page(observation: Observation) -> Page:
    """Return the index of a page; a page that was just read is not read again."""
    found = _RECENT.get(id(observation))
    if found is not None and found.observation is observation:
        return found
    page = _read(observation)
    if len(_RECENT) >= _MOST_RECENT:
        del _RECENT[next(iter(_RECENT))]
    _RECENT[id(observation)] = page
    return page


_MOST_RECENT = 64
_RECENT: dict[int, Page] = {}


def _read(observation: Observation) -> Page:
    units: list[Unit] = []
    keys: list[str] = []
    first_unit: list[int] = []
    line_of: dict[int, int] = {}
    by_kind: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    by_role: defaultdict[str, list[int]] = defaultdict(list)
    by_name: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    whole: defaultdict[str, list[int]] = defaultdict(list)
    for line, node in enumerate(observation.nodes):
        first_unit.append(len(units))
        cells = node.name.split(_CELL) if _CELL in node.name else [node.name]
        if node.value and node.role != "option" and len(node.value) < 200:
            cells.append(node.value)
        for cell, text in enumerate(cells):
            unit = Unit(line, cell, clean(text))
            keys.append(unit.text.lower())
            if unit.text:
                whole[keys[-1]].append(len(units))
            units.append(unit)
        if not node.mark:
            line_of[-1 - line] = line
            by_kind["text", node.kind].append(line)
        else:
            line_of[node.mark] = line
            by_kind[node.role, node.kind].append(line)
            by_role[node.role].append(line)
            by_name[node.role, clean(node.name).lower()].append(line)
    first_unit.append(len(units))
    rows = _rows(observation.nodes)
    return Page(
        observation,
        observation.nodes,
        units,
        keys,
        first_unit,
        line_of,
        rows,
        dict(by_kind),
        dict(by_role),
        dict(by_name),
        dict(whole),
    )


def _rows(nodes: Sequence[Node]) -> list[int]:
    """Number the rows: a line is in the row of the one before where their middles are level."""
    rows: list[int] = []
    row, top, bottom = 0, 0.0, 0.0
    for node in nodes:
        _, y, _, height = node.box
        is_level = (
            bool(rows)
            and height > 0
            and min(bottom, y + height) - max(top, y) > 0.5 * min(height, bottom - top)
        )
        if node.role == "option" and rows:
            is_level = True
        elif not is_level:
            row += 1
            top, bottom = y, y + height
        rows.append(row)
    return rows


@lru_cache(65536)
def is_within(part: str, text: str) -> bool:
    """Whether the text holds the part from one word's edge to another's; both in lower case."""
    start = text.find(part)
    while start >= 0:
        end = start + len(part)
        before = start > 0 and text[start - 1].isalnum() and part[0].isalnum()
        after = end < len(text) and text[end].isalnum() and part[-1].isalnum()
        if not before and not after:
            return True
        start = text.find(part, start + 1)
    return False


@lru_cache(65536)
def masked(text: str) -> str:
    """Return the beginning of a text with everything that has a digit masked."""
    return _CODE.sub("#", clean(text))[:40]


def kind_of_page(observation: Observation) -> str:
    """Return what kind of page it is: the address and the first word of its title, masked."""
    parts = urlsplit(observation.url)
    path = "/".join(_CODE.sub("#", part) for part in parts.path.split("/"))
    return f"{path}?{'&'.join(sorted(pair.split('=')[0] for pair in parts.query.split('&')))}"


def skeleton(page: Page) -> frozenset[int]:
    """Return hashes of what can be acted on, numbers masked, and of headings."""
    return frozenset(
        stable_hash(f"{node.role}|{masked(node.name)}")
        for node in page.nodes
        if (node.mark and node.role != "option") or node.kind in HEADINGS
    )


@lru_cache(65536)
def stable_hash(text: str) -> int:
    """Return 32 bits of a text's hash, the same in every process."""
    return zlib.crc32(text.encode("utf-8", "replace"))
