"""Transitions: what was seen, what was done and what came of it, real or imagined."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from webagent.action import Action
from webagent.records import Ending, Observation, Step, Trajectory


@dataclass(frozen=True, slots=True)
class Situation:
    """A page, what was done before it, and the action in question."""

    observation: Observation
    steps: tuple[Step, ...]
    action: Action
    max_steps: int = 0
    """Steps that the episode may have; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One action on a page with its consequences."""

    steps: tuple[Step, ...]
    """What was done before."""
    before: Observation
    action: Action
    after: Observation
    succeeded: bool
    """Whether the episode it belongs to ended in success."""
    task: str
    """The task's name, for balance."""
    episode: str
    ending: Ending | None = None
    """How the action ended the episode, None where it went on or where that is not known."""
    max_steps: int = 0
    """Steps that the episode was allowed; 0 where that is not known."""

    @property
    def situation(self) -> Situation:
        """What is known before the action is done."""
        return Situation(self.before, self.steps, self.action, self.max_steps)

    @property
    def ends(self) -> bool:
        """Whether the episode ended by it."""
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
        for i, step in enumerate(trajectory.steps):
            after = trajectory.page_after(i)
            if after is not None:
                yield Transition(
                    trajectory.steps[:i],
                    step.observation,
                    step.decision.action,
                    after,
                    score >= 0.5,
                    trajectory.task.name,
                    trajectory.id,
                    trajectory.ending if i + 1 == len(trajectory.steps) else None,
                    trajectory.task.max_steps,
                )
