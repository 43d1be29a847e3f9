"""What a judge of steps replies, read strictly and held against the episode it was shown."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluators.steps.judgement import JudgedStep, Label
from webagent.models.replies import UnusableError, read_form


class StepFinding(BaseModel):
    """What is said of one step."""

    model_config = ConfigDict(extra="forbid")

    step: int
    change: str
    label: Literal["correct", "neutral", "incorrect", "cannot tell"]
    redundant: bool
    done: Annotated[float, Field(ge=0, le=100)] | None = None
    reason: str = ""


class Course(BaseModel):
    """What is said of an episode."""

    model_config = ConfigDict(extra="forbid")

    steps: list[StepFinding]
    first_error: int | None
    correction: str = ""


def read_course(text: str, count: int) -> tuple[JudgedStep, ...]:
    """The judged steps of a reply on an episode of so many steps.

    Raises `UnusableError` with what is wrong.
    """
    course = read_form(text, Course, strict=True)
    numbers = [found.step for found in course.steps]
    if numbers != list(range(1, count + 1)):
        raise UnusableError(f"there are steps 1 to {count}, and the reply judges {numbers}")
    _check_first_error(course)
    done: float | None = 0.0
    judged = []
    for found in course.steps:
        judged.append(_judged(found, done, course))
        done = found.done
    return tuple(judged)


def _check_first_error(course: Course) -> None:
    wrong = [found.step for found in course.steps if found.label == "incorrect"]
    if course.first_error is None and not course.correction:
        return
    if course.first_error is None:
        raise UnusableError("there is a correction but no first_error")
    if course.first_error not in wrong:
        named = ", ".join(map(str, wrong)) or "none"
        raise UnusableError(
            f"first_error is step {course.first_error}, while the incorrect steps are: {named}"
        )
    if not course.correction.strip():
        raise UnusableError(f"step {course.first_error} is the first error but has no correction")


def _judged(found: StepFinding, before: float | None, course: Course) -> JudgedStep:
    label: Label | None = None if found.label == "cannot tell" else found.label
    known = before is not None and found.done is not None
    is_error = (
        found.label == "incorrect"
        and course.first_error is not None
        and found.step >= course.first_error
    )
    return JudgedStep(
        label=label,
        progress=((found.done or 0.0) - (before or 0.0)) / 100 if known else None,
        is_error=is_error,
        is_redundant=found.redundant,
        reason=": ".join(part for part in (found.change, found.reason) if part),
        correction=course.correction if found.step == course.first_error else "",
    )
