"""One line of a run's table of contents: an episode and how it ended, without its steps."""

from dataclasses import dataclass

from webagent.records import Ending


@dataclass(frozen=True, slots=True)
class Entry:
    """An episode as the store lists it; `Store.load` gives the whole of it."""

    ending: Ending | None
    """None while it is under way."""
    id: str
    arm: str
    repeat: int
    round: int
    phase: str
    index: int
    world: str
    task: str
    """The task's full id."""
    seed: int
    attempt: int
    error: str
    steps: int
    """How many were taken; 0 while it is under way."""
    started: float
    """Seconds since 1970."""
    seconds: float
    goal: str
    """What was asked for, as the episode began."""
