"""The seam between an episode and the place it is played in."""

from collections.abc import Mapping
from typing import Protocol

from tasks.task import Json, Task
from webagent.action import Action
from webagent.records import Observation


class World(Protocol):
    """Anything an episode can be played in: a browser, a recording, a dream."""

    async def reset(self, task: Task) -> Observation:
        """Start the task from a fresh state. Raises `WorldError`."""
        ...

    async def step(self, action: Action) -> Observation:
        """Do the action. What cannot be done is said in `Observation.outcome`.

        Raises `WorldError` when the world broke, `GuardError` when a limit forbids the action.
        """
        ...

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """What the task's checks need, captured before the page closes."""
        ...

    async def close(self) -> None:
        """Give back everything held. Safe to call twice."""
        ...
