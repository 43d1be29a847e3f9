"""What stands near an element, and how well an element fits one that was recorded."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from webagent.records import Node, Observation

_WINDOW = 8
"""Lines looked at on either side, at most."""
_FADING = 0.3
"""By how much a line further away counts less."""
_AFTER = 0.5
"""What stands behind an element says less of it than what stands before."""
_RELATED = (
    {"button", "link", "menuitem", "tab", "generic"},
    {"textbox", "searchbox", "combobox", "spinbutton"},
    {"checkbox", "switch", "menuitemcheckbox"},
    {"radio", "menuitemradio"},
    {"combobox", "listbox"},
)
_OTHER_ROLE = 0.85
_UNKNOWN = 0.5
"""How alike surroundings count where nothing stood near."""
_BESIDE = 2
_STILL = 3
"""Pixels by which what has not moved may be off."""
_NAME, _NEAR, _STRUCTURE = 0.55, 0.3, 0.15
"""What name, surroundings and structure count for."""


@dataclass(frozen=True, slots=True)
class NearbyLine:
    """A line near an element: its words and how much they count."""

    text: str
    weight: float
    is_before: bool


def find_nearby_lines(
    page: Observation, index: int, alike: Sequence[int] = ()
) -> tuple[NearbyLine, ...]:
    """Return the lines around the node at an index, up to the next ones that are `alike` it."""
    before = max((other for other in alike if other < index), default=-1)
    after = min((other for other in alike if other > index), default=len(page.nodes))
    above = range(index - 1, max(before, index - 1 - _WINDOW), -1)
    below = range(index + 1, min(after, index + 1 + _WINDOW))
    found: list[NearbyLine] = []
    for places, side, is_before in ((above, 1.0, True), (below, _AFTER, False)):
        count = 0
        for node in (page.nodes[place] for place in places):
            text = normalize_text(node.name)
            if text and node.role != "option":
                found.append(NearbyLine(text, side / (1 + _FADING * count), is_before))
                count += 1
    return tuple(found)


def compare_surroundings(
    recorded: Sequence[NearbyLine],
    now: Sequence[NearbyLine],
    others: Sequence[set[tuple[str, bool]]],
) -> float:
    """Return how much of what stood near stands near now, from 0 to 1. Lines that also stand near
    the `others`, elements of the same name on the recorded page, on the same side count less."""
    total = found = 0.0
    for line in recorded:
        weight = line.weight / (1 + 4 * sum((line.text, line.is_before) in near for near in others))
        total += weight
        likeness, words = 0.0, set(line.text.split())
        for other in now:
            its = set(other.text.split())
            shared = 1.0 if line.text == other.text else len(words & its) / len(words | its)
            side = 1.0 if line.is_before == other.is_before else 0.5
            if shared >= 0.5:
                likeness = max(likeness, side * min(1.0, other.weight / line.weight) * shared)
        found += weight * likeness
    return found / total if total else 0.0


def normalize_text(text: str) -> str:
    """Return a text for comparing: case, spaces and punctuation at its ends laid aside."""
    return " ".join(text.casefold().split()).strip(" .:…!*›»>") or " ".join(text.casefold().split())


def page_structure(page: Observation) -> tuple[tuple[str, str, str], ...]:
    """Return all lines of a page without what changes by being used."""
    return tuple((node.role, node.name, node.kind) for node in page.nodes)


def describe_element(node: Node) -> str:
    """Return an element in a person's words."""
    name = f' "{node.name}"' if node.name else " without a name"
    return f"{node.role}{name}"


def find_unclaimed(recorded: Observation, target: Node, now: Observation) -> list[int]:
    """Return places of related elements that are not plainly others of the recorded page."""

    def key(node: Node) -> tuple[str, str]:
        return node.role, normalize_text(node.name)

    roles = {target.role}.union(*(group for group in _RELATED if target.role in group))
    known = Counter(key(node) for node in recorded.nodes if node.mark and node is not target)
    here = Counter(key(node) for node in now.nodes if node.mark)
    return [
        place
        for place, node in enumerate(now.nodes)
        if node.mark and node.role in roles and here[key(node)] > known[key(node)]
    ]


def resemblance(
    recorded: Observation, target: Node, name: str, here: tuple[Observation, int]
) -> float:
    """Return how well the element at a place fits one that is called `name` now: 0 to 1."""
    now, place = here
    node = now.nodes[place]
    then = next(i for i, node in enumerate(recorded.nodes) if node is target)
    mine, its = find_nearby_lines(recorded, then), find_nearby_lines(now, place)
    if node.name:
        words = compare_names(name, node.name)
    else:
        # An element without a name may be called by what stands right before it.
        before = [line.text for line in its if line.is_before][:_BESIDE]
        words = 0.8 if name and normalize_text(name) in before else 0.0
    near = compare_surroundings(mine, its, ()) if mine else _UNKNOWN if its else 1.0
    away = abs(then / max(1, len(recorded.nodes)) - place / max(1, len(now.nodes)))
    structure = (node.kind == target.kind) + (node.depth == target.depth) + max(0.0, 1 - 3 * away)
    total = _NAME * words + _NEAR * near + _STRUCTURE * structure / 3
    return total * (1.0 if node.role == target.role else _OTHER_ROLE)


def compare_names(one: str, other: str) -> float:
    """Return how alike two names are, from 0 to 1: by shared words, else by letters."""
    first, second = normalize_text(one), normalize_text(other)
    if first == second:
        return 1.0
    if not first or not second:
        return 0.0
    mine, its = set(first.split()), set(second.split())
    shared = len(mine & its)
    by_words = 2 * shared / (len(mine) + len(its))
    if shared and (mine <= its or its <= mine):
        by_words = max(by_words, 0.8)
    by_letters = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return max(by_words, by_letters if by_letters >= 0.75 else 0.4 * by_letters)


def is_shifted(recorded: Observation, then: list[int], now: Observation, here: list[int]) -> bool:
    """Whether elements are laid out as they were, or all of them moved by the same distance."""
    boxes = [(recorded.nodes[a].box, now.nodes[b].box) for a, b in zip(then, here, strict=False)]
    moves = [(b[0] - a[0], b[1] - a[1]) for a, b in boxes]
    return len(then) == len(here) and all(
        abs(move[axis] - moves[0][axis]) <= _STILL for move in moves for axis in (0, 1)
    )
