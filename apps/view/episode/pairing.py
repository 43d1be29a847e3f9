"""Two episodes beside each other: which step of one is which of the other."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal, TypeAlias

from webagent.policy.past_actions import MARK_FIELDS, marks_of
from webagent.records import Node, Step, Trajectory

Likeness: TypeAlias = Literal["the same", "different", "only here", "only there"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Indices of two steps that stand beside each other; None where one has none."""

    left: int | None
    right: int | None
    likeness: Likeness


def paired(left: Trajectory, right: Trajectory) -> tuple[Pair, ...]:
    """The steps of both in their order, equal deeds beside each other.

    Deeds are equal when they do the same to an element of the same role and name: marks differ
    from episode to episode. Between equal deeds steps stand beside each other as they come.
    """
    matcher = SequenceMatcher(None, _deeds(left), _deeds(right), autojunk=False)
    return tuple(pair for opcode in matcher.get_opcodes() for pair in _beside(*opcode))


def parting(pairs: tuple[Pair, ...]) -> int | None:
    """Index of the first pair that is not the same; None where all are."""
    return next((i for i, pair in enumerate(pairs) if pair.likeness != "the same"), None)


def _beside(tag: str, i1: int, i2: int, j1: int, j2: int) -> Iterator[Pair]:
    for i, j in zip_longest(range(i1, i2), range(j1, j2)):
        if i is None:
            yield Pair(None, j, "only there")
        elif j is None:
            yield Pair(i, None, "only here")
        else:
            yield Pair(i, j, "the same" if tag == "equal" else "different")


def _deeds(trajectory: Trajectory) -> list[tuple[str, ...]]:
    return [_deed(step) for step in trajectory.steps]


def _deed(step: Step) -> tuple[str, ...]:
    """The action with its elements' roles and names in place of their marks."""
    action = step.decision.action
    nodes = [(mark, step.observation.node(mark)) for mark in marks_of(action)]
    named = [part for mark, node in nodes for part in _called(mark, node)]
    values = [str(getattr(action, f.name)) for f in fields(action) if f.name not in MARK_FIELDS]
    return (type(action).__name__, *named, *values)


def _called(mark: int, node: Node | None) -> tuple[str, str]:
    return (node.role, node.name) if node is not None else ("", str(mark))
