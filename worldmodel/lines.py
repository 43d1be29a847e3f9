"""Lines of pages as numbers that are fast to compare, and partly unknown lines."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from webagent.records import Node, Observation
from worldmodel.kinds import GAP

UNKNOWN = "unknown"
"""The state of a line that is not known as a whole. No page can forge it: states are read by the
observation's own script."""
_CODE = re.compile(r"\w*\d\w*")
_RANGE = re.compile(r"… (\d+) to (\d+) lines: (.*)", re.DOTALL)
_MOST_RECENT = 512

LineKind = tuple[str, str]
"""Role and widget kind."""


@dataclass(slots=True, eq=False)
class PageLines:
    """A page's lines, each under a number that equal lines share on all pages."""

    page: Observation
    whole: list[int]
    """By role, kind, name, value and states, focus aside."""
    named: list[int]
    """By role, kind and name."""
    bag: frozenset[int]
    """All of `whole`."""
    names: frozenset[int]
    """All of `named`."""
    _frames: dict[int, list[int]] = field(default_factory=dict)

    @property
    def nodes(self) -> Sequence[Node]:
        """The page's lines."""
        return self.page.nodes

    def likeness(self, other: "PageLines") -> float:
        """Return the share of all lines that both pages have, in [0, 1]."""
        both = len(self.bag & other.bag)
        return both / (len(self.bag) + len(other.bag) - both) if both else 0.0

    def value_of(self, node: Node) -> str | None:
        """Return the value of the first line with the role, kind and name of this one."""
        name = name_of(node)
        return next((self.nodes[i].value for i, n in enumerate(self.named) if n == name), None)

    def framed(self, frame: int) -> list[int]:
        """Return the places of lines with this frame, as `frame_of` gives it."""
        if not self._frames:
            for place, node in enumerate(self.page.nodes):
                self._frames.setdefault(frame_of(node), []).append(place)
        return self._frames.get(frame, [])


_NUMBERS: dict[tuple[object, ...], int] = {}
_RECENT: dict[int, PageLines] = {}


def _number(key: tuple[object, ...]) -> int:
    return _NUMBERS.setdefault(key, len(_NUMBERS))


def read_lines(page: Observation) -> PageLines:
    """Return the lines of a page; recent pages are cached."""
    known = _RECENT.get(id(page))
    if known is not None and known.page is page:
        return known
    whole, named = [], []
    for node in page.nodes:
        states = tuple(sorted(state for state in node.states if state != "focused"))
        whole.append(_number((node.role, node.kind, node.name, node.value, states)))
        named.append(name_of(node))
    lines = PageLines(page, whole, named, frozenset(whole), frozenset(named))
    if len(_RECENT) >= _MOST_RECENT:
        del _RECENT[next(iter(_RECENT))]
    _RECENT[id(page)] = lines
    return lines


def name_of(node: Node, name: str | None = None) -> int:
    """Return the number of a line's role, kind and name, or of what it would be with another."""
    return _number((node.role, node.kind, node.name if name is None else name))


def frame_of(node: Node) -> int:
    """Return the number of a line with everything masked that has a digit."""
    return _number(("#", node.role, node.kind, mask(node.name)))


@lru_cache(65536)
def mask(text: str) -> str:
    """Return a text with every word masked that has a digit."""
    return _CODE.sub("#", text)


def unknown_line(node: Node, name: str = GAP) -> Node:
    """Return a placeholder: a line like this one, of which only the part in `name` is known."""
    return Node(
        node.mark, node.role, name, "", (UNKNOWN,), depth=node.depth, kind=node.kind, box=node.box
    )


def unknown_lines(kinds: Iterable[LineKind], least: int, most: int, depth: int = 0) -> Node:
    """Return a placeholder for a number of lines of these kinds in this place."""
    listed = ", ".join(sorted(f"{role}/{kind}" for role, kind in set(kinds)))
    name = f"{GAP} {least} to {most} lines: {listed}"
    return Node(0, "text", name, states=(UNKNOWN,), depth=depth, kind=UNKNOWN)


def is_unknown(node: Node) -> bool:
    """Return whether a line is a placeholder."""
    return UNKNOWN in node.states


def read_range(node: Node) -> tuple[int, int, frozenset[LineKind]] | None:
    """Return the number and kinds of lines that a placeholder stands for; None if it is for one."""
    match = _RANGE.fullmatch(node.name) if node.kind == UNKNOWN else None
    if match is None:
        return None
    kinds = (each.partition("/") for each in match[3].split(", "))
    return int(match[1]), int(match[2]), frozenset((role, kind) for role, _, kind in kinds)
