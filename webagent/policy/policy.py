"""The interfaces between an episode and its policy, and the policy that plays a script."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from tasks.task import Task
from webagent.action import Action, GiveUp, format_action
from webagent.models.prompt import Prompt
from webagent.models.spending import Ledger
from webagent.policy.past_actions import MARK_FIELDS
from webagent.records import Candidate, Decision, Observation, Trajectory

Script: TypeAlias = Callable[[Trajectory, Observation], Action | None]
"""Returns the next action, or None when the script has ended."""


class Policy(Protocol):
    """Anything that can act: a model, a script, look-ahead around either."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the next action.

        Raises `PolicyError` when there is none, `ModelError` when the model fails.
        """
        ...

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return at most n different actions, best first, each with its log-probability."""
        ...


WrapPolicy: TypeAlias = Callable[[Policy, Ledger], Policy]
"""Wraps the policy of a task, as `LookAhead` does; its model requests are booked in the ledger."""


class Knowledge(Protocol):
    """Knowledge from finished episodes for a new one: demonstrations, hints, reflections.

    It is called with the first page of the episode at every turn and answers the same each time, so
    that prompts of one episode share a prefix.
    """

    @property
    def prompt(self) -> Prompt:
        """The text around the knowledge; its hash is stored with the decisions."""
        ...

    def recall(self, task: Task, goal: str, first: Observation) -> str:
        """Return what helps with the task, as text for the prompt; empty for nothing."""
        ...


@dataclass(frozen=True, slots=True)
class ScriptedPolicy:
    """Plays a script, and gives up where it ends before the task does."""

    script: Script
    source: str = "demonstration"
    name: str = "script"

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the script's next action."""
        start = time.monotonic()
        action = self.script(trajectory, observation) or GiveUp("the script has ended")
        return Decision(
            action, source=self.source, weights=self.name, seconds=time.monotonic() - start
        )

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the one action of the script, which is certain of it."""
        return propose_certain(await self.act(trajectory, observation), n)


def propose_certain(decision: Decision, n: int) -> Sequence[Decision]:
    """Return the only decision of a policy without alternatives, with log-probability zero."""
    candidate = Candidate(format_action(decision.action), log_prob=0.0)
    return [replace(decision, candidates=(candidate,))][:n]


def play_actions(actions: Sequence[Action]) -> Script:
    """Return the script that plays these actions, one a step, whatever the page shows."""

    def script(trajectory: Trajectory, observation: Observation) -> Action | None:
        turn = len(trajectory.steps)
        return actions[turn] if turn < len(actions) else None

    return script


def replay_recording(recording: Trajectory) -> Script:
    """Return the script that repeats a recorded episode.

    An element keeps its recorded mark where the page shows the same role and name under it. Where
    it does not, the action goes to the one element that has them; failing that, to the recorded
    mark, as a blind replay would.
    """

    def script(trajectory: Trajectory, observation: Observation) -> Action | None:
        turn = len(trajectory.steps)
        if turn >= len(recording.steps):
            return None
        recorded, action = recording.steps[turn].observation, recording.steps[turn].decision.action
        changes: dict[str, Any] = {}
        for field in MARK_FIELDS:
            if target := recorded.node(getattr(action, field, 0)):
                key = target.role, target.name, target.kind
                alike = [n for n in observation.nodes if n.mark and (n.role, n.name, n.kind) == key]
                if len(alike) == 1:
                    changes[field] = alike[0].mark
        return replace(action, **changes)

    return script
