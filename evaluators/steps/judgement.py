"""Judgements of steps: their record, how a run stores them, and what trainers take from them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from tasks.task import Json
from webagent.errors import StoreError
from webagent.records import Trajectory
from webagent.store import Store

StepLabel: TypeAlias = Literal["correct", "neutral", "incorrect"]
"""AgentProcessBench's three labels (arXiv 2603.14465): +1 brings the task nearer to being done, 0
explores, fails for the first time or cannot be told, -1 misleads, fails again or repeats."""


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """What is thought of one step; all fields at their defaults abstain."""

    label: StepLabel | None = None
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


def abstain(trajectory: Trajectory, source: str, reason: str) -> StepJudgement:
    """Return a judgement that abstains from every step, with the reason."""
    return StepJudgement(trajectory.id, source, (JudgedStep(),) * len(trajectory.steps), reason)


_PREFIX = "steps:"
_FORM = TypeAdapter(StepJudgement)


def store_judgements(store: Store, judgements: Iterable[StepJudgement]) -> int:
    """Store judgements, replacing those of the same episode and source; return how many.

    Raises `StoreError` when the run cannot be written.
    """
    count = 0
    for judgement in judgements:
        # The fields of a step that say nothing are left out.
        steps: list[Json] = [
            {name: value for name, value in asdict(step).items() if value not in ("", None, False)}
            | ({} if step.progress is None else {"progress": step.progress})
            for step in judgement.steps
        ]
        value: Json = {**asdict(judgement), "steps": steps}
        store.put_state(f"{_PREFIX}{judgement.episode}:{judgement.source}", value)
        count += 1
    return count


def load_judgements(store: Store, source: str = "") -> dict[str, StepJudgement]:
    """Return what the run holds, by episode id; of several sources that begin so, the last by name.

    Raises `StoreError` when the run cannot be read.
    """
    found = [_read(store, key, value) for key, value in store.states(_PREFIX).items()]
    return {one.episode: one for one in found if one.source.startswith(source)}


def load_episode_judgements(store: Store, episode: str) -> tuple[StepJudgement, ...]:
    """Return what the run holds of one episode, by source. Raises `StoreError`."""
    found = store.states(f"{_PREFIX}{episode}:")
    return tuple(_read(store, key, value) for key, value in found.items())


def _read(store: Store, key: str, value: Json) -> StepJudgement:
    try:
        return _FORM.validate_python(value)
    except ValidationError as error:
        raise StoreError(
            f"{store.folder} holds a judgement of steps that cannot be read, {key}:"
            f" {error.errors()[0]['msg']}; judge the episode again"
        ) from error


def label_steps(judgement: StepJudgement) -> dict[int, bool]:
    """Return whether a step is to be imitated, by index; what is open is left out.

    For `labels` of `webagent.training.language.selection.compute_step_weights`, which
    judges by its own rules where a step is left out.
    """
    return {
        index: not (step.is_error or step.is_redundant or step.label == "incorrect")
        for index, step in enumerate(judgement.steps)
        if step.label is not None or step.is_redundant
    }


def reward_steps(judgement: StepJudgement, outcome: float) -> tuple[float, ...]:
    """Return a reward for each step, all of them adding up to the episode's outcome.

    Each step has its progress, an open one nothing, and what is then missing from the outcome is
    spread over all steps alike (as RUDDER does, arXiv 1806.07857). So a judgement that abstains
    gives every step the same, which is what an episode's outcome alone says. For
    `webagent.training.language.selection.compute_step_advantages`.
    """
    progress = [step.progress or 0.0 for step in judgement.steps]
    rest = (outcome - sum(progress)) / len(progress) if progress else 0.0
    return tuple(made + rest for made in progress)
