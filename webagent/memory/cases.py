"""Cases: demonstrated steps as memory keeps them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from webagent.action import Action
from webagent.memory.elements import describe_element, wanted
from webagent.memory.goals import Goal, align, exchanged_stems, read_goal
from webagent.memory.named_fields import list_unfilled
from webagent.memory.pages import kind_of_page, masked, skeleton, stable_hash
from webagent.memory.scene import MARKS, SLOT, Scene, arguments, scene_of, signature
from webagent.memory.texts import describe_text
from webagent.models.builtin.vocabulary import op_of
from webagent.records import Trajectory

Descriptors = frozenset[tuple[Any, ...]]
TICKED = ("checkbox", "radio", "switch", "menuitemcheckbox")
"""Roles of what is ticked one after the other, until nothing that the goal names is left."""
PROBLEM = ("problem",)
"""The fact that the page reports what became of the step before."""
LEFT = ("left",)
"""The fact that something which the goal names is still to be ticked or filled in."""
_TEXTS = ("text", "option", "reason", "url")


@dataclass(frozen=True, slots=True)
class Case:
    """One step: what it looked like, and the ways in which its choice can be described."""

    episode: str
    step: int
    task: str
    goal: Goal
    op: str
    signature: str
    past: tuple[int, ...]
    """Hashes of the signatures of what was done before, the latest first."""
    page: frozenset[int]
    """The page's skeleton, hashed."""
    place: str
    """What kind of page it is."""
    facts: frozenset[tuple[Any, ...]]
    """Which values of the goal stand on the page, and what stands out there."""
    called: str
    """Name of the element that it was done to, digits masked; empty for none."""
    arguments: tuple[tuple[str, Descriptors], ...]
    """For each argument of the action the descriptors that give it."""
    weight: float = 1.0
    """Below zero for what is to be avoided."""
    source: str = "demonstration"

    @property
    def role(self) -> str:
        """Role of the element that it was done to; empty for none."""
        parts = self.signature.split("|")
        return parts[1] if len(parts) > 2 else ""

    def descriptors(self, name: str) -> Descriptors:
        """Return those of one argument."""
        return next((found for each, found in self.arguments if each == name), frozenset())

    def constant(self, name: str) -> str | None:
        """Return the text that one argument was; None where it was none."""
        texts = (d[1][1] for d in self.descriptors(name) if d[0] == "is" and d[1][0] == "=")
        return next(texts, None)


def descriptors_of_element(case: Case) -> Descriptors:
    """Return the descriptors of the element that a case was done to."""
    return next((found for name, found in case.arguments if name in MARKS), frozenset())


def view_of(scene: Scene) -> dict[str, Any]:
    """Return what of a scene cases are compared by."""
    past = tuple(stable_hash(done.signature) for done in reversed(scene.past))
    return {
        "goal": scene.goal,
        "past": past,
        "page": skeleton(scene.page),
        "place": kind_of_page(scene.page.observation),
        "facts": facts_of(scene),
    }


def facts_of(scene: Scene) -> frozenset[tuple[Any, ...]]:
    """Return which of the goal's values the page has, as text, as an element or as a value."""
    found: set[tuple[Any, ...]] = set()
    nodes = scene.page.nodes
    for i, slot in enumerate(scene.goal.slots):
        hits = scene.page.find(slot.text)
        if not hits:
            found.add(("no", (SLOT, i)))
            continue
        lines = {scene.page.units[hit].line for hit in hits}
        if any(nodes[line].mark and nodes[line].role != "option" for line in lines):
            found.add(("element", (SLOT, i)))
        if any(nodes[line].value.lower() == slot.text.lower() for line in lines):
            found.add(("value", (SLOT, i)))
        found.add(("text", (SLOT, i)))
    for node in nodes:
        if node.role in ("alert", "status", "dialog") and node.name:
            found.add(("message", node.name[:20]))
    if scene.problem:
        found.add(PROBLEM)
    is_ticked = any(wanted(scene, role) for role in TICKED if role in scene.page.by_role)
    if is_ticked or list_unfilled(scene):
        found.add(LEFT)
    return frozenset(found)


def name_of(scene: Scene) -> str:
    """Return what the element that is chosen is called, digits masked; empty for none."""
    line = scene.page.line_of.get(scene.field)
    return masked(" ".join(scene.page.captions(line))) if line is not None else ""


