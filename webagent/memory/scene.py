"""Scenes: what a step is chosen from, which is the goal, the page and what was done before."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from webagent.action import ACTIONS, Action
from webagent.memory.constants import FEW_LETTERS, POINT_SLACK
from webagent.memory.goals import Goal, clean, extract, locate, read_goal, turn_name
from webagent.memory.pages import Page, is_within, masked, read_page
from webagent.models.builtin.vocabulary import op_of
from webagent.records import Observation, Step

Reference: TypeAlias = tuple[Any, ...]
"""A text by where it comes from:

- `("=", text)`: always this text;
- `("$", i)`: slot i of the goal;
- `("@", left, right, length)`: a stretch of the goal in this context;
- `("/", reference, i)`: its i-th run of digits, and `("//", …)` without zeros before;
"""
Point: TypeAlias = tuple[int, int]
SLOT = "$"
MARKS = ("mark", "source", "target")
"""Arguments that are elements."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class PastAction:
    """A past action as it is remembered: by what was done to what kind of thing."""

    signature: str
    """Operation, role and name of the element, values of the goal and digits masked."""
    op: str
    mark: int
    role: str
    name: str
    text: str
    observation: Observation


@dataclass(frozen=True, slots=True)
class Scene:
    """What a step is chosen from."""

    goal: Goal
    page: Page
    past: tuple[PastAction, ...]
    field: int = 0
    """Mark of the element that a text is chosen for, 0 while none is."""

    def value(self, reference: Reference) -> str | None:
        """Return the text that a reference stands for here; None where there is none."""
        match reference:
            case ("=", str(text)):
                return text
            case ("$", int(index)):
                return self.goal.slots[index].text if index < len(self.goal.slots) else None
            case ("@", tuple(left), str(right), int(length)):
                return extract(left, right, length, self.goal)
            case ("/" | "//" as kind, tuple(whole), int(place)):
                runs = _DIGITS.findall(self.value(whole) or "")
                found = runs[place] if place < len(runs) else None
                return (found.lstrip("0") or found) if found and kind == "//" else found
        return None

    def numbers(self) -> list[tuple[Reference, str]]:
        """Return the runs of digits in values that are more than one number, such as dates."""
        found: list[tuple[Reference, str]] = []
        for i, slot in enumerate(self.goal.slots):
            runs = _DIGITS.findall(slot.text)
            if slot.kind == "number" and len(runs) > 1:
                for place, run in enumerate(runs):
                    found.append((("/", (SLOT, i), place), run))
                    if run.startswith("0"):
                        found.append((("//", (SLOT, i), place), run.lstrip("0")))
        return found

    @property
    def problem(self) -> str:
        """What the page reports of the step before; empty for nothing or an idle wait."""
        is_wait = self.past[-1:] and self.past[-1].op == "wait"
        return "" if is_wait else self.page.observation.outcome

    def references(self, text: str) -> list[Reference]:
        """Return every way in which this scene gives the text, apart from its being always so."""
        key = text.lower()
        if not key:
            return []
        found: list[Reference] = [
            (SLOT, i)
            for i, slot in enumerate(self.goal.slots)
            if key in (slot.text.lower(), turn_name(slot.text).lower())
        ]
        found += [reference for reference, run in self.numbers() if run == text]
        is_named = found and all(
            each[0] == SLOT and self.goal.slots[each[1]].kind == "name" for each in found
        )
        if (not found or is_named) and (len(text) > 1 or text.isalnum()):
            place = locate(text, self.goal)
            if place is not None:
                found.append(("@", *place))
        return found

    def slots_on_page(self) -> list[tuple[Reference, str]]:
        """Return the goal's values that stand on the page."""
        found: list[tuple[Reference, str]] = []
        for i, slot in enumerate(self.goal.slots):
            if self.page.holds(slot.text):
                found.append(((SLOT, i), slot.text))
        return found


def scene_of(observation: Observation, steps: Sequence[Step], goal: Goal | None = None) -> Scene:
    """Return the scene of the step after these on this page, with the goal as it was read."""
    goal, page = goal or read_goal(observation.goal), read_page(observation)
    return Scene(goal, page, tuple(done_of(step, goal) for step in steps))


