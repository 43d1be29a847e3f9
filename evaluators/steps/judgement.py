"""What a judge of steps says: a label and the progress of each, and where the first mistake is."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from webagent.records import Trajectory

Label: TypeAlias = Literal["correct", "neutral", "incorrect"]
"""AgentProcessBench's three labels (arXiv 2603.14465): +1 brings the task nearer to being done, 0
explores, fails for the first time or cannot be told, -1 misleads, fails again or repeats."""


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """What is thought of one step; all fields at their defaults abstain."""

    label: Label | None = None
    """None abstains."""
    progress: float | None = None
    """In [-1, 1]: how much more likely success is after the step than before it; None abstains."""
    is_error: bool = False
    """Whether it was a mistake. A mere repetition is `incorrect` without being one."""
    is_redundant: bool = False
    """Whether the episode would have been the same without it."""
    reason: str = ""
    correction: str = ""
    """What should have been done in its place; only where a judge says so."""

    @property
    def abstains(self) -> bool:
        """Whether nothing is said of the step."""
        return self.label is None and self.progress is None


@dataclass(frozen=True, slots=True)
class StepJudgement:
    """What one source says of all steps of an episode."""

    episode: str
    """The episode's id."""
    source: str
    """Who judges: name, version and, where there is one, the prompt's hash."""
    steps: tuple[JudgedStep, ...]
    """One for each step, in order."""
    reason: str = ""
    """On the whole; where nothing could be judged, why."""

    def __post_init__(self) -> None:
        for index, step in enumerate(self.steps):
            if step.progress is not None and not -1.0 <= step.progress <= 1.0:
                raise ValueError(f"step {index} has a progress of {step.progress}, outside [-1, 1]")

    @property
    def first_error(self) -> int | None:
        """Index of the first mistake; None where none is known."""
        return next((index for index, step in enumerate(self.steps) if step.is_error), None)

    @property
    def redundant(self) -> tuple[int, ...]:
        """Indices of the steps that could have been left out."""
        return tuple(index for index, step in enumerate(self.steps) if step.is_redundant)

    @property
    def abstained(self) -> tuple[int, ...]:
        """Indices of the steps of which nothing is said."""
        return tuple(index for index, step in enumerate(self.steps) if step.abstains)


def abstention(trajectory: Trajectory, source: str, reason: str) -> StepJudgement:
    """Nothing said of any step, and why."""
    return StepJudgement(trajectory.id, source, (JudgedStep(),) * len(trajectory.steps), reason)
