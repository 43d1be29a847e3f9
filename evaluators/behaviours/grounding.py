"""Feedback taken apart and brought to the steps that it is about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from evaluators.behaviours.aspects import Aspect, Feedback
from evaluators.behaviours.replies import prompt, replied
from webagent.action import format_action
from webagent.errors import ModelError
from webagent.models.model import Model
from webagent.models.prompt import fence
from webagent.models.replies import UnusableError, read_form
from webagent.records import Step, Trajectory


@dataclass(frozen=True, slots=True)
class Grounded:
    """The aspects of one person's feedback on one episode."""

    feedback: Feedback
    aspects: tuple[Aspect, ...] = ()
    problem: str = ""
    """Why the feedback could not be grounded; empty where it was."""


class _Remark(BaseModel):
    feedback: str = Field(min_length=1)
    behaviour: str = Field(min_length=1)
    sign: Literal["good", "bad"]
    step: int = Field(ge=0)


class _Remarks(BaseModel):
    aspects: list[_Remark]


async def ground(model: Model, trajectory: Trajectory, feedback: Feedback) -> Grounded:
    """The aspects that a model finds; none, with the problem, where it cannot be used or failed.

    Each has to quote the feedback and to name a step that there is.
    """
    asking = prompt("ground")
    slots = {"user": {**told(trajectory), "feedback": fence("comment", feedback.text)}}

    def read(text: str) -> tuple[Aspect, ...]:
        remarks = read_form(text, _Remarks).aspects
        return tuple(_aspect(remark, trajectory, feedback) for remark in remarks)

    try:
        return Grounded(feedback, await replied(model, asking, slots, read))
    except UnusableError as error:
        return Grounded(feedback, problem=f"no usable reply: {error}")
    except ModelError as error:
        return Grounded(feedback, problem=f"the model failed: {error}")


def told(trajectory: Trajectory) -> dict[str, str]:
    """Goal, steps and ending of an episode, for a prompt."""
    return {
        "goal": trajectory.goal or trajectory.task.goal,
        "steps": fence("steps", _steps(trajectory.steps)),
        "ending": str(trajectory.ending),
    }


def _steps(steps: Sequence[Step]) -> str:
    lines = []
    for number, step in enumerate(steps, start=1):
        seen, action = step.observation, step.decision.action
        target = seen.node(getattr(action, "mark", 0))
        done = format_action(action) + (f' on {target.role} "{target.name}"' if target else "")
        before = f" [the step before: {seen.outcome}]" if seen.outcome else ""
        thought = f" (thought: {step.decision.thought})" if step.decision.thought else ""
        lines.append(f"{number}. {seen.title} {seen.url}{before}: {done}{thought}")
    return "\n".join(lines) or "nothing"


def _aspect(remark: _Remark, trajectory: Trajectory, feedback: Feedback) -> Aspect:
    if _plain(remark.feedback) not in _plain(feedback.text):
        raise UnusableError(f"the comment does not say {remark.feedback!r}; copy its words")
    if remark.step > len(trajectory.steps):
        raise UnusableError(f"there is no step {remark.step}, only {len(trajectory.steps)}")
    return Aspect(
        remark.feedback,
        remark.behaviour,
        remark.sign == "good",
        feedback.episode,
        remark.step,
        feedback.group,
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