def cases_of(
    trajectory: Trajectory,
    weight: float = 1.0,
    source: str = "demonstration",
    goal: Goal | None = None,
) -> list[Case]:
    """Return a case for each step of an episode, with its goal as it was read."""
    found = []
    for i, step in enumerate(trajectory.steps):
        scene = scene_of(step.observation, trajectory.steps[:i], goal)
        found.append(case_of(scene, step.decision.action, trajectory, i, weight, source))
    return found


def case_of(
    scene: Scene, action: Action, trajectory: Trajectory, step: int, weight: float, source: str
) -> Case:
    """Return the case of an action in a scene."""
    described: list[tuple[str, Descriptors]] = []
    field = scene
    for name, value in arguments(action):
        if name in MARKS:
            described.append(
                (name, describe_element(scene, value) if value else frozenset({("page",)}))
            )
            field = replace(field, field=value)
        elif name in _TEXTS and isinstance(value, str):
            described.append((name, describe_text(field, value)))
        else:
            described.append((name, frozenset({("is", ("=", value))})))
    return Case(
        episode=trajectory.id,
        step=step,
        task=trajectory.task.name,
        op=op_of(action),
        signature=signature(action, scene.page.observation, scene.goal),
        called=name_of(field),
        arguments=tuple(described),
        weight=weight,
        source=source,
        **view_of(scene),
    )


def translate(descriptors: Descriptors, theirs: Goal, ours: Goal) -> Sequence[tuple[Any, ...]]:
    """Return the descriptors of another goal's values that have a counterpart."""
    slots = align(theirs, ours)
    if slots == tuple(range(len(slots))):
        return tuple(descriptors)
    found = []
    for descriptor in descriptors:
        moved = _moved(descriptor, slots) if has_slots(descriptor) else descriptor
        if moved is not None:
            found.append(moved)
    return found


def carry_over(descriptors: Descriptors, theirs: Goal, ours: Goal) -> list[tuple[Any, ...]]:
    """Return the descriptors of an element as this goal would have them: `translate` with, for one
    that is called by words of the goal, those that this goal has in their place."""
    found = []
    for each in translate(descriptors, theirs, ours):
        if each[0] != "about":
            found.append(each)
        elif pairs := [pair for pair in exchanged_stems(theirs, ours) if pair[0] & {*each[2]}]:
            gone, came = (frozenset[str]().union(*(pair[i] for pair in pairs)) for i in (0, 1))
            found.append((*each[:2], tuple(sorted(came)), tuple(sorted({*each[2]} - gone))))
    return found


@lru_cache(262144)
def has_slots(descriptor: tuple[Any, ...]) -> bool:
    """Whether a descriptor speaks of values of the goal."""
    return any(
        isinstance(part, tuple) and (part[:1] == (SLOT,) or has_slots(part)) for part in descriptor
    )


@lru_cache(262144)
def constants(descriptor: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the texts that a descriptor takes to be always the same, in lower case."""
    found: list[str] = []
    for part in descriptor:
        if isinstance(part, tuple):
            if len(part) == 2 and part[0] == "=":
                found += [part[1].lower()] if isinstance(part[1], str) else []
            else:
                found += constants(part)
    return tuple(found)


def _moved(value: Any, slots: tuple[int, ...]) -> Any:
    """The value with slots numbered as in the other goal; None where one is missing there."""
    if not isinstance(value, tuple):
        return value
    if len(value) == 2 and value[0] == SLOT and isinstance(value[1], int):
        return (SLOT, slots[value[1]]) if slots[value[1]] >= 0 else None
    parts = []
    for part in value:
        moved = _moved(part, slots)
        if moved is None and part is not None:
            return None
        parts.append(moved)
    return tuple(parts)


# -- keeping ----------------------------------------------------------------------------------


def case_to_json(case: Case) -> dict[str, Any]:
    """Return a case as plain values."""
    found = {each.name: getattr(case, each.name) for each in fields(case)}
    found["goal"] = case.goal.text
    found["page"] = sorted(case.page)
    found["facts"] = sorted(case.facts, key=repr)
    found["arguments"] = [[name, sorted(held, key=repr)] for name, held in case.arguments]
    return found


def case_from_json(data: dict[str, Any]) -> Case:
    """Return the case that `case_to_json` was given."""
    return Case(
        **{
            **data,
            "goal": read_goal(data["goal"]),
            "past": tuple(data["past"]),
            "page": frozenset(data["page"]),
            "facts": frozenset(map(_tupled, data["facts"])),
            "arguments": tuple(
                (name, frozenset(map(_tupled, held))) for name, held in data["arguments"]
            ),
        }
    )


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value
