"""A model that reads a whole trajectory and judges each step."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from evaluators.judge.pages import format_targeted_action, list_pages
from evaluators.steps.judgement import JudgedStep, StepJudgement, abstain
from webagent.action import Answer, GiveUp
from webagent.errors import ModelError, StoreError
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read, read_form
from webagent.observation import render as render_page
from webagent.records import Observation, Trajectory


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
    found = read_form(text, EpisodeFinding, strict=True)
    numbers = [step.step for step in found.steps]
    if numbers != list(range(1, count + 1)):
        raise UnusableError(f"there are steps 1 to {count}, and the reply judges {numbers}")
    first = found.first_error
    if first is None and found.correction:
        raise UnusableError("there is a correction but no first_error")
    wrong = [step.step for step in found.steps if step.label == "incorrect"]
    if first is not None and first not in wrong:
        named = ", ".join(map(str, wrong)) or "none"
        raise UnusableError(f"first_error is step {first}, while the incorrect steps are: {named}")
    if first is not None and not found.correction.strip():
        raise UnusableError(f"step {first} is the first error but has no correction")
    before: float | None = 0.0
    judged = []
    for step in found.steps:
        known = before is not None and step.done is not None
        judged.append(
            JudgedStep(
                label=None if step.label == "cannot tell" else step.label,
                progress=((step.done or 0.0) - (before or 0.0)) / 100 if known else None,
                is_error=first is not None and step.step in wrong and step.step >= first,
                is_redundant=step.redundant,
                reason=": ".join(part for part in (step.change, step.reason) if part),
                correction=found.correction if step.step == first else "",
            )
        )
        before = step.done
    return tuple(judged)


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
    """Return the texts of `page 1`, `step 1`, `page 2` and so on, without the agent's thoughts."""
    pages = list_pages(trajectory)
    share = max(_LEAST_TOKENS, page_tokens // max(1, len(pages)))
    parts = {}
    for number, page in enumerate(pages, start=1):
        parts[f"page {number}"] = f"{page.title}\n{page.url}\n\n{render(page, share)}"
        if number > len(trajectory.steps):
            continue
        step = trajectory.steps[number - 1]
        outcome = pages[number].outcome if number < len(pages) else ""
        match step.decision.action:
            case GiveUp():
                parts[f"step {number}"] = "gave up"
                continue
            case Answer():
                done = f"ended the episode with {format_targeted_action(step)}"
            case _:
                done = format_targeted_action(step)
        parts[f"step {number}"] = done + (f"\nthe browser said: {outcome}" if outcome else "")
    return parts


def attach_screenshots(
    trajectory: Trajectory, images: Callable[[str], bytes] | None, most: int
) -> list[tuple[int, bytes]]:
    """Return page numbers, from 1, with their screenshots, the last so many that can be found."""
    if images is None or most <= 0:
        return []
    found = []
    for number, page in enumerate(list_pages(trajectory), start=1):
        if page.screenshot:
            try:
                found.append((number, images(page.screenshot)))
            except StoreError:
                continue
    return found[-most:]


PROMPT = Path(__file__).parent / "prompts" / "steps.md"

Found = TypeVar("Found")

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


_FAILED = "the model failed: "


def has_model_failed(judgement: StepJudgement) -> bool:
    """Return whether nothing was said because the model failed or was silent, not because of what
    it was asked about."""
    return judgement.reason.startswith(_FAILED)


def name_model_source(model: Model, prompt: Prompt | None = None) -> str:
    """Return the source that a model's judgements are stored with and looked up by."""
    return f"witness[{model.name}]@1#{(prompt or load_prompt(PROMPT)).hash}"


def judge_by_model(
    model: Model,
    images: Callable[[str], bytes] | None = None,
    settings: StepJudgeSettings = StepJudgeSettings(),
    *,
    render: Callable[[Observation, int], str] = render_page,
    prompt: Prompt | None = None,
) -> StepJudge:
    """Return the judge that shows a model all pages in order.

    SEAgent's world state model (arXiv 2508.04700): of each step what it changed, whether it was
    redundant, and of the first error what should have been done. `images` looks a screenshot up by
    its reference; without it, or with a model that does not look at images, the pages are read as
    text. `render` writes a page within so many tokens. The agent's thoughts are left out. A reply
    that cannot be used is asked for once more; then, and when the model fails or does not reply in
    time, the judgement abstains from every step and says why.

    Deviations: SEAgent's model was trained for it and sees screenshots alone; here any model is
    asked, and labels are AgentProcessBench's, with how much stands done after each step.
    """
    question = prompt or load_prompt(PROMPT)
    source = name_model_source(model, question)

    async def judge(trajectory: Trajectory) -> StepJudgement:
        count = len(trajectory.steps)
        reason = _find_nothing_to_judge(trajectory, settings.most_steps)
        if reason:
            return abstain(trajectory, source, reason)
        course = format_trajectory(trajectory, render, settings.page_tokens)
        asked = EpisodeQuestion(trajectory, question, {"course": course}, {"count": str(count)})
        found, reason = await ask_of_episode(
            model, asked, images, settings, lambda text: read_step_findings(text, count)
        )
        if found is None:
            return abstain(trajectory, source, reason)
        return StepJudgement(trajectory.id, source, found)

    return judge


@dataclass(frozen=True, slots=True)
class EpisodeQuestion:
    """A question about a finished episode; what it is about stands in the prompt's slots."""

    trajectory: Trajectory
    prompt: Prompt
    slots: Mapping[str, str]
    again: Mapping[str, str] = field(default_factory=dict)
    """Slots of what is said where a reply cannot be read, besides the problem."""


async def ask_of_episode(
    model: Model,
    asked: EpisodeQuestion,
    images: Callable[[str], bytes] | None,
    settings: StepJudgeSettings,
    read: Callable[[str], Found],
) -> tuple[Found | None, str]:
    """Return what `read` makes of the reply, or None and why there is none that can be used.

    A reply for which `read` raises `UnusableError` is asked for once more.
    """
    trajectory, prompt = asked.trajectory, asked.prompt
    count, seed = str(len(trajectory.steps)), zlib.crc32(trajectory.id.encode()) & 0x7FFFFFF
    shown = images if model.capabilities.images else None
    shots = attach_screenshots(trajectory, shown, settings.screenshots)
    captions = [f"screenshot {n} shows page {page}" for n, (page, _) in enumerate(shots, 1)]
    user = prompt.fill(
        "user",
        goal=trajectory.goal or trajectory.task.goal,
        count=count,
        ending=str(trajectory.ending),
        screenshots="; ".join(captions) or "none",
        **asked.slots,
    )
    messages = (
        Message("system", prompt.fill("system")),
        Message("user", user, tuple(image for _, image in shots)),
    )

    async def ask(conversation: tuple[Message, ...]) -> Reply:
        async with asyncio.timeout(settings.timeout):
            completion = await model.complete(
                conversation, seed=seed, max_tokens=settings.max_tokens
            )
        return completion.replies[0]

    def ask_again(problem: str) -> str:
        return prompt.fill("again", problem=problem, **asked.again)

    try:
        return await ask_and_read(ask, messages, read, ask_again), ""
    except TimeoutError:
        return None, f"{_FAILED}{model.name} did not reply within {settings.timeout:g} s"
    except ModelError as error:
        return None, f"{_FAILED}{error}"
    except UnusableError as error:
        return None, f"no usable reply, asked twice: {error}"


def _find_nothing_to_judge(trajectory: Trajectory, most_steps: int) -> str:
    """Return why there is nothing to ask of this episode."""
    if trajectory.ending is None:
        raise ValueError(f"episode {trajectory.id} is in progress; only a finished one is judged")
    if trajectory.ending.is_infrastructure:
        return f"nothing to judge: {trajectory.ending}"
    count = len(trajectory.steps)
    if count > most_steps:
        return f"{count} steps are more than the {most_steps} that are judged at once"
    return "" if count else "there are no steps"
