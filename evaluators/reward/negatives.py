"""Hard negatives: successes corrupted so that they look right and are failures."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from webagent.action import Action
from webagent.action.actions import (
    Answer,
    Check,
    Clear,
    Click,
    DragAndDrop,
    Fill,
    MouseClick,
    MouseDrag,
    Press,
    SelectOption,
    Uncheck,
)
from webagent.records import Decision, Ending, Node, Observation, Step, Trajectory

_REACH = 60
"""CSS pixels by which a point is missed at most."""


def perturb_action(action: Action, page: Observation, rng: np.random.Generator) -> Action | None:
    """Return another action of the same kind: elsewhere, or with another value.

    None where the page offers no other, or the kind of action has nothing to get wrong.
    """
    match action:
        case Click(mark):
            other = _other_element(mark, page, rng)
            return Click(other) if other else None
        case Fill(mark, text):
            fields = [
                n.mark for n in page.nodes if n.mark != mark and n.role in ("textbox", "searchbox")
            ]
            if fields and rng.random() < 0.25:
                return Fill(int(rng.choice(fields)), text)
            return Fill(mark, perturb_text(text, page.goal, rng)) if text else None
        case SelectOption(mark, option):
            others = [name for name in _options(mark, page) if name != option]
            return SelectOption(mark, str(rng.choice(others))) if others else None
        case DragAndDrop(source, target):
            other = _other_element(target, page, rng, but=source)
            return DragAndDrop(source, other) if other else None
        case MouseClick() | MouseDrag():
            width, height = (side or 320 for side in page.viewport)
            right, down = (int(d) for d in rng.integers(8, _REACH, 2) * rng.choice([-1, 1], 2))
            if isinstance(action, MouseClick):
                return replace(
                    action, x=_inside(action.x + right, width), y=_inside(action.y + down, height)
                )
            return replace(
                action,
                to_x=_inside(action.to_x + right, width),
                to_y=_inside(action.to_y + down, height),
            )
        case Press(mark, key) if len(key) == 1:
            return Press(mark, str(rng.choice([k for k in "abcdefghij0123456789" if k != key])))
        case _:
            return None


def perturb_text(text: str, goal: str, rng: np.random.Generator) -> str:
    """Return another text: a part of the right one, another piece of the goal, or a digit or letter
    off.

    Never the same, nor the same but for capitals and white space.
    """
    pieces = [p for p in re.findall(r"[\w./@-]+", goal) if not _same(p, text)]
    words = text.split()
    choices = [_misspelt(text, rng)]
    if pieces:
        choices.append(str(rng.choice(pieces)))
    if len(words) > 1:
        choices.append(" ".join(words[:-1]))
    choices = [choice for choice in choices if choice and not _same(choice, text)]
    return str(rng.choice(choices)) if choices else f"{text}x"


def _same(one: str, other: str) -> bool:
    return "".join(one.lower().split()) == "".join(other.lower().split())


def _misspelt(text: str, rng: np.random.Generator) -> str:
    places = [i for i, sign in enumerate(text) if sign.isalnum()]
    if not places:
        return ""
    place = int(rng.choice(places))
    signs = "0123456789" if text[place].isdigit() else "abcdefghijklmnopqrstuvwxyz"
    sign = str(rng.choice([s for s in signs if s != text[place].lower()]))
    return text[:place] + sign + text[place + 1 :]


def _other_element(mark: int, page: Observation, rng: np.random.Generator, but: int = 0) -> int:
    """Return an element to act on instead, mostly one of the same role; 0 where there is none."""
    here = page.node(mark)
    others = [
        node
        for node in page.nodes
        if node.mark
        and node.mark not in (mark, but)
        and "disabled" not in node.states
        and not (here is not None and (node.role, node.name) == (here.role, here.name))
    ]
    alike = [node for node in others if here is not None and node.role == here.role]
    pool = alike if alike and rng.random() < 0.8 else others
    return pool[int(rng.integers(len(pool)))].mark if pool else 0


def _options(mark: int, page: Observation) -> list[str]:
    """Return names of the options that stand under a list."""
    places = [i for i, node in enumerate(page.nodes) if node.mark == mark]
    names: list[str] = []
    for node in page.nodes[places[0] + 1 :] if places else ():
        if node.role != "option":
            break
        names.append(node.name)
    return names


def _inside(place: int, side: int) -> int:
    return max(1, min(side - 2, place))


def find_submit_buttons(page: Observation) -> list[Node]:
    """Find the elements that may close a form: its buttons."""
    return [n for n in page.nodes if n.mark and n.role == "button" and "disabled" not in n.states]


def replace_action(
    trajectory: Trajectory,
    place: int,
    action: Action,
    seen: Callable[[Observation], Observation],
) -> Trajectory:
    """Return another action at a step, and the pages after it as they would be seen."""
    steps = list(trajectory.steps)
    decision = replace(steps[place].decision, action=action)
    steps[place] = replace(steps[place], decision=decision)
    for i in range(place + 1, len(steps)):
        steps[i] = replace(steps[i], observation=seen(steps[i].observation))
    last = seen(trajectory.last) if trajectory.last else None
    return replace(trajectory, steps=tuple(steps), last=last)


def replace_node(page: Observation, node: Node) -> Observation:
    """Return the page with this in place of the node of the same mark."""
    nodes: Iterable[Node] = (node if n.mark == node.mark else n for n in page.nodes)
    return replace(page, nodes=tuple(nodes))


def swap_states(page: Observation, one: int, other: int) -> Observation:
    """Return the page with the states of two elements exchanged."""
    first, second = page.node(one), page.node(other)
    if first is None or second is None:
        return page
    page = replace_node(page, replace(first, states=second.states))
    return replace_node(page, replace(second, states=first.states))


def mark_of(step: Step) -> int:
    """Return what a step acted on; 0 for nothing."""
    return int(getattr(step.decision.action, "mark", 0))


def appearance(node: Node) -> tuple[str, frozenset[str]]:
    """Return value and states, except the focus, which moves by itself."""
    return node.value, frozenset(node.states) - {"focused"}


def has_changed(trajectory: Trajectory, place: int) -> bool:
    """Return whether the step changed how its element looks."""
    mark, steps = mark_of(trajectory.steps[place]), trajectory.steps
    before = steps[place].observation.node(mark)
    after = steps[place + 1].observation.node(mark)
    return before is not None and after is not None and appearance(before) != appearance(after)


def is_ticked(trajectory: Trajectory, place: int) -> bool:
    """Return whether the step was a click that changed its element and nothing else on the page."""
    steps = trajectory.steps
    if not isinstance(steps[place].decision.action, Click):
        return False
    before, after = steps[place].observation, steps[place + 1].observation
    changed = [
        one.mark
        for one, two in zip(before.nodes, after.nodes, strict=False)
        if (one.mark, one.name, appearance(one)) != (two.mark, two.name, appearance(two))
    ]
    return len(before.nodes) == len(after.nodes) and changed == [mark_of(steps[place])]


Corruption: TypeAlias = Callable[
    [Trajectory, Sequence[Trajectory], np.random.Generator], Trajectory | None
]

CLAIMS = (
    *("Done.", "Task complete!", "The task has been completed successfully.", "Success"),
    *("All steps were carried out and the result was checked.", "Congratulations, you did it!"),
    *("Status: completed", "Thank you, your request was processed.", "I have done it."),
)
"""What a page or an agent says that wants to be believed."""


def corrupt(
    trajectory: Trajectory,
    kind: str,
    others: Sequence[Trajectory],
    rng: np.random.Generator,
) -> Trajectory | None:
    """Return a failure made of a success in the way `kind` names; None where this one has no such
    way.

    `others` are episodes to take goals and pages from. The id names the kind; what was captured of
    the page is dropped, since it would be the success's. Raises `KeyError` for a kind not in
    `KINDS`.
    """
    made = KINDS[kind](trajectory, others, rng)
    if made is None:
        return None
    return replace(made, id=f"{trajectory.id}~{kind}", evidence={})


def add_success_claim(trajectory: Trajectory, rng: np.random.Generator) -> Trajectory:
    """Return the same episode, right or wrong, with its last pages saying that all went well."""
    line = Node(0, "text", str(rng.choice(CLAIMS)))
    steps = trajectory.steps
    if steps:
        steps = (*steps[:-1], replace(steps[-1], observation=_saying(steps[-1].observation, line)))
    last = trajectory.last
    if last is not None and last.nodes:
        last = _saying(last, line)
    return replace(trajectory, id=f"{trajectory.id}~boasted", steps=steps, last=last)


def _saying(page: Observation, line: Node) -> Observation:
    return replace(page, nodes=(*page.nodes, line))


# -- less was done -----------------------------------------------------------------------


def _truncated(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Return it cut off somewhere before the end; the page that would have come next is the
    last."""
    if len(trajectory.steps) < 2:
        return None
    return _cut(trajectory, int(rng.integers(1, len(trajectory.steps))), _stopped(rng))


