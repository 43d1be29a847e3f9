"""The seam for what a policy is told that it has not seen in this episode."""

from typing import Protocol

from tasks.task import Task
from webagent.models.prompt import Prompt
from webagent.records import Observation


class Knowledge(Protocol):
    """Anything brought to an episode from finished ones: demonstrations, hints, reflections.

    It is asked with the first page of the episode at every turn and answers the same each time,
    so that prompts of one episode begin alike.
    """

    @property
    def prompt(self) -> Prompt:
        """The words around what is known; its hash is stored with the decisions."""
        ...

    def recall(self, task: Task, goal: str, first: Observation) -> str:
        """What helps with the task, as text for the prompt; empty for nothing."""
        ...
