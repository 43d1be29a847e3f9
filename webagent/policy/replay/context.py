"""What stands near an element, by which elements of one name are told apart."""

from collections.abc import Sequence
from dataclasses import dataclass

from webagent.records import Node, Observation

_WINDOW = 8
"""Lines looked at on either side, at most."""
_FADING = 0.3
"""By how much a line further away counts less."""
_AFTER = 0.5
"""What stands behind an element says less of it than what stands before."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line near an element: its words and how much they count."""

    text: str
    weight: float
    is_before: bool


def lines_near(page: Observation, index: int, alike: Sequence[int] = ()) -> tuple[Line, ...]:
    """The lines around the node at an index, up to the next ones that are `alike` it."""
    before = max((other for other in alike if other < index), default=-1)
    after = min((other for other in alike if other > index), default=len(page.nodes))
    above = range(index - 1, max(before, index - 1 - _WINDOW), -1)
    below = range(index + 1, min(after, index + 1 + _WINDOW))
    return (*_lines(page, above, True), *_lines(page, below, False))


def _lines(page: Observation, places: Sequence[int], is_before: bool) -> list[Line]:
    found: list[Line] = []
    for place in places:
        node = page.nodes[place]
        text = plain(node.name)
        if text and node.role != "option":
            weight = (1.0 if is_before else _AFTER) / (1 + _FADING * len(found))
            found.append(Line(text, weight, is_before))
    return found


def likeness(
    recorded: Sequence[Line], now: Sequence[Line], others: Sequence[set[tuple[str, bool]]]
) -> float:
    """How much of what stood near stands near now, from 0 to 1. Lines that also stand near the
    `others`, elements of the same name on the recorded page, on the same side count less."""
    total = found = 0.0
    for line in recorded:
        weight = line.weight / (1 + 4 * sum((line.text, line.is_before) in near for near in others))
        total += weight
        found += weight * max((_match(line, other) for other in now), default=0.0)
    return found / total if total else 0.0


def _match(line: Line, other: Line) -> float:
    side = 1.0 if line.is_before == other.is_before else 0.5
    side *= min(1.0, other.weight / line.weight)
    if line.text == other.text:
        return side
    mine, its = set(line.text.split()), set(other.text.split())
    shared = len(mine & its) / len(mine | its)
    return side * shared if shared >= 0.5 else 0.0


def plain(text: str) -> str:
    """A text for comparing: case, spaces and punctuation at its ends laid aside."""
    return " ".join(text.casefold().split()).strip(" .:…!*›»>") or " ".join(text.casefold().split())


def skeleton(page: Observation) -> tuple[tuple[str, str], ...]:
    """What kinds of elements a page has in which order, whatever they are called."""
    return tuple((node.role, node.kind) for node in page.nodes if node.mark)


def looks(page: Observation) -> tuple[tuple[str, str, str], ...]:
    """All lines of a page without what changes by being used."""
    return tuple((node.role, node.name, node.kind) for node in page.nodes)


def called(node: Node) -> str:
    """An element in a person's words."""
    name = f' "{node.name}"' if node.name else " without a name"
    return f"{node.role}{name}"
