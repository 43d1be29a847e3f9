"""Steps judged by what they did to the likelihood of success, as a value function tells it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from inspect import isawaitable
from typing import TypeAlias

from evaluators.evaluator import Evaluator
from evaluators.steps.judgement import JudgedStep, StepJudgement, StepLabel, abstain
from webagent.records import Ending, Trajectory

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
        raise ValueError(f"{name} gave {likelihood}; a likelihood lies between 0 and 1")
    return likelihood


def _judge_step(before: float | None, after: float | None, matters: float) -> JudgedStep:
    if before is None or after is None:
        return JudgedStep(reason="the value is not known on both sides of it")
    from webagent.training.language.selection import contributions  # loads torch

    [progress] = contributions((before, after))
    reason = "no difference"
    if progress:
        reason = f"success became {'more' if progress > 0 else 'less'} likely"
    reason += f": {before:.2f} to {after:.2f}"
    if abs(progress) < matters:
        return JudgedStep("neutral", progress, reason=reason)
    label: StepLabel = "incorrect" if progress < 0 else "correct"
    return JudgedStep(label, progress, is_error=progress < 0, reason=reason)
