"""Transitions: a page, an action and its outcome, real or imagined."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from webagent.action import Action
from webagent.records import Ending, Observation, Step, Trajectory


@dataclass(frozen=True, slots=True)
class Situation:
    """A page, the steps before it, and the action to predict."""

    observation: Observation
    steps: tuple[Step, ...]
    action: Action
    max_steps: int = 0
    """Maximum steps of the episode; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One action on a page with its consequences."""

    steps: tuple[Step, ...]
    """The steps before."""
    before: Observation
    action: Action
    after: Observation
    succeeded: bool
    """Whether its episode succeeded."""
    episode: str
    ending: Ending | None = None
    """How the action ended the episode; None if it continued or if that is unknown."""
    max_steps: int = 0
    """Maximum steps of the episode; 0 if unknown."""
    shown: bool = False
    """Whether the episode is a demonstration, whose success says nothing about the agent's."""

    @property
    def situation(self) -> Situation:
        """Return the information available before the action."""
        return Situation(self.before, self.steps, self.action, self.max_steps)

    @property
    def ends(self) -> bool:
        """Return whether the episode ended with the action."""
        return self.after.over or self.ending is not None


def transitions(
    trajectories: Iterable[Trajectory], success: Mapping[str, float | None]
) -> Iterator[Transition]:
    """Yield every transition of finished real episodes whose success is known, failures included.

    `success` maps episode ids to their score; episodes without one and imagined ones are left out.
    """
    for trajectory in trajectories:
        score = success.get(trajectory.id)
        if score is None or trajectory.provenance.imagined:
            continue
        phase, sources = trajectory.provenance.phase, {s.decision.source for s in trajectory.steps}
        shown = phase == "demonstrate" or sources == {"demonstration"}
        for i, step in enumerate(trajectory.steps):
            after = trajectory.page_after(i)
            if after is not None:
                yield Transition(
                    trajectory.steps[:i],
                    step.observation,
                    step.decision.action,
                    after,
                    score >= 0.5,
                    trajectory.id,
                    trajectory.ending if i + 1 == len(trajectory.steps) else None,
                    trajectory.task.max_steps,
                    shown,
                )