def done_of(step: Step, goal: Goal) -> PastAction:
    """Return a past step as it is remembered."""
    known = _RECENT.get(id(step))
    if known is not None and known[0] is step:
        return known[1]
    action, observation = step.decision.action, step.observation
    mark = mark_of(action, observation)
    page = read_page(observation)
    node = page.nodes[page.line_of[mark]] if mark in page.line_of else None
    name = clean(node.name) if node else ""
    role = node.role if node else ""
    texts = [getattr(action, f, "") for f in ("text", "option", "key", "reason", "url")]
    text = clean(" ".join(each for each in texts if each))
    done = PastAction(
        signature(action, observation, goal), op_of(action), mark, role, name, text, observation
    )
    if len(_RECENT) > 4096:
        _RECENT.clear()
    _RECENT[id(step)] = step, done
    return done


_RECENT: dict[int, tuple[Step, PastAction]] = {}


def signature(action: Action, observation: Observation, goal: Goal) -> str:
    """Return what was done to what kind of thing, without the values of this goal."""
    parts = [op_of(action)]
    page = read_page(observation)
    marks = [value for name, value in arguments(action) if name in MARKS]
    for mark in marks or [mark_of(action, observation)]:
        if mark in page.line_of:
            node = page.nodes[page.line_of[mark]]
            name, key = clean(node.name), clean(node.name).lower()
            has_value = len(name) > 2 and any(
                is_within(slot.text.lower(), key)
                or turn_name(slot.text).lower() == key
                or (len(key) > FEW_LETTERS and is_within(key, slot.text.lower()))
                for slot in goal.slots
                if len(slot.text) > FEW_LETTERS
            )
            parts += [node.role, "$" if has_value else masked(name)]
    if pressed := getattr(action, "key", ""):
        parts.append(pressed)
    return "|".join(parts)


# -- arguments --------------------------------------------------------------------------------


def arguments(action: Action) -> list[tuple[str, Any]]:
    """Return the names and values of an action's arguments, in their order; coordinates as points,
    `spot` and, where a drag ends, `to`."""
    given: dict[str, Any] = {each.name: getattr(action, each.name) for each in fields(action)}
    points = {"x": ("spot", ("x", "y")), "to_x": ("to", ("to_x", "to_y"))}
    return [
        (points[name][0], tuple(given[part] for part in points[name][1]))
        if name in points
        else (name, value)
        for name, value in given.items()
        if name not in ("y", "to_y")
    ]


def argument_names(op: str) -> list[str]:
    """Return the names that `arguments` gives for an operation."""
    points = {"x": "spot", "to_x": "to"}
    names = (name for name in ACTIONS[op].__dataclass_fields__ if name not in ("y", "to_y"))
    return [points.get(name, name) for name in names]


def make_action(op: str, values: Mapping[str, Any]) -> Action:
    """Return the action with these arguments, named as `arguments` names them."""
    given = {name: value for name, value in values.items() if name not in ("spot", "to")}
    if "spot" in values:
        given["x"], given["y"] = values["spot"]
    if "to" in values:
        given["to_x"], given["to_y"] = values["to"]
    return ACTIONS[op](**given)


def mark_of(action: Action, observation: Observation) -> int:
    """Return the mark of what an action is done to first, or its point lies on; 0 for none."""
    given = dict(arguments(action))
    mark = next((given[name] for name in MARKS if name in given), None)
    if mark is None and "spot" in given:
        return line_at(read_page(observation), given["spot"])
    return mark or 0


def line_at(page: Page, point: Point) -> int:
    """Return the mark of the smallest thing that a point lies on; 0 for none."""
    x, y = point
    best: tuple[int, int, int] | None = None
    for line, node in enumerate(page.nodes):
        left, top, width, height = node.box
        inside = left <= x <= left + width and top <= y <= top + height
        near = (
            left - POINT_SLACK <= x <= left + width + POINT_SLACK
            and top - POINT_SLACK <= y <= top + height + POINT_SLACK
        )
        if near and (width or height) and node.role != "option":
            rank = (not inside, width * height, line)
            best = min(best, rank) if best else rank
    return page.mark_at(best[2]) if best else 0
