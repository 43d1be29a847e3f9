"""Substitutes: descriptors that find an element by another name than the demonstrated one.

What the goal names may be in view already, and then needs no step that brings it there; or it may
not be in view where it was demonstrated to be, and then something that opens more is tried first.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from webagent.memory.cases import Case, facts_of, translate
from webagent.memory.elements import find_element, in_goal
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
    return _rewritten(scene, case.role, trusted, changes, _STANDS_IN)


def find_spoken(
    scene: Scene,
    case: Case,
    trusted: Mapping[tuple[Any, ...], float],
    after: Mapping[tuple[str, int], Case],
) -> dict[tuple[Any, ...], float]:
    """Return the descriptors, beside something else, with a name that this goal speaks of in the
    place of one that the demonstrated goal speaks of and this one does not: `trash` for `star`. The
    name may be that of the next step, if what this goal speaks of is in view already."""
    then = after.get((case.episode, case.step + 1), case)
    shown = case if _is_spoken_of(case) else then
    if not _is_spoken_of(shown) or shown.role != case.role:
        return {}
    goal = scene.goal.text.lower()
    held = trusted if shown is case else descriptors_of_element(shown)
    if shown is not case and any(d[0] == "name" and d[2][0] == SLOT for d in held):
        return {}
    names = {d[2] for d in held if d[0] == "name" and d[2][0] == "="}
    unsaid = {name for name in names if not is_within(name[1].lower(), goal)}
    said = {clean(scene.page.nodes[i].name) for i in in_goal(scene, case.role) if unsaid}
    if len(said) != 1:  # which of several is meant, no single goal says
        return {}
    if shown is not case:
        rows = {d[:4]: trust for d, trust in trusted.items() if d[0] == "row" and d[1][0] == SLOT}
        return {(*row, *map(str.lower, said), 0): _SPOKEN * trust for row, trust in rows.items()}
    changes = [(name, ("=", other)) for name in unsaid for other in said]
    beside = {d: trust for d, trust in trusted.items() if d[0] in ("each", "row")}
    return _rewritten(scene, case.role, beside, changes, _SPOKEN)


def _is_spoken_of(case: Case) -> bool:
    """Whether the name of the element that a case was done to stands in its goal."""
    return any(d[0] == "goal" for d in descriptors_of_element(case))


def find_openers(
    scene: Scene,
    case: Case,
    trusted: Mapping[tuple[Any, ...], float],
    lacking: Collection[Any],
) -> dict[tuple[Any, ...], float]:
    """Return the descriptors with what opens more in the place of the goal's value that named their
    element, and what is closed, where the value names nothing here, and no case tells what to do
    then: `lacking` are the values that named nothing in one of them."""
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
    opening = _rewritten(scene, case.role, trusted, changes, _OPENS_IT)
    gone = lost_names(scene, trusted) & held - set(lacking)
    return opening | ({("closed", 0): _OPENS_IT} if gone else {})


def lost_names(scene: Scene, descriptors: Iterable[tuple[Any, ...]]) -> set[Any]:
    """Return the values of the goal that are the name of what descriptors find, where none of them
    names anything here."""
    named = [d[1:3] for d in descriptors if d[0] == "name" and d[2][0] == SLOT]
    lost = all(find_element(scene, ("name", *each, 0)) is None for each in named)
    return {slot for _, slot in named} if lost else set()


def _targets(descriptors: Iterable[tuple[Any, ...]]) -> set[Any]:
    """Return the values of the goal that name, or begin the name of, what descriptors find."""
    found = {d[2] for d in descriptors if d[0] in ("name", "part", "like") and d[2][0] == SLOT}
    return found | {d[3] for d in descriptors if d[0] == "each" and d[3][0] == SLOT}


def _rewritten(
    scene: Scene,
    role: str,
    trusted: Mapping[tuple[Any, ...], float],
    changes: Sequence[tuple[Any, Any]],
    worth: float,
) -> dict[tuple[Any, ...], float]:
    """Return the descriptors that a change of their element's name makes other ones, which find an
    element of that name, each with so much of its trust."""
    found: dict[tuple[Any, ...], float] = {}
    for old, new in changes:
        was, now = (scene.value(each) or "" for each in (old, new))
        several = len(scene.page.by_name.get((role, now.lower()), ())) > 1
        for descriptor, trust in trusted.items():
            if several and descriptor[0] == "name":  # which of them is meant, the name does not say
                continue
            changed = _replaced(descriptor, old, new)
            if descriptor[0] in ("row", "after", "before") and descriptor[4] == was.lower():
                changed = (*changed[:4], now.lower(), *changed[5:])
            node = scene.page.observation.node(find_element(scene, changed) or 0)
            if changed != descriptor and node and clean(node.name).lower() == now.lower():
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
