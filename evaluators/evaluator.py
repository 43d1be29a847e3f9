"""The seam between a finished trajectory and whatever scores it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import isawaitable
from typing import NamedTuple, Protocol, TypeAlias

from webagent.records import Score, Trajectory


class Verdict(NamedTuple):
    """What a judgement comes to."""

    value: float | None
    """In [0, 1]; None abstains."""
    reason: str


class Evaluator(Protocol):
    """Anything that scores a finished trajectory: rules, a judge, a learned model, votes."""

    @property
    def id(self) -> str:
        """Name and version, with the content hash where there is content; stored in scores."""
        ...

    async def __call__(self, trajectory: Trajectory) -> Score:
        """Return the score, None-valued after an infrastructure failure.

        Raises `ValueError` when the trajectory is not finished.
        """
        ...


Judgement: TypeAlias = Callable[[Trajectory], Verdict | Awaitable[Verdict]]
"""A function of the finished trajectory alone; async where it asks a model."""


@dataclass(frozen=True, slots=True)
class FunctionEvaluator:
    """A judgement made an `Evaluator`; here the rules that hold for all of them are kept."""

    id: str
    score: str
    judgement: Judgement

    async def __call__(self, trajectory: Trajectory) -> Score:
        """Return the judgement, where there is anything to judge."""
        if trajectory.ending is None:
            raise ValueError(
                f"episode {trajectory.id} is in progress; only a finished one is scored"
            )
        if trajectory.ending.is_infrastructure:
            return Score(self.score, None, f"nothing to score: {trajectory.ending}", self.id)
        judged = self.judgement(trajectory)
        value, reason = await judged if isawaitable(judged) else judged
        if value is not None and not 0.0 <= value <= 1.0:
            raise ValueError(f"{self.id} gave {value}; a score must be between 0 and 1")
        return Score(self.score, value, reason, self.id)


def evaluator(
    name: str, *, version: str = "1", score: str = "success"
) -> Callable[[Judgement], FunctionEvaluator]:
    """Make a function that returns a `Verdict` an evaluator of that score."""

    def decorate(judgement: Judgement) -> FunctionEvaluator:
        return FunctionEvaluator(f"{name}@{version}", score, judgement)

    return decorate
