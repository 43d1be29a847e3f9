"""Deeds: what was done to a page, told apart from doing it again or undoing it."""

from collections.abc import Sequence
from dataclasses import fields
from typing import TypeAlias

from webagent.action import Action
from webagent.action.actions import Fill
from webagent.models.builtin.vocabulary import op_of
from webagent.records import Observation, Step, Trajectory

Deed: TypeAlias = tuple[str | int, ...]
"""Operation and arguments, with the indices of lines in place of their marks."""


def deed(action: Action, observation: Observation) -> Deed:
    """An action by what it does to which line, so that it is the same on a page drawn anew."""
    lines = {node.mark: i for i, node in enumerate(observation.nodes) if node.mark}
    arguments: list[str | int] = []
    for field in fields(action):
        value = getattr(action, field.name)
        is_mark = field.name in ("mark", "source", "target")
        arguments.append(lines.get(value, -1) if is_mark else value)
    return op_of(action), *arguments


def tried_here(trajectory: Trajectory, observation: Observation) -> frozenset[Deed]:
    """What was already done in this episode on a page that looks the same.

    Pages answer the same action in the same way, so doing it again would lead round in a circle.
    """
    now = looks(observation)
    return frozenset(
        deed(step.decision.action, step.observation)
        for step in trajectory.steps
        if looks(step.observation) == now
    )


def looks(observation: Observation) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """What a reader sees of a page, marks, boxes and focus aside."""
    return [
        (n.role, n.name, n.value, tuple(s for s in n.states if s != "focused"))
        for n in observation.nodes
    ]


def detours(steps: Sequence[Step]) -> frozenset[int]:
    """Indices of steps that led nowhere: the page looked the same again afterwards, or a field
    was filled that was filled anew later on."""
    pages = [looks(step.observation) for step in steps]
    found: set[int] = set()
    for i, page in enumerate(pages):
        again = max((j for j in range(i + 1, len(pages)) if pages[j] == page), default=i)
        found.update(range(i, again))
    last_fill = {
        step.decision.action.mark: i
        for i, step in enumerate(steps)
        if isinstance(step.decision.action, Fill)
    }
    for i, step in enumerate(steps):
        action = step.decision.action
        if isinstance(action, Fill) and last_fill[action.mark] > i:
            found.add(i)
    return frozenset(found)
