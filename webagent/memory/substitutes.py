"""Substitutes: descriptors that find an element by another name than the demonstrated one.

What the goal names may be in view already, and then needs no step that brings it there; or it may
not be in view where it was demonstrated to be, and then something that opens more is tried first.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from webagent.memory.cases import Case, facts_of, translate
from webagent.memory.elements import in_goal
from webagent.memory.goals import clean
from webagent.memory.pages import is_within
from webagent.memory.scene import MARKS, SLOT, Scene

_STANDS_IN = 0.9
"""Share of a case's support that goes to the goal's value in the place of a constant: with its
target in view there is no need for what brought it into view."""
_SPOKEN = 3.0
"""By how much a constant of another goal is trusted more, said of the word of this one."""
_OPENS_IT = 0.5
"""Share of a case's support that goes to what opens more where the goal's value is not in view."""
_OPENS = re.compile(
    r"(show |view |see |open )?(more|menu|options|actions|details|expand)( \w+)?|\.\.\.|…|⋮|⋯|☰",
    re.IGNORECASE,
)
"""Names of what opens more: of menus behind a button, and of parts that are folded away."""


def find_shortcuts(
    scene: Scene,
    case: Case,
    trusted: Mapping[tuple[Any, ...], float],
    after: Mapping[tuple[str, int], Case],
) -> dict[tuple[Any, ...], float]:
    """Return the descriptors with a value of the goal in the place of their element's constant
    name, where the value names an element here, and the step that followed was done to what it
    names."""
    then = after.get((case.episode, case.step + 1))
    if then is None or then.role != case.role:
        return {}
    targets = _targets(translate(descriptors_of_element(then), then.goal, scene.goal))
    before = translate(case.facts, case.goal, scene.goal)
    slots = [fact[1] for fact in before if fact[0] == "no" and fact[1] in targets]
    slots = [slot for slot in slots if ("element", slot) in facts_of(scene)]
    names = {d[2] for d in trusted if d[0] == "name" and d[2][0] == "="} if slots else set()
    changes = [(name, slot) for name in names for slot in slots]
    return _rewritten(scene, trusted, changes, _STANDS_IN)


def find_spoken(
    scene: Scene, case: Case, trusted: Mapping[tuple[Any, ...], float]
) -> dict[tuple[Any, ...], float]:
    """Return the descriptors, beside something else, with a name that this goal speaks of in the
    place of one that the demonstrated goal speaks of and this one does not: `trash` for `star`."""
    if not any(d[0] == "goal" for d in descriptors_of_element(case)):
        return {}
    goal = scene.goal.text.lower()
    names = {d[2] for d in trusted if d[0] == "name" and d[2][0] == "="}
    unsaid = {name for name in names if not is_within(name[1].lower(), goal)}
    said = {clean(scene.page.nodes[i].name) for i in in_goal(scene, case.role) if unsaid}
    if len(said) != 1:  # which of several is meant, no single goal says
        return {}
    changes = [(name, ("=", other)) for name in unsaid for other in said]
    beside = {d: trust for d, trust in trusted.items() if d[0] in ("each", "row")}
    return _rewritten(scene, beside, changes, _SPOKEN)


def find_openers(
    scene: Scene,
    case: Case,
    trusted: Mapping[tuple[Any, ...], float],
    lacking: Collection[Any],
) -> dict[tuple[Any, ...], float]:
    """Return the descriptors with what opens more in the place of the goal's value that named their
    element, where the value names nothing here, and no case tells what to do then: `lacking` are
    the values that named nothing in one of them."""
    targets = _targets(trusted)
    held = {
        fact[1] for fact in translate(case.facts, case.goal, scene.goal) if fact[0] == "element"
    }
    slots = {slot for slot in targets & held if ("no", slot) in facts_of(scene)} - set(lacking)
    names = {
        clean(node.name)
        for node in scene.page.nodes
        if slots and node.mark and node.role == case.role and _OPENS.fullmatch(clean(node.name))
    }
    changes = [(slot, ("=", name)) for slot in slots for name in names]
    return _rewritten(scene, trusted, changes, _OPENS_IT)


def _targets(descriptors: Iterable[tuple[Any, ...]]) -> set[Any]:
    """Return the values of the goal that name, or begin the name of, what descriptors find."""
    found = {d[2] for d in descriptors if d[0] in ("name", "part", "like") and d[2][0] == SLOT}
    return found | {d[3] for d in descriptors if d[0] == "each" and d[3][0] == SLOT}


def _rewritten(
    scene: Scene,
    trusted: Mapping[tuple[Any, ...], float],
    changes: Sequence[tuple[Any, Any]],
    worth: float,
) -> dict[tuple[Any, ...], float]:
    """Return the descriptors that a change of their element's name makes other ones, each with so
    much of its trust."""
    found: dict[tuple[Any, ...], float] = {}
    for old, new in changes:
        was, now = (scene.value(each) or "" for each in (old, new))
        for descriptor, trust in trusted.items():
            changed = _replaced(descriptor, old, new)
            if descriptor[0] in ("row", "after", "before") and descriptor[4] == was.lower():
                changed = (*changed[:4], now.lower(), *changed[5:])
            if changed != descriptor:
                found[changed] = trust * worth
    return found


def _replaced(value: Any, old: Any, new: Any) -> Any:
    if value == old or (
        isinstance(value, tuple)
        and value[:1] == ("=",)
        and str(value[1:]).lower() == str(old[1:]).lower()
    ):
        return new
    return tuple(_replaced(part, old, new) for part in value) if isinstance(value, tuple) else value


def descriptors_of_element(case: Case) -> frozenset[tuple[Any, ...]]:
    """Return the descriptors of the element that a case was done to."""
    return next((found for name, found in case.arguments if name in MARKS), frozenset())
