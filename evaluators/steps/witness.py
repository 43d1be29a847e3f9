"""A judge that reads an episode from its first page to its last and says what each step did."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from evaluators.steps.findings import read_course
from evaluators.steps.judgement import JudgedStep, StepJudgement, abstention
from evaluators.steps.telling import attached, told_course
from webagent.errors import ModelError
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import Prompt, load_prompt
from webagent.models.replies import UnusableError, ask_and_read
from webagent.observation import render as render_page
from webagent.records import Observation, Trajectory

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


def by_model(
    model: Model,
    images: Callable[[str], bytes] | None = None,
    settings: StepJudgeSettings = StepJudgeSettings(),
    *,
    render: Callable[[Observation, int], str] = render_page,
    prompt: Prompt | None = None,
) -> StepJudge:
    """The judge that shows a model all pages in order (SEAgent's world state model, arXiv
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
            return abstention(trajectory, source, reason)
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
        return abstention(trajectory, source, reason)

    return judge


def _unjudgeable(trajectory: Trajectory, settings: StepJudgeSettings) -> str:
    """Why there is nothing to ask of this episode."""
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
        lambda text: read_course(text, count),
        lambda problem: witness.prompt.fill("again", problem=problem, count=str(count)),
    )


def _messages(witness: _Witness, trajectory: Trajectory) -> tuple[Message, ...]:
    settings = witness.settings
    looks = witness.images if witness.model.capabilities.images else None
    shots = attached(trajectory, looks, settings.screenshots)
    captions = [f"screenshot {n} shows page {page}" for n, (page, _) in enumerate(shots, start=1)]
    asked = witness.prompt.fill(
        "user",
        goal=trajectory.goal or trajectory.task.goal,
        count=str(len(trajectory.steps)),
        ending=str(trajectory.ending),
        course=told_course(trajectory, witness.render, settings.page_tokens),
        screenshots="; ".join(captions) or "none",
    )
    images = tuple(image for _, image in shots)
    return Message("system", witness.prompt.fill("system")), Message("user", asked, images)
