"""Transitions: what was seen, what was done and what came of it, real or imagined."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from webagent.action import Action
from webagent.records import Observation, Step, Trajectory


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


def transitions(
    trajectories: Iterable[Trajectory], success: dict[str, float | None]
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
                )
