"""Judgements of steps: their record, how a run stores them, and what trainers take from them."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass, replace
from inspect import isawaitable
from typing import Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from evaluators.evaluator import Evaluator
from tasks.task import Json
from webagent.errors import StoreError
from webagent.records import Ending, Trajectory
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

    For `labels` of `webagent.training.language.selection.step_weights`, which judges by its own
    rules where nothing is said.
    """
    return {
        index: not (step.is_error or step.is_redundant or step.label == "incorrect")
        for index, step in enumerate(judgement.steps)
        if step.label is not None or step.is_redundant
    }


def weigh_steps(judgement: StepJudgement) -> tuple[float, ...]:
    """Return each step's weight in imitation: 0 for mistakes and for redundant steps, else 1.

    For `weights` of `webagent.training.language.rows.step_rows`.
    """
    labels = label_steps(judgement)
    return tuple(float(labels.get(index, True)) for index in range(len(judgement.steps)))


def reward_steps(judgement: StepJudgement, outcome: float) -> tuple[float, ...]:
    """Return a reward for each step, all of them adding up to the episode's outcome.

    Each step has its progress, an open one nothing, and what is then missing from the outcome is
    spread over all steps alike (as RUDDER does, arXiv 1806.07857). So a judgement that abstains
    gives every step the same, which is what an episode's outcome alone says. For
    `webagent.training.language.advantages.step_advantages`.
    """
    progress = [step.progress or 0.0 for step in judgement.steps]
    rest = (outcome - sum(progress)) / len(progress) if progress else 0.0
    return tuple(made + rest for made in progress)


Value: TypeAlias = Callable[[Trajectory], float | Awaitable[float | None] | None]
"""The likelihood, in [0, 1], that an episode that is under way will succeed; None abstains."""


async def judge_by_value(
    trajectory: Trajectory,
    value: Value,
    *,
    outcome: float | None = None,
    start: float | None = None,
    matters: float = 0.1,
    name: str = "value@1",
) -> StepJudgement:
    """Return progress as the difference that each step made to the value (arXiv 2505.20732):

        c_t = V(s_(t+1)) - V(s_t)

    `value` is asked of each prefix, and of the whole episode unless its `outcome`, in [0, 1], is
    known. So the progress of all steps adds up to the outcome less the value at the start;
    `reward_steps` spreads that rest, after which they add up to the outcome itself. `start`
    replaces the value before the first step, such as by the share of a task's episodes that
    succeed. A step that changes the value by at least `matters` is `correct` or `incorrect`, any
    other `neutral`. Where the value abstains, so do the steps on both sides of it.

    Deviation: SPA, the paper, trains its estimator so that contributions add up to the outcome; any
    value function serves here, and it is differences of its values that do.
    """
    if trajectory.ending is not None and trajectory.ending.is_infrastructure:
        return abstain(trajectory, name, f"nothing to judge: {trajectory.ending}")
    count = len(trajectory.steps)
    values = [
        await _measure(value, cut_prefix(trajectory, length), name) for length in range(count)
    ]
    if values and start is not None:
        values[0] = start
    values.append(await _measure(value, trajectory, name) if outcome is None else outcome)
    steps = tuple(_judge_step(values[i], values[i + 1], matters) for i in range(count))
    return StepJudgement(trajectory.id, name, steps)


def cut_prefix(trajectory: Trajectory, length: int) -> Trajectory:
    """Return the episode as it was after so many steps, under way and without evidence."""
    if length == len(trajectory.steps):
        return replace(trajectory, ending=None, evidence={})
    here = trajectory.steps[length].observation
    steps = trajectory.steps[:length]
    return replace(trajectory, steps=steps, last=here, ending=None, evidence={}, error="")


def build_value(evaluator: Evaluator) -> Value:
    """Return an evaluator of finished episodes, such as the reward model, as a value function.

    A prefix is given to it as an episode that reached its step limit. An outcome model has seen
    few such in its training unless truncated successes were among its negatives, so that its
    values are of use for comparing steps and are no calibrated likelihoods.
    """

    async def value(trajectory: Trajectory) -> float | None:
        if trajectory.ending is None:
            if not trajectory.steps:
                return None
            trajectory = replace(trajectory, ending=Ending.STEP_LIMIT)
        return (await evaluator(trajectory)).value

    return value


async def _measure(value: Value, trajectory: Trajectory, name: str) -> float | None:
    found = value(trajectory)
    likelihood = await found if isawaitable(found) else found
    if likelihood is not None and not 0.0 <= likelihood <= 1.0:
        raise ValueError(f"{name} gave {likelihood}; a likelihood must be between 0 and 1")
    return likelihood


def _judge_step(before: float | None, after: float | None, matters: float) -> JudgedStep:
    if before is None or after is None:
        return JudgedStep(reason="the value is not known on both sides of it")
    progress = after - before
    reason = "no difference"
    if progress:
        reason = f"success became {'more' if progress > 0 else 'less'} likely"
    reason += f": {before:.2f} to {after:.2f}"
    if abs(progress) < matters:
        return JudgedStep("neutral", progress, reason=reason)
    label: StepLabel = "incorrect" if progress < 0 else "correct"
    return JudgedStep(label, progress, is_error=progress < 0, reason=reason)
