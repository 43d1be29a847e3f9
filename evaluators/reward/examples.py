"""Examples that judges learn from: episodes with verdicts, successes corrupted into failures."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import NamedTuple

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
            roles = ("textbox", "searchbox")
            fields = [n.mark for n in page.nodes if n.mark != mark and n.role in roles]
            if fields and rng.random() < 0.25:
                return Fill(int(rng.choice(fields)), text)
            return Fill(mark, perturb_text(text, page.goal, rng)) if text else None
        case SelectOption(mark, option):
            place = next((i for i, node in enumerate(page.nodes, 1) if node.mark == mark), None)
            listed = takewhile(lambda n: n.role == "option", page.nodes[place:] if place else ())
            others = [node.name for node in listed if node.name != option]
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
    """Return another text: a part of the right one, a piece of the goal, or a sign off.

    Never the same, nor the same but for capitals and white space.
    """
    pieces = [p for p in re.findall(r"[\w./@-]+", goal) if not _same(p, text)]
    words = text.split()
    choices = []
    places = [i for i, sign in enumerate(text) if sign.isalnum()]
    if places:
        place = int(rng.choice(places))
        signs = "0123456789" if text[place].isdigit() else "abcdefghijklmnopqrstuvwxyz"
        sign = str(rng.choice([s for s in signs if s != text[place].lower()]))
        choices.append(text[:place] + sign + text[place + 1 :])
    if pieces:
        choices.append(str(rng.choice(pieces)))
    if len(words) > 1:
        choices.append(" ".join(words[:-1]))
    choices = [choice for choice in choices if choice and not _same(choice, text)]
    return str(rng.choice(choices)) if choices else f"{text}x"


def _same(one: str, other: str) -> bool:
    return "".join(one.lower().split()) == "".join(other.lower().split())


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


def _inside(place: int, side: int) -> int:
    return max(1, min(side - 2, place))


def _replace_action(
    trajectory: Trajectory,
    place: int,
    action: Action,
    change: Callable[[Observation], Observation],
) -> Trajectory:
    """Return another action at a step, and the pages after it as they would be seen."""
    steps = list(trajectory.steps)
    decision = replace(steps[place].decision, action=action)
    steps[place] = replace(steps[place], decision=decision)
    for i in range(place + 1, len(steps)):
        steps[i] = replace(steps[i], observation=change(steps[i].observation))
    last = change(trajectory.last) if trajectory.last else None
    return replace(trajectory, steps=tuple(steps), last=last)


def _replace_node(page: Observation, node: Node) -> Observation:
    """Return the page with this in place of the node of the same mark."""
    nodes = tuple(node if n.mark == node.mark else n for n in page.nodes)
    return replace(page, nodes=nodes)


def _mark_of(step: Step) -> int:
    """Return what a step acted on; 0 for nothing."""
    return int(getattr(step.decision.action, "mark", 0))


def _appearance(node: Node) -> tuple[str, frozenset[str]]:
    """Return value and states, except the focus, which moves by itself."""
    return node.value, frozenset(node.states) - {"focused"}


def _is_ticked(trajectory: Trajectory, place: int) -> bool:
    """Return whether the step was a click that changed its element and nothing else on the page."""
    steps = trajectory.steps
    if not isinstance(steps[place].decision.action, Click):
        return False
    before, after = steps[place].observation, steps[place + 1].observation
    changed = [
        one.mark
        for one, two in zip(before.nodes, after.nodes, strict=False)
        if (one.mark, one.name, _appearance(one)) != (two.mark, two.name, _appearance(two))
    ]
    return len(before.nodes) == len(after.nodes) and changed == [_mark_of(steps[place])]


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
    """Return a failure made of a success in the way `kind` names; None where it has no such way.

    `others` are episodes to take goals from. The id names the kind; what was captured of the page
    is dropped, since it would be the success's. Raises `KeyError` for a kind not in `KINDS`.
    """
    made = _corrupt(trajectory, kind, others, rng)
    if made is None:
        return None
    return replace(made, id=f"{trajectory.id}~{kind}", evidence={})


def _corrupt(
    trajectory: Trajectory, kind: str, others: Sequence[Trajectory], rng: np.random.Generator
) -> Trajectory | None:
    if kind in ("other goal", "other task"):
        # What was done for one goal, held against another of the same task or of another task.
        wanted = kind == "other goal"
        task = trajectory.task.name
        alike = {_goal_of(o) for o in others if (o.task.name == task) is wanted}
        goals = sorted(alike - {_goal_of(trajectory), ""})
        if not goals:
            return None
        goal = goals[int(rng.integers(len(goals)))]
        steps = (
            replace(s, observation=replace(s.observation, goal=goal)) for s in trajectory.steps
        )
        last = replace(trajectory.last, goal=goal) if trajectory.last else None
        return replace(trajectory, goal=goal, steps=tuple(steps), last=last)
    if kind == "boasting":
        # One of the other corruptions, on a page that says all went well.
        other = str(rng.choice([each for each in KINDS if each != "boasting"]))
        made = _corrupt(trajectory, other, others, rng)
        return add_success_claim(made, rng) if made else None
    return _CORRUPTIONS[kind](trajectory, rng)


def add_success_claim(trajectory: Trajectory, rng: np.random.Generator) -> Trajectory:
    """Return the same episode, right or wrong, with its last pages saying that all went well."""
    line = Node(0, "text", str(rng.choice(CLAIMS)))

    def add_line(page: Observation) -> Observation:
        return replace(page, nodes=(*page.nodes, line))

    steps, last = trajectory.steps, trajectory.last
    if steps:
        steps = (*steps[:-1], replace(steps[-1], observation=add_line(steps[-1].observation)))
    if last is not None and last.nodes:
        last = add_line(last)
    return replace(trajectory, id=f"{trajectory.id}~boasted", steps=steps, last=last)


# -- less was done -----------------------------------------------------------------------


def _truncated(trajectory: Trajectory, rng: np.random.Generator) -> Trajectory | None:
    """Cut the episode somewhere before the end; the page that would have come next is the last."""
    if len(trajectory.steps) < 2:
        return None
    return _cut(trajectory, int(rng.integers(1, len(trajectory.steps))), rng)


def _without_last(trajectory: Trajectory, rng: np.random.Generator) -> Trajectory | None:
    """Leave out the last step, which decides."""
    return _cut(trajectory, len(trajectory.steps) - 1, rng) if len(trajectory.steps) > 1 else None


def _cut(trajectory: Trajectory, count: int, rng: np.random.Generator) -> Trajectory:
    page = trajectory.steps[count].observation
    ending = Ending.STEP_LIMIT if rng.random() < 0.5 else Ending.GAVE_UP
    return replace(trajectory, steps=trajectory.steps[:count], last=page, ending=ending)


def _claimed(trajectory: Trajectory, rng: np.random.Generator) -> Trajectory | None:
    """Do nothing but claim success."""
    if not trajectory.steps:
        return None
    first = trajectory.steps[0]
    claim = Decision(Answer(str(rng.choice(CLAIMS))), thought=str(rng.choice(CLAIMS)))
    step = replace(first, decision=claim)
    return replace(trajectory, steps=(step,), last=first.observation, ending=Ending.ANSWERED)


def _hurried(trajectory: Trajectory, rng: np.random.Generator) -> Trajectory | None:
    """Do the last action at once, on the page as it was at first."""
    if len(trajectory.steps) < 2:
        return None
    first, last = trajectory.steps[0], trajectory.steps[-1]
    mark = _mark_of(last)
    before, after = first.observation.node(mark), last.observation.node(mark)
    if before is None or after is None or _appearance(before) != _appearance(after):
        return None
    if all(not _mark_of(step) for step in trajectory.steps[:-1]):
        return None
    return replace(trajectory, steps=(replace(last, observation=first.observation),))


# -- something else was done -------------------------------------------------------------


def _wrong_value(trajectory: Trajectory, rng: np.random.Generator) -> Trajectory | None:
    """Type or select something else, which then stands on the pages that follow.

    None where a page that follows does not show the right value.
    """
    actions = [step.decision.action for step in trajectory.steps]
    places = [i for i, each in enumerate(actions) if isinstance(each, Fill | SelectOption)]
    if not places:
        return None
    place = int(rng.choice(places))
    action = actions[place]
    other = perturb_action(action, trajectory.steps[place].observation, rng)
    match action, other:
        case Fill(mark, right), Fill(other_mark, wrong) if mark == other_mark:
            pass
        case SelectOption(mark, right), SelectOption(_, wrong):
            pass
        case _:
            return None
    shown = [step.observation.node(mark) for step in trajectory.steps[place + 1 :]]
    if any(node is not None and node.value != right for node in shown):
        return None

    def show_wrong(page: Observation) -> Observation:
        node = page.node(mark)
        return _replace_node(page, replace(node, value=wrong)) if node else page

    return _replace_action(trajectory, place, other, show_wrong)


def _wrong_element(trajectory: Trajectory, rng: np.random.Generator) -> Trajectory | None:
    """Tick another element in place of a right one, or click another one at the end."""
    final = len(trajectory.steps) - 1
    if final < 0:
        return None
    ticks = [i for i in range(final) if _is_ticked(trajectory, i)]
    place = int(rng.choice([*ticks, final]))
    if place in ticks and (ticked := _other_ticked(trajectory, place, rng)) is not None:
        return ticked
    step = trajectory.steps[final]
    other = perturb_action(step.decision.action, step.observation, rng)
    if other is None or isinstance(other, Fill | SelectOption):
        return None
    return _replace_action(trajectory, final, other, lambda page: page)


def _other_ticked(
    trajectory: Trajectory, place: int, rng: np.random.Generator
) -> Trajectory | None:
    """Tick another box, which until then looked the same."""
    step = trajectory.steps[place]
    right = step.observation.node(_mark_of(step))
    other = perturb_action(step.decision.action, step.observation, rng)
    wrong = step.observation.node(other.mark) if isinstance(other, Click) else None
    if right is None or wrong is None:
        return None
    if (right.role, _appearance(right)) != (wrong.role, _appearance(wrong)):
        return None

    def swap_states(page: Observation) -> Observation:
        first, second = page.node(right.mark), page.node(wrong.mark)
        if first is None or second is None:
            return page
        page = _replace_node(page, replace(first, states=second.states))
        return _replace_node(page, replace(second, states=first.states))

    return _replace_action(trajectory, place, Click(wrong.mark), swap_states)


def _undone(trajectory: Trajectory, rng: np.random.Generator) -> Trajectory | None:
    """Take a right change back before the last step."""
    steps = trajectory.steps
    places = []
    for place, (step, following) in enumerate(pairwise(steps)):
        mark = _mark_of(step)
        before, after = step.observation.node(mark), following.observation.node(mark)
        if before and after and _appearance(before) != _appearance(after):
            places.append(place)
    if not places:
        return None
    step = steps[int(rng.choice(places))]
    mark, last = _mark_of(step), steps[-1]
    before, now = step.observation.node(mark), last.observation.node(mark)
    if before is None or now is None or _appearance(before) == _appearance(now):
        return None
    back: Action
    match step.decision.action:
        case Fill():
            back = Fill(mark, before.value) if before.value else Clear(mark)
        case Check():
            back = Uncheck(mark)
        case Click() if "checked" in now.states or "unchecked" in now.states:
            back = Click(mark)
        case _:
            return None
    taken_back = Step(last.observation, Decision(back))
    final = replace(last, observation=_replace_node(last.observation, before))
    return replace(trajectory, steps=(*steps[:-1], taken_back, final))


def _goal_of(trajectory: Trajectory) -> str:
    """Return what the episode was for, as its pages said or as the episode does."""
    return trajectory.steps[0].observation.goal if trajectory.steps else trajectory.goal


_CORRUPTIONS: dict[str, Callable[[Trajectory, np.random.Generator], Trajectory | None]] = {
    "truncated": _truncated,
    "without last": _without_last,
    "hurried": _hurried,
    "claimed": _claimed,
    "wrong value": _wrong_value,
    "wrong element": _wrong_element,
    "undone": _undone,
}
KINDS = (*_CORRUPTIONS, "other goal", "other task", "boasting")
"""The ways to corrupt a success; seeds choose by this order."""


BOASTED = 0.15
"""Share of real episodes shown once more on a page that says all went well, label unchanged."""

NEAR_MISSES = ("hurried", "wrong value", "wrong element", "undone", "other goal")
"""Kinds that look most like successes; drawn first, and found in fewest episodes."""
_NEAR = 4.0


class TrainingExample(NamedTuple):
    """An episode and what is to be said of it."""

    trajectory: Trajectory
    success: bool
    kind: str = ""
    """How it was corrupted; empty for an episode as it was."""


def build_examples(
    trajectories: Iterable[Trajectory],
    success: Mapping[str, float | None],
    negatives: int = 2,
    seed: int = 0,
    kinds: Sequence[str] = tuple(KINDS),
) -> list[TrainingExample]:
    """Return labelled real episodes, and up to `negatives` failures made of each success.

    Episodes without a label, without steps or imagined ones teach nothing. Some are shown once
    more on a boasting page, successes too, so that the boast itself says nothing.
    """
    labelled = [
        (t, label >= 0.5)
        for t in trajectories
        if (label := success.get(t.id)) is not None and t.steps and not t.provenance.imagined
    ]
    others = [t for t, _ in labelled]
    rng = np.random.default_rng(seed)
    alike: defaultdict[str, list[Trajectory]] = defaultdict(list)
    for trajectory, _ in labelled:
        alike[trajectory.task.name].append(trajectory)
    found: list[TrainingExample] = []
    for trajectory, is_good in labelled:
        found.append(TrainingExample(trajectory, is_good))
        if is_good:
            nearby = [*_drawn(others, 8, rng), *_drawn(alike[trajectory.task.name], 4, rng)]
            found.extend(_corrupted(trajectory, nearby, negatives, rng, kinds))
        if rng.random() < BOASTED:
            found.append(TrainingExample(add_success_claim(trajectory, rng), is_good, "boasted"))
    return found


def _corrupted(
    trajectory: Trajectory,
    nearby: Sequence[Trajectory],
    count: int,
    rng: np.random.Generator,
    kinds: Sequence[str],
) -> Iterator[TrainingExample]:
    """Yield at most `count` of the kinds that this success has, in random order."""
    weights = np.array([_NEAR if kind in NEAR_MISSES else 1.0 for kind in kinds])
    for kind in rng.choice(list(kinds), len(kinds), replace=False, p=weights / weights.sum()):
        if not count:
            return
        made = corrupt(trajectory, str(kind), nearby, rng)
        if made is not None:
            count -= 1
            yield TrainingExample(made, False, str(kind))


def _drawn(
    trajectories: Sequence[Trajectory], count: int, rng: np.random.Generator
) -> list[Trajectory]:
    return [trajectories[int(i)] for i in rng.integers(len(trajectories), size=count)]
