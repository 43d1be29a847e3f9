"""Retold episodes: steps done otherwise, and the pages after them as they would be seen."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from webagent.action import Action
from webagent.action.actions import Click
from webagent.records import Node, Observation, Step, Trajectory


def redone(
    trajectory: Trajectory,
    place: int,
    action: Action,
    seen: Callable[[Observation], Observation],
) -> Trajectory:
    """Another action at a step, and the pages after it as they would be seen."""
    steps = list(trajectory.steps)
    decision = replace(steps[place].decision, action=action)
    steps[place] = replace(steps[place], decision=decision)
    for i in range(place + 1, len(steps)):
        steps[i] = replace(steps[i], observation=seen(steps[i].observation))
    last = seen(trajectory.last) if trajectory.last else None
    return replace(trajectory, steps=tuple(steps), last=last)


def with_node(page: Observation, node: Node) -> Observation:
    """The page with this in place of the node of the same mark."""
    nodes: Iterable[Node] = (node if n.mark == node.mark else n for n in page.nodes)
    return replace(page, nodes=tuple(nodes))


def swapped(page: Observation, one: int, other: int) -> Observation:
    """The page with the states of two elements exchanged."""
    first, second = page.node(one), page.node(other)
    if first is None or second is None:
        return page
    page = with_node(page, replace(first, states=second.states))
    return with_node(page, replace(second, states=first.states))


def mark_of(step: Step) -> int:
    """What a step acted on; 0 for nothing."""
    return int(getattr(step.decision.action, "mark", 0))


def looks(node: Node) -> tuple[str, frozenset[str]]:
    """Value and states, but for the focus, which moves by itself."""
    return node.value, frozenset(node.states) - {"focused"}


def has_changed(trajectory: Trajectory, place: int) -> bool:
    """Whether the step changed how its element looks."""
    mark, steps = mark_of(trajectory.steps[place]), trajectory.steps
    before = steps[place].observation.node(mark)
    after = steps[place + 1].observation.node(mark)
    return before is not None and after is not None and looks(before) != looks(after)


def is_ticked(trajectory: Trajectory, place: int) -> bool:
    """Whether the step was a click that changed its element and nothing else on the page."""
    steps = trajectory.steps
    if not isinstance(steps[place].decision.action, Click):
        return False
    before, after = steps[place].observation, steps[place + 1].observation
    changed = [
        one.mark
        for one, two in zip(before.nodes, after.nodes, strict=False)
        if (one.mark, one.name, looks(one)) != (two.mark, two.name, looks(two))
    ]
    return len(before.nodes) == len(after.nodes) and changed == [mark_of(steps[place])]
