"""The dream: the world model played as a world, from real states, marked and capped."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from tasks.task import Json, Task
from webagent.action import Action
from webagent.errors import WorldError
from webagent.records import Decision, Observation, Step, Trajectory
from worldmodel.model import Situation, WorldModel


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the world model makes of one action."""

    page: Observation
    succeeds: bool
    """Whether it expects the episode to end in success."""
    chance: float
    """P(success), in [0, 1]."""


Predict = Callable[[Situation], Awaitable[Prediction]]
PredictAll = Callable[[Sequence[Situation]], list[Prediction]]


def predict_all(model: WorldModel) -> PredictAll:
    """Return what predicts the likeliest next page and P(success) of many situations at once."""

    def predict(situations: Sequence[Situation]) -> list[Prediction]:
        outcomes = model.outcomes(situations)
        pages = model.imagine(situations, [None] * len(situations))
        return [
            Prediction(page, succeeds, outcome.succeeds)
            for (page, succeeds), outcome in zip(pages, outcomes, strict=True)
        ]

    return predict


class ImaginedWorld:
    """Plays episodes onwards from pages that were really seen.

    Implements `webagent.rollout.world.World`. It may fail and is never told to make a task
    succeed; an episode is at most `horizon` steps long.
    """

    def __init__(self, predict: Predict, starts: Mapping[str, Trajectory], horizon: int = 5):
        """`starts` maps `start_key` of a task to the real episode whose first page is taken."""
        self._predict = predict
        self._starts = starts
        self._horizon = horizon
        self._steps: tuple[Step, ...] = ()
        self._now: Observation | None = None
        self._last: Prediction | None = None

    async def reset(self, task: Task) -> Observation:
        """Return the real page the dream starts from. Raises `WorldError` when none was seen."""
        start = self._starts.get(start_key(task))
        if start is None or not start.steps:
            raise WorldError(f"no real page of task {task.id}, seed {task.seed} to dream from")
        self._steps, self._last = (), None
        self._now = start.steps[0].observation
        return self._now

    async def step(self, action: Action) -> Observation:
        """Return the page the model expects. Raises `WorldError` past the horizon."""
        if self._now is None:
            raise WorldError("the dream was not started; call reset first")
        if len(self._steps) >= self._horizon:
            raise WorldError(f"a dream is at most {self._horizon} steps long")
        self._last = await self._predict(Situation(self._now, self._steps, action))
        self._steps = (*self._steps, Step(self._now, Decision(action)))
        self._now = self._last.page
        return self._now

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """Return what the model believes; nothing here was seen on a real page."""
        last = self._last
        ended = last is not None and last.page.over
        return {
            "imagined": True,
            "imagined_success": last.succeeds if last and ended else None,
            "success_probability": last.chance if last else None,
        }

    async def close(self) -> None:
        """Do nothing: nothing is held."""


def start_key(task: Task) -> str:
    """Return what a real page and a dream must share: the task and its seed."""
    return f"{task.id}:{task.seed}"
