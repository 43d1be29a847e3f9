"""How well an element fits one that was recorded, where neither mark nor name are the same."""

from collections import Counter
from difflib import SequenceMatcher

from webagent.policy.replay.context import likeness, lines_near, plain
from webagent.records import Node, Observation

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
_SAME_SIZE = 0.1
"""By what part a side may be longer or shorter."""
_STILL = 3
"""Pixels by which what has not moved may be off."""
_NAME, _NEAR, _STRUCTURE = 0.55, 0.3, 0.15
"""What name, surroundings and structure count for."""


def unclaimed(recorded: Observation, target: Node, now: Observation) -> list[int]:
    """Places of related elements that are not plainly others of the recorded page."""
    known = Counter(_key(node) for node in recorded.nodes if node.mark and node is not target)
    here = Counter(_key(node) for node in now.nodes if node.mark)
    return [
        place
        for place, node in enumerate(now.nodes)
        if node.mark
        and here[_key(node)] > known[_key(node)]
        and (
            node.role == target.role
            or any(node.role in group and target.role in group for group in _RELATED)
        )
    ]


def resemblance(
    recorded: Observation, target: Node, name: str, here: tuple[Observation, int]
) -> float:
    """How well the element at a place of a page fits one that is called `name` now: 0 to 1."""
    now, place = here
    node, then = (
        now.nodes[place],
        next(i for i, node in enumerate(recorded.nodes) if node is target),
    )
    words = alike(name, node.name) if node.name else _beside(now, place, name)
    mine, its = lines_near(recorded, then), lines_near(now, place)
    near = likeness(mine, its, ()) if mine else _UNKNOWN if its else 1.0
    away = abs(then / max(1, len(recorded.nodes)) - place / max(1, len(now.nodes)))
    structure = (node.kind == target.kind) + (node.depth == target.depth) + max(0.0, 1 - 3 * away)
    total = _NAME * words + _NEAR * near + _STRUCTURE * structure / 3
    return total * (1.0 if node.role == target.role else _OTHER_ROLE)


def alike(one: str, other: str) -> float:
    """How alike two names are, from 0 to 1: by shared words, else by letters."""
    first, second = plain(one), plain(other)
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


def is_as_large(one: Node, other: Node) -> bool:
    """Whether two elements take about the same room."""
    sides = zip(one.box[2:], other.box[2:], strict=True)
    return all(abs(a - b) <= _SAME_SIZE * max(a, b) for a, b in sides)


def is_shifted(recorded: Observation, then: list[int], now: Observation, here: list[int]) -> bool:
    """Whether elements are laid out as they were, at most all of them moved by the same way."""
    boxes = [(recorded.nodes[a].box, now.nodes[b].box) for a, b in zip(then, here, strict=False)]
    ways = [(b[0] - a[0], b[1] - a[1]) for a, b in boxes]
    return len(then) == len(here) and all(
        abs(way[axis] - ways[0][axis]) <= _STILL for way in ways for axis in (0, 1)
    )


def _beside(page: Observation, place: int, name: str) -> float:
    """How well an element without a name is called by what stands right before it."""
    before = [line.text for line in lines_near(page, place) if line.is_before][:_BESIDE]
    return 0.8 if name and plain(name) in before else 0.0


def _key(node: Node) -> tuple[str, str]:
    return node.role, plain(node.name)
