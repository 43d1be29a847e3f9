"""A recorded action on the page as it is now: its elements, points and texts found again."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from webagent.action import Action, format_action
from webagent.action import actions as act
from webagent.errors import PolicyError
from webagent.policy.marks import FIELDS
from webagent.policy.replay.account import Account
from webagent.policy.replay.context import called, lines_near, looks, plain
from webagent.policy.replay.elements import Found, Lost, Search
from webagent.policy.replay.goals import Words
from webagent.policy.replay.texts import Writing, lines_with, texts_of
from webagent.policy.replay.values import Values
from webagent.records import Node, Observation, Step, Trajectory

_AT_POINTS = (("x", "y"), ("to_x", "to_y"))
_BY_KEYBOARD = (act.KeyboardType, act.KeyboardInsertText, act.KeyboardDown, act.KeyboardUp)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a recording is played: what it is carried over by, and how sure one wants to be."""

    values: Values
    least: float
    """Confidence under which an element is not taken."""
    secrets: frozenset[str] = frozenset()
    moved: tuple[str, str] = ("", "")
    """The address it began at, and the one it begins at now."""


def again(number: int, step: Step, now: Observation, place: Place) -> tuple[Action, Account]:
    """The action for a recorded step, with the account of it. `number` counts from 1.

    Raises `PolicyError` with the reason where it cannot be told what to do.
    """
    recorded, action = step.observation, step.decision.action
    told = Account(number, format_action(action))
    finds = [*_found(action, recorded, now, place)]
    changes: dict[str, Any] = {name: found.node.mark for name, _, found in finds}
    moved = replace(action, **changes)
    moved = _at_points(moved, recorded, now, place)
    if isinstance(action, act.Goto):
        moved = replace(action, url=_rebased(action.url, place.moved))
    _check_focus(action, recorded, now, place)
    moved, notes = Writing(recorded, now, place.values, place.secrets).rewritten(moved)
    told = replace(told, taken=format_action(moved), notes=notes)
    if finds:
        weakest = min((found for _, _, found in finds), key=lambda found: found.confidence)
        told = replace(
            told,
            element=" onto ".join(called(target) for _, target, _ in finds),
            found=" onto ".join(called(found.node) for _, _, found in finds),
            rule=weakest.rule,
            confidence=round(weakest.confidence, 2),
        )
    return moved, told


def said_by(recording: Trajectory) -> Iterator[str]:
    """Every text that a recording's steps go by: what they type, and what they act on is called or
    told apart by."""
    for step in recording.steps:
        page, action = step.observation, step.decision.action
        for text in texts_of(action):
            yield text
            yield from lines_with(page, text)
        for target in _targets(action, page):
            yield target.name
            yield from _near(page, target)


def _near(page: Observation, target: Node) -> Iterator[str]:
    alike = [
        place
        for place, node in enumerate(page.nodes)
        if node.mark and (node.role, plain(node.name)) == (target.role, plain(target.name))
    ]
    if len(alike) > 1:
        place = next(i for i in alike if page.nodes[i] is target)
        yield from (line.text for line in lines_near(page, place, alike))


def _targets(action: Action, page: Observation) -> list[Node]:
    marks = [getattr(action, name, 0) for name in FIELDS]
    return [node for mark in marks if mark and (node := page.node(mark))]


def _found(
    action: Action, recorded: Observation, now: Observation, place: Place
) -> Iterator[tuple[str, Node, Found]]:
    for name in FIELDS:
        mark = getattr(action, name, 0)
        if not mark:
            continue
        target = recorded.node(mark)
        if target is None:
            raise PolicyError(f"the recorded page has no element {mark} to look for")
        yield name, target, _sure(recorded, target, now, place)


def _sure(recorded: Observation, target: Node, now: Observation, place: Place) -> Found:
    search = Search(recorded, target, now, place.values)
    found = search.find()
    if isinstance(found, Lost):
        raise PolicyError(found.reason)
    if found.confidence < place.least:
        raise PolicyError(
            f"{called(target)} was found by {found.rule} with a confidence of"
            f" {found.confidence:.2f}, and {place.least} is asked"
        )
    if not found.is_named and _is_arbitrary(search):
        raise PolicyError(
            f"{called(target)} was chosen among others; the goal does not name it, and the page"
            " says other things now"
        )
    return found


def _is_arbitrary(search: Search) -> bool:
    """Whether the choice depended on what the recorded page said and this one does not."""
    target = search.target
    if not search.values.is_another_task or search.is_renamed or not target.name:
        return False
    goal = set(Words.of(search.values.alignment.new.text).plain)
    if set(Words.of(target.name).plain) <= goal or target.name in search.values.given.values():
        return False
    place = next(i for i, node in enumerate(search.recorded.nodes) if node is target)
    beside = search.recorded.nodes[max(0, place - 1) : place + 2]
    others = [n for n in beside if n.mark and (n.role, n.kind) == (target.role, target.kind)]
    return len(others) > 1 and looks(search.recorded) != looks(search.now)


def _at_points(action: Action, recorded: Observation, now: Observation, place: Place) -> Action:
    """The action with its points where the same elements are now."""
    if _places(recorded) == _places(now) and recorded.viewport == now.viewport:
        return action
    for names in _AT_POINTS:
        if not hasattr(action, names[0]):
            continue
        if place.values.is_another_task:
            raise PolicyError("a point was acted on, and the page has other things in other places")
        x, y = (getattr(action, name) for name in names)
        over = [
            node
            for node in recorded.nodes
            if node.mark
            and node.box[0] <= x < node.box[0] + node.box[2]
            and node.box[1] <= y < node.box[1] + node.box[3]
        ]
        target = min(over, key=lambda node: node.box[2] * node.box[3], default=None)
        if target is None:
            raise PolicyError(f"nothing that is known was at {x},{y}, and the page is another one")
        box, then = _sure(recorded, target, now, place).node.box, target.box
        to_x = box[0] + round((x - then[0]) * box[2] / max(1, then[2]))
        to_y = box[1] + round((y - then[1]) * box[3] / max(1, then[3]))
        changes: dict[str, Any] = {names[0]: to_x, names[1]: to_y}
        action = replace(action, **changes)
    return action


def _places(page: Observation) -> list[tuple[str, str, tuple[int, int, int, int]]]:
    return [(node.role, node.name, node.box) for node in page.nodes]


def _check_focus(action: Action, recorded: Observation, now: Observation, place: Place) -> None:
    """What is typed goes where it went. Raises `PolicyError` where the focus is elsewhere."""
    is_typed = isinstance(action, _BY_KEYBOARD)
    if not is_typed and not (isinstance(action, act.Press) and not action.mark):
        return
    target = recorded.node(recorded.focus)
    if target is None:
        return
    found = _sure(recorded, target, now, place)
    if found.node.mark != now.focus:
        raise PolicyError(f"{called(target)} had the keyboard focus, and has it no more")


def _rebased(url: str, moved: tuple[str, str]) -> str:
    """An address of the site that was recorded, at the site that is played."""
    before, after, parts = urlsplit(moved[0]), urlsplit(moved[1]), urlsplit(url)
    if not moved[1] or (parts.scheme, parts.netloc) != (before.scheme, before.netloc):
        return url
    return urlunsplit(parts._replace(scheme=after.scheme, netloc=after.netloc))
