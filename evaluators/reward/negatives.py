"""Hard negatives: successes corrupted so that they look right and are not."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from evaluators.reward.retold import (
    has_changed,
    is_ticked,
    looks,
    mark_of,
    redone,
    swapped,
    with_node,
)
from evaluators.reward.slips import slipped
from webagent.action import Action
from webagent.action.actions import Answer, Check, Clear, Click, Fill, SelectOption, Uncheck
from webagent.records import Decision, Ending, Node, Observation, Step, Trajectory

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
    """A failure made of a success in the way `kind` names; None where this one has no such way.

    `others` are episodes to take goals and pages from. The id names the kind; what was captured of
    the page is dropped, since it would be the success's. Raises `KeyError` for a kind not in
    `KINDS`.
    """
    made = KINDS[kind](trajectory, others, rng)
    if made is None:
        return None
    return replace(made, id=f"{trajectory.id}~{kind}", evidence={})


def boasted(trajectory: Trajectory, rng: np.random.Generator) -> Trajectory:
    """The same episode, right or wrong, with its last pages saying that all went well."""
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
    """Cut off somewhere before the end; the page that would have come next is the last."""
    if len(trajectory.steps) < 2:
        return None
    return _cut(trajectory, int(rng.integers(1, len(trajectory.steps))), _stopped(rng))


def _without_last(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """All but the last step, which decides."""
    if len(trajectory.steps) < 2:
        return None
    return _cut(trajectory, len(trajectory.steps) - 1, _stopped(rng))


def _claimed(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Nothing was done but to say so."""
    if not trajectory.steps:
        return None
    first = trajectory.steps[0]
    said = Decision(Answer(str(rng.choice(CLAIMS))), thought=str(rng.choice(CLAIMS)))
    step = replace(first, decision=said)
    return replace(trajectory, steps=(step,), last=first.observation, ending=Ending.ANSWERED)


def _hurried(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """The last action at once, on the page as it was at first."""
    if len(trajectory.steps) < 2:
        return None
    first, last = trajectory.steps[0], trajectory.steps[-1]
    mark = mark_of(last)
    before, after = first.observation.node(mark), last.observation.node(mark)
    if before is None or after is None or looks(before) != looks(after):
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
    """Something else typed or selected, and so it stands on the pages that follow."""
    places = [
        i
        for i, step in enumerate(trajectory.steps)
        if isinstance(step.decision.action, Fill | SelectOption)
    ]
    if not places:
        return None
    place = int(rng.choice(places))
    action = trajectory.steps[place].decision.action
    other = slipped(action, trajectory.steps[place].observation, rng)
    if isinstance(action, Fill) and isinstance(other, Fill) and other.mark == action.mark:
        return _with_value(trajectory, place, other, action.text, other.text)
    if isinstance(action, SelectOption) and isinstance(other, SelectOption):
        return _with_value(trajectory, place, other, action.option, other.option)
    return None


def _with_value(
    trajectory: Trajectory, place: int, action: Fill | SelectOption, right: str, wrong: str
) -> Trajectory | None:
    """The other action, and its value in place of the right one; None where no page shows it."""
    shown = [s.observation.node(action.mark) for s in trajectory.steps[place + 1 :]]
    if any(node is not None and node.value != right for node in shown):
        return None

    def seen(page: Observation) -> Observation:
        node = page.node(action.mark)
        return with_node(page, replace(node, value=wrong)) if node else page

    return redone(trajectory, place, action, seen)


def _wrong_element(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """Another element ticked in place of a right one, or another one clicked at the end."""
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
    other = slipped(step.decision.action, step.observation, rng)
    if other is None or isinstance(other, Fill | SelectOption):
        return None
    return redone(trajectory, final, other, lambda page: page)


def _other_ticked(
    trajectory: Trajectory, place: int, rng: np.random.Generator
) -> Trajectory | None:
    """Another box ticked, which until then looked the same."""
    step = trajectory.steps[place]
    right = step.observation.node(mark_of(step))
    other = slipped(step.decision.action, step.observation, rng)
    wrong = step.observation.node(other.mark) if isinstance(other, Click) else None
    if right is None or wrong is None:
        return None
    if (right.role, looks(right)) != (wrong.role, looks(wrong)):
        return None
    one, two = right.mark, wrong.mark
    return redone(trajectory, place, Click(two), lambda page: swapped(page, one, two))


def _undone(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """A right change taken back before the last step."""
    steps = trajectory.steps
    places = [i for i in range(len(steps) - 1) if has_changed(trajectory, i)]
    if not places:
        return None
    step = steps[int(rng.choice(places))]
    mark, last = mark_of(step), steps[-1]
    before, now = step.observation.node(mark), last.observation.node(mark)
    if before is None or now is None or looks(before) == looks(now):
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
    final = replace(last, observation=with_node(last.observation, before))
    return replace(trajectory, steps=(*steps[:-1], taken_back, final))


def _other_goal(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """What was done for one goal, held against another of the same task."""
    return _with_goal(trajectory, _alike(trajectory, others, same=True), rng)


def _other_task(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """What was done for one task, held against the goal of another."""
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
    """What the episode was for, as its pages said or as the episode does."""
    return trajectory.steps[0].observation.goal if trajectory.steps else trajectory.goal


def _boasting(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    """One of the other corruptions, on a page that says all went well."""
    kinds = [kind for kind in KINDS if kind != "boasting"]
    made = KINDS[str(rng.choice(kinds))](trajectory, others, rng)
    return boasted(made, rng) if made else None


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
