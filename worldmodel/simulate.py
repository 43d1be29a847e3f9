"""Imagined rollouts: the world model played as a world, from real states, and marked."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from tasks.task import Json, Task
from webagent.action import Action
from webagent.errors import WorldError
from webagent.records import Decision, Observation, Step, Trajectory
from worldmodel.prediction import Effect, Prediction, Source
from worldmodel.transitions import Situation

Predict = Callable[[Situation], Awaitable[Prediction]]


NOT_KNOWN = "the dream ends here: what this leads to is not known"
"""The outcome of an action that the world model cannot predict."""


@dataclass(frozen=True, slots=True)
class DreamStart:
    """A real state from which to imagine: a page, and the steps before it."""

    page: Observation
    steps: tuple[Step, ...] = ()


def start_at(trajectory: Trajectory, step: int = 0) -> DreamStart:
    """Return the state before a step of a real episode. Raises `WorldError` if there is no such
    step."""
    if not 0 <= step < len(trajectory.steps):
        raise WorldError(f"no real page: {trajectory.id} has {len(trajectory.steps)} steps")
    return DreamStart(trajectory.steps[step].observation, trajectory.steps[:step])


class ImaginedWorld:
    """Continues episodes in imagination from real pages, on one page or many.

    Implements `webagent.rollout.world.World`. Failure is possible, and the model is never asked for
    success; an episode ends undecided if an action has an unknown outcome.
    """

    def __init__(self, predict: Predict, starts: Mapping[str, DreamStart]):
        """Store the start states: `starts` maps `start_key` of a task to its state."""
        self._predict = predict
        self._starts = starts
        self._confidence = 1.0
        self._steps: tuple[Step, ...] = ()
        self._now: Observation | None = None
        self._last: Prediction | None = None

    async def reset(self, task: Task) -> Observation:
        """Return the real start page. Raises `WorldError` if there is none."""
        start = self._starts.get(start_key(task))
        if start is None:
            raise WorldError(f"no real page of task {task.id}, seed {task.seed} to dream from")
        self._steps, self._last = start.steps, None
        self._confidence, self._now = 1.0, start.page
        return self._now

    async def step(self, action: Action) -> Observation:
        """Return the predicted page. Raises `WorldError` before `reset`."""
        if self._now is None:
            raise WorldError("the dream was not started; call reset first")
        prediction = await self._predict(Situation(self._now, self._steps, action))
        self._steps = (*self._steps, Step(self._now, Decision(action)))
        self._confidence *= prediction.confidence
        if prediction.source is Source.UNKNOWN:
            self._last = None
            self._now = replace(self._now, over=True, outcome=NOT_KNOWN)
        else:
            self._last, self._now = prediction, prediction.page
        return self._now

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """Return the model's prediction as evidence; none of it comes from a real page."""
        last = self._last
        ended = last is not None and last.effect is Effect.ENDS
        return {
            "imagined": True,
            "confidence": self._confidence,
            "imagined_success": last.outcome.succeeds >= 0.5 if last and ended else None,
            "success_probability": last.outcome.succeeds if last else None,
        }

    async def close(self) -> None:
        """Do nothing; no resources are held."""


def start_key(task: Task) -> str:
    """Return the key that a real page and its imagined rollout share: the task and its seed."""
    return f"{task.id}:{task.seed}"