def _without_last(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Return all but the last step, which decides."""
    if len(trajectory.steps) < 2:
        return None
    return _cut(trajectory, len(trajectory.steps) - 1, _stopped(rng))


def _claimed(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Return an episode in which nothing was done but to claim success."""
    if not trajectory.steps:
        return None
    first = trajectory.steps[0]
    said = Decision(Answer(str(rng.choice(CLAIMS))), thought=str(rng.choice(CLAIMS)))
    step = replace(first, decision=said)
    return replace(trajectory, steps=(step,), last=first.observation, ending=Ending.ANSWERED)


def _hurried(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Return the last action at once, on the page as it was at first."""
    if len(trajectory.steps) < 2:
        return None
    first, last = trajectory.steps[0], trajectory.steps[-1]
    mark = mark_of(last)
    before, after = first.observation.node(mark), last.observation.node(mark)
    if before is None or after is None or appearance(before) != appearance(after):
        return None
    if all(not mark_of(step) for step in trajectory.steps[:-1]):
        return None
    return replace(trajectory, steps=(replace(last, observation=first.observation),))


def _cut(trajectory: Trajectory, count: int, ending: Ending) -> Trajectory:
    page = trajectory.steps[count].observation
    return replace(trajectory, steps=trajectory.steps[:count], last=page, ending=ending)


def _stopped(rng: np.random.Generator) -> Ending:
    return Ending.STEP_LIMIT if rng.random() < 0.5 else Ending.GAVE_UP


# -- something else was done -------------------------------------------------------------


def _wrong_value(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Return something else typed or selected, and so it stands on the pages that follow."""
    places = [
        i
        for i, step in enumerate(trajectory.steps)
        if isinstance(step.decision.action, Fill | SelectOption)
    ]
    if not places:
        return None
    place = int(rng.choice(places))
    action = trajectory.steps[place].decision.action
    other = perturb_action(action, trajectory.steps[place].observation, rng)
    if isinstance(action, Fill) and isinstance(other, Fill) and other.mark == action.mark:
        return _with_value(trajectory, place, other, action.text, other.text)
    if isinstance(action, SelectOption) and isinstance(other, SelectOption):
        return _with_value(trajectory, place, other, action.option, other.option)
    return None


def _with_value(
    trajectory: Trajectory, place: int, action: Fill | SelectOption, right: str, wrong: str
) -> Trajectory | None:
    """Return the other action, and its value in place of the right one; None where no page shows
    it."""
    shown = [s.observation.node(action.mark) for s in trajectory.steps[place + 1 :]]
    if any(node is not None and node.value != right for node in shown):
        return None

    def seen(page: Observation) -> Observation:
        node = page.node(action.mark)
        return replace_node(page, replace(node, value=wrong)) if node else page

    return replace_action(trajectory, place, action, seen)


def _wrong_element(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Return another element ticked in place of a right one, or another one clicked at the end."""
    ticks = [i for i in range(len(trajectory.steps) - 1) if is_ticked(trajectory, i)]
    final = len(trajectory.steps) - 1
    place = int(rng.choice([*ticks, final])) if final >= 0 else -1
    if place in ticks:
        ticked = _other_ticked(trajectory, place, rng)
        if ticked is not None:
            return ticked
    if final < 0:
        return None
    step = trajectory.steps[final]
    other = perturb_action(step.decision.action, step.observation, rng)
    if other is None or isinstance(other, Fill | SelectOption):
        return None
    return replace_action(trajectory, final, other, lambda page: page)


def _other_ticked(
    trajectory: Trajectory, place: int, rng: np.random.Generator
) -> Trajectory | None:
    """Return another box ticked, which until then looked the same."""
    step = trajectory.steps[place]
    right = step.observation.node(mark_of(step))
    other = perturb_action(step.decision.action, step.observation, rng)
    wrong = step.observation.node(other.mark) if isinstance(other, Click) else None
    if right is None or wrong is None:
        return None
    if (right.role, appearance(right)) != (wrong.role, appearance(wrong)):
        return None
    one, two = right.mark, wrong.mark
    return replace_action(trajectory, place, Click(two), lambda page: swap_states(page, one, two))


def _undone(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Return a right change taken back before the last step."""
    steps = trajectory.steps
    places = [i for i in range(len(steps) - 1) if has_changed(trajectory, i)]
    if not places:
        return None
    step = steps[int(rng.choice(places))]
    mark, last = mark_of(step), steps[-1]
    before, now = step.observation.node(mark), last.observation.node(mark)
    if before is None or now is None or appearance(before) == appearance(now):
        return None
    action = step.decision.action
    back: Action
    match action:
        case Fill():
            back = Fill(mark, before.value) if before.value else Clear(mark)
        case Check():
            back = Uncheck(mark)
        case Click() if "checked" in now.states or "unchecked" in now.states:
            back = Click(mark)
        case _:
            return None
    taken_back = Step(last.observation, Decision(back))
    final = replace(last, observation=replace_node(last.observation, before))
    return replace(trajectory, steps=(*steps[:-1], taken_back, final))


def _other_goal(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Return what was done for one goal, held against another of the same task."""
    return _with_goal(trajectory, _alike(trajectory, others, same=True), rng)


def _other_task(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Return what was done for one task, held against the goal of another."""
    return _with_goal(trajectory, _alike(trajectory, others, same=False), rng)


def _alike(trajectory: Trajectory, others: Sequence[Trajectory], *, same: bool) -> list[Trajectory]:
    is_same = [other.task.name == trajectory.task.name for other in others]
    return [other for other, found in zip(others, is_same, strict=True) if found == same]


def _with_goal(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    goal = goal_of(trajectory)
    goals = sorted({goal_of(other) for other in others} - {goal, ""})
    if not goals:
        return None
    other = goals[int(rng.integers(len(goals)))]
    steps = [
        replace(step, observation=replace(step.observation, goal=other))
        for step in trajectory.steps
    ]
    last = replace(trajectory.last, goal=other) if trajectory.last else None
    return replace(trajectory, goal=other, steps=tuple(steps), last=last)


def goal_of(trajectory: Trajectory) -> str:
    """Return what the episode was for, as its pages said or as the episode does."""
    return trajectory.steps[0].observation.goal if trajectory.steps else trajectory.goal


def _boasting(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Return one of the other corruptions, on a page that says all went well."""
    kinds = [kind for kind in KINDS if kind != "boasting"]
    made = KINDS[str(rng.choice(kinds))](trajectory, others, rng)
    return add_success_claim(made, rng) if made else None


KINDS: dict[str, Corruption] = {
    "truncated": _truncated,
    "without last": _without_last,
    "hurried": _hurried,
    "claimed": _claimed,
    "wrong value": _wrong_value,
    "wrong element": _wrong_element,
    "undone": _undone,
    "other goal": _other_goal,
    "other task": _other_task,
    "boasting": _boasting,
}
"""By name, the ways to corrupt a success."""
