"""A model that reads a whole trajectory and judges each step."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from evaluators.steps.judgement import JudgedStep, StepJudgement, StepLabel, abstain
from webagent.action import Answer, GiveUp, format_action
from webagent.errors import ModelError, StoreError
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read, read_form
from webagent.observation import render as render_page
from webagent.records import Observation, Step, Trajectory


class StepFinding(BaseModel):
    """What is said of one step."""

    model_config = ConfigDict(extra="forbid")

    step: int
    change: str
    label: Literal["correct", "neutral", "incorrect", "cannot tell"]
    redundant: bool
    done: Annotated[float, Field(ge=0, le=100)] | None = None
    reason: str = ""


class EpisodeFinding(BaseModel):
    """What is said of an episode."""

    model_config = ConfigDict(extra="forbid")

    steps: list[StepFinding]
    first_error: int | None
    correction: str = ""


def read_step_findings(text: str, count: int) -> tuple[JudgedStep, ...]:
    """Return the judged steps of a reply on an episode of so many steps.

    Raises `UnusableError` with what is wrong.
    """
    course = read_form(text, EpisodeFinding, strict=True)
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


def _check_first_error(course: EpisodeFinding) -> None:
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


def _judged(found: StepFinding, before: float | None, course: EpisodeFinding) -> JudgedStep:
    label: StepLabel | None = None if found.label == "cannot tell" else found.label
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


_LEAST_TOKENS = 120
"""Of a page, however long the episode."""


def format_trajectory(
    trajectory: Trajectory, render: Callable[[Observation, int], str], page_tokens: int
) -> str:
    """Return every page with what was done on it, fenced, within about so many tokens together."""
    parts = format_parts(trajectory, render, page_tokens)
    texts = [fence(name, text) for name, text in parts.items()]
    if trajectory.last is None:
        texts.append("The page after the last step was not seen.")
    return "\n\n".join(texts)


def format_parts(
    trajectory: Trajectory, render: Callable[[Observation, int], str], page_tokens: int
) -> dict[str, str]:
    """Return the texts of `page 1`, `step 1`, `page 2` and so on."""
    pages = [step.observation for step in trajectory.steps]
    if trajectory.last is not None:
        pages.append(trajectory.last)
    share = max(_LEAST_TOKENS, page_tokens // max(1, len(pages)))
    parts = {}
    for number, page in enumerate(pages, start=1):
        parts[f"page {number}"] = f"{page.title}\n{page.url}\n\n{render(page, share)}"
        if number <= len(trajectory.steps):
            after = pages[number] if number < len(pages) else None
            parts[f"step {number}"] = _done(trajectory.steps[number - 1], after)
    return parts


def attach_screenshots(
    trajectory: Trajectory, images: Callable[[str], bytes] | None, most: int
) -> list[tuple[int, bytes]]:
    """Return page numbers, counted from 1, with their screenshots, the last so many that can be
    found."""
    if images is None or most <= 0:
        return []
    pages = [step.observation for step in trajectory.steps]
    pages += [trajectory.last] if trajectory.last is not None else []
    found = []
    for number, page in enumerate(pages, start=1):
        if page.screenshot:
            try:
                found.append((number, images(page.screenshot)))
            except StoreError:
                continue
    return found[-most:]


def _done(step: Step, after: Observation | None) -> str:
    """Return what was done and what the browser said to it, without the agent's thoughts."""
    action = step.decision.action
    if isinstance(action, GiveUp):
        return "gave up"
    target = step.observation.node(getattr(action, "mark", 0))
    named = f' on {target.role} "{target.name}"' if target else ""
    said = f"\nthe browser said: {after.outcome}" if after is not None and after.outcome else ""
    ended = "ended the episode with " if isinstance(action, Answer) else ""
    return f"{ended}{format_action(action)}{named}{said}"


PROMPT = Path(__file__).parent / "prompts" / "steps.md"

StepJudge: TypeAlias = Callable[[Trajectory], Awaitable[StepJudgement]]
"""Anything that judges the steps of a finished episode."""


@dataclass(frozen=True, slots=True)
class StepJudgeSettings:
    """How much a judge of steps is shown and how long it may take."""

    page_tokens: int = 12_000
    """Of all pages together; each gets its share, and a page that is cut says so."""
    most_steps: int = 50
    """An episode of more steps is not judged."""
    screenshots: int = 30
    """Most that are attached, the last ones; 0 for none."""
    timeout: float = 300.0
    """Seconds to wait for one reply."""
    max_tokens: int = 4096


