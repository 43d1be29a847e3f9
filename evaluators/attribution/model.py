"""A model asked for the cause where the rules found none, and held to what it quotes."""

import asyncio
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evaluators.attribution.attribute import select_headlines
from evaluators.attribution.cause import Attribution, Cause, CauseFinding, build_attribution
from evaluators.attribution.episode import appears_in
from evaluators.steps.model import attach_screenshots, format_parts
from webagent.errors import ModelError
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read, read_form
from webagent.observation import render as render_page
from webagent.records import Observation, Score, Trajectory

PROMPT = load_prompt(Path(__file__).parent / "prompts" / "attribution.md")


@dataclass(frozen=True, slots=True)
class CauseModelSettings:
    """How much a model is shown of a failure and how long it may take."""

    page_tokens: int = 12_000
    """Of all pages together."""
    screenshots: int = 10
    """Most that are attached, the last ones."""
    timeout: float = 300.0
    """Seconds to wait for one reply."""
    max_tokens: int = 1024


class _Quote(BaseModel):
    model_config = ConfigDict(extra="forbid")

    where: str
    quote: str


class _CauseReply(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cause: Literal[
        "environment",
        "access",
        "guard",
        "observation",
        "grounding",
        "planning",
        "memory",
        "judge",
        "unknown",
    ]
    kind: str = ""
    step: int | None = None
    reason: str
    quotes: list[_Quote] = []


async def ask_cause(
    model: Model,
    trajectory: Trajectory,
    scores: Sequence[Score],
    images: Callable[[str], bytes] | None = None,
    settings: CauseModelSettings = CauseModelSettings(),
    *,
    render: Callable[[Observation, int], str] = render_page,
) -> Attribution:
    """Return what a model puts the failure down to.

    A reply that cannot be read, names a step that is not there, or quotes what does not stand where
    it says is asked for once more. Then, and when the model fails or does not reply in time, the
    cause is `UNKNOWN` and the reason says why.
    """
    source = f"detective[{model.name}]@1#{PROMPT.hash}"
    parts = format_parts(trajectory, render, settings.page_tokens)
    shots = attach_screenshots(
        trajectory, images if model.capabilities.images else None, settings.screenshots
    )
    captions = [f"screenshot {n} shows page {page}" for n, (page, _) in enumerate(shots, start=1)]
    verdicts = "\n".join(
        f"{one.evaluator}: {one.value}, {one.reason}" for one in select_headlines(scores)
    )
    user = PROMPT.fill(
        "user",
        goal=trajectory.goal or trajectory.task.goal,
        count=str(len(trajectory.steps)),
        ending=str(trajectory.ending),
        course="\n\n".join(fence(name, text) for name, text in parts.items()),
        verdicts=fence("verdicts", verdicts or "nothing"),
        screenshots="; ".join(captions) or "none",
    )
    messages = (
        Message("system", PROMPT.fill("system")),
        Message("user", user, tuple(image for _, image in shots)),
    )
    count, seed = len(trajectory.steps), zlib.crc32(trajectory.id.encode()) & 0x7FFFFFF

    async def ask(conversation: tuple[Message, ...]) -> Reply:
        async with asyncio.timeout(settings.timeout):
            return (
                await model.complete(conversation, seed=seed, max_tokens=settings.max_tokens)
            ).replies[0]

    reason = ""
    try:
        finding = await ask_and_read(
            ask,
            messages,
            lambda text: _read_cause(text, parts, count),
            lambda problem: PROMPT.fill("again", problem=problem),
        )
    except TimeoutError:
        reason = f"{model.name} did not reply within {settings.timeout:g} s"
    except ModelError as error:
        reason = f"the model failed: {error}"
    except UnusableError as error:
        reason = f"no usable reply, asked twice: {error}"
    if reason:
        finding = CauseFinding(Cause.UNKNOWN, "abstained", None, reason)
    return build_attribution(trajectory, finding, source)


def _read_cause(text: str, parts: dict[str, str], count: int) -> CauseFinding:
    """Return the finding of a reply. Raises `UnusableError`."""
    reply = read_form(text, _CauseReply, strict=True)
    if reply.step is not None and not 1 <= reply.step <= count:
        raise UnusableError(f"there are steps 1 to {count}, and the reply names step {reply.step}")
    if reply.cause != "unknown" and not reply.quotes:
        raise UnusableError(f"{reply.cause} is named without a quote that shows it")
    for quote in reply.quotes:
        where = quote.where.strip().lower()
        if where not in parts:
            raise UnusableError(f"there is no {quote.where!r}; there are {', '.join(parts)}")
        if not appears_in(quote.quote, parts[where]):
            raise UnusableError(f"the quote {quote.quote!r} does not stand on {where}")
    evidence = tuple(f"{quote.where}: {quote.quote}" for quote in reply.quotes)
    step = None if reply.step is None else reply.step - 1
    return CauseFinding(Cause(reply.cause), reply.kind, step, reply.reason, evidence)
