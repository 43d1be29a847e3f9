"""What is told of a task while it is done."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from webagent.records import Decision, Observation


@dataclass(frozen=True, slots=True)
class Began:
    """The first page is there."""

    seen: Observation


@dataclass(frozen=True, slots=True)
class Decided:
    """The next action is known, and about to be done."""

    number: int
    """Of the step, from 1."""
    seen: Observation
    """What it was decided on."""
    decision: Decision


@dataclass(frozen=True, slots=True)
class Done:
    """The action was done, or could not be: `seen.outcome` says."""

    number: int
    seen: Observation
    """The page that came of it."""
    seconds: float


Event: TypeAlias = Began | Decided | Done
Listen: TypeAlias = Callable[[Event], object]
"""Called in the event loop; it must not block."""