@dataclass(frozen=True, slots=True)
class _Witness:
    """A judge's model with the ways it sees."""

    model: Model
    images: Callable[[str], bytes] | None
    settings: StepJudgeSettings
    render: Callable[[Observation, int], str]
    prompt: Prompt


def judge_by_model(
    model: Model,
    images: Callable[[str], bytes] | None = None,
    settings: StepJudgeSettings = StepJudgeSettings(),
    *,
    render: Callable[[Observation, int], str] = render_page,
    prompt: Prompt | None = None,
) -> StepJudge:
    """Return the judge that shows a model all pages in order (SEAgent's world state model, arXiv
    2508.04700): of each step what it changed, whether it was redundant, and of the first error what
    should have been done.

    `images` looks a screenshot up by its reference; without it, or with a model that does not look
    at images, the pages are read as text. `render` writes a page within so many tokens. The agent's
    thoughts are left out. A reply that cannot be used is asked for once more; then, and when the
    model fails or does not reply in time, the judgement abstains from every step and says why.

    Deviations: SEAgent's model was trained for it and sees screenshots alone; here any model is
    asked, and labels are AgentProcessBench's, with how much stands done after each step.
    """
    witness = _Witness(model, images, settings, render, prompt or load_prompt(PROMPT))
    source = f"witness[{model.name}]@1#{witness.prompt.hash}"

    async def judge(trajectory: Trajectory) -> StepJudgement:
        reason = _unjudgeable(trajectory, settings)
        if reason:
            return abstain(trajectory, source, reason)
        try:
            steps = await _asked(witness, trajectory)
        except TimeoutError:
            reason = f"{model.name} did not reply within {settings.timeout:g} s"
        except ModelError as error:
            reason = f"the judge's model failed: {error}"
        except UnusableError as error:
            reason = f"no usable reply, asked twice: {error}"
        else:
            return StepJudgement(trajectory.id, source, steps)
        return abstain(trajectory, source, reason)

    return judge


def _unjudgeable(trajectory: Trajectory, settings: StepJudgeSettings) -> str:
    """Return why there is nothing to ask of this episode."""
    if trajectory.ending is None:
        raise ValueError(f"episode {trajectory.id} is under way; only a finished one is judged")
    if trajectory.ending.is_infrastructure:
        return f"nothing to judge: {trajectory.ending}"
    count = len(trajectory.steps)
    if not count:
        return "there are no steps"
    if count > settings.most_steps:
        return f"{count} steps are more than the {settings.most_steps} that are judged at once"
    return ""


async def _asked(witness: _Witness, trajectory: Trajectory) -> tuple[JudgedStep, ...]:
    """Return the judged steps. Raises `UnusableError`, `ModelError` or `TimeoutError`."""
    count, settings = len(trajectory.steps), witness.settings
    seed = zlib.crc32(trajectory.id.encode()) & 0x7FFFFFF

    async def ask(messages: tuple[Message, ...]) -> Reply:
        async with asyncio.timeout(settings.timeout):
            return (
                await witness.model.complete(messages, seed=seed, max_tokens=settings.max_tokens)
            ).replies[0]

    return await ask_and_read(
        ask,
        _messages(witness, trajectory),
        lambda text: read_step_findings(text, count),
        lambda problem: witness.prompt.fill("again", problem=problem, count=str(count)),
    )


def _messages(witness: _Witness, trajectory: Trajectory) -> tuple[Message, ...]:
    settings = witness.settings
    looks = witness.images if witness.model.capabilities.images else None
    shots = attach_screenshots(trajectory, looks, settings.screenshots)
    captions = [f"screenshot {n} shows page {page}" for n, (page, _) in enumerate(shots, start=1)]
    asked = witness.prompt.fill(
        "user",
        goal=trajectory.goal or trajectory.task.goal,
        count=str(len(trajectory.steps)),
        ending=str(trajectory.ending),
        course=format_trajectory(trajectory, witness.render, settings.page_tokens),
        screenshots="; ".join(captions) or "none",
    )
    images = tuple(image for _, image in shots)
    return Message("system", witness.prompt.fill("system")), Message("user", asked, images)
