"""A model asked about a failure that no rule explains; its quotes are verified."""

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
from evaluators.judge.pages import format_targeted_action, list_pages
from webagent.action import Answer, GiveUp
from webagent.errors import ModelError, StoreError
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read, read_form
from webagent.observation import render as render_page
from webagent.records import Observation, Score, Trajectory

PROMPT = load_prompt(Path(__file__).parent / "prompts" / "attribution.md")
_LEAST_TOKENS = 120
"""Of a page, however long the episode."""


@dataclass(frozen=True, slots=True)
class AskingSettings:
    """How much of an episode a model is shown, and how long it may take."""

    page_tokens: int = 12_000
    """Of all pages together; each gets its share, and a page that is cut says so."""
    screenshots: int = 10
    """Most that are attached, the last ones; 0 for none."""
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
    settings: AskingSettings = AskingSettings(),
    *,
    render: Callable[[Observation, int], str] = render_page,
) -> Attribution:
    """Return what a model puts the failure down to.

    It is shown every page with what was done on it, without the agent's thoughts. A reply that
    cannot be read, names a step that is not there, or quotes what does not stand where it says is
    requested once more. Then, and when the model fails or does not reply in time, the cause is
    `UNKNOWN` and the reason says why.
    """
    source = f"detective[{model.name}]@1#{PROMPT.hash}"
    parts, count = format_parts(trajectory, render, settings.page_tokens), len(trajectory.steps)
    verdicts = "\n".join(
        f"{one.evaluator}: {one.value}, {one.reason}" for one in select_headlines(scores)
    )
    shown = images if model.capabilities.images else None
    shots = attach_screenshots(trajectory, shown, settings.screenshots)
    captions = [f"screenshot {n} shows page {page}" for n, (page, _) in enumerate(shots, 1)]
    user = PROMPT.fill(
        "user",
        goal=trajectory.goal or trajectory.task.goal,
        count=str(count),
        ending=str(trajectory.ending),
        screenshots="; ".join(captions) or "none",
        course="\n\n".join(fence(name, text) for name, text in parts.items()),
        verdicts=fence("verdicts", verdicts or "nothing"),
    )
    messages = (
        Message("system", PROMPT.fill("system")),
        Message("user", user, tuple(image for _, image in shots)),
    )
    seed = zlib.crc32(trajectory.id.encode()) & 0x7FFFFFF

    async def ask(conversation: tuple[Message, ...]) -> Reply:
        async with asyncio.timeout(settings.timeout):
            completion = await model.complete(
                conversation, seed=seed, max_tokens=settings.max_tokens
            )
        return completion.replies[0]

    try:
        finding = await ask_and_read(
            ask,
            messages,
            lambda text: _read_cause(text, parts, count),
            lambda problem: PROMPT.fill("again", problem=problem),
        )
    except TimeoutError:
        reason = f"the model failed: {model.name} did not reply within {settings.timeout:g} s"
    except ModelError as error:
        reason = f"the model failed: {error}"
    except UnusableError as error:
        reason = f"no usable reply, asked twice: {error}"
    else:
        return build_attribution(trajectory, finding, source)
    return build_attribution(
        trajectory, CauseFinding(Cause.UNKNOWN, "abstained", None, reason), source
    )


def _read_cause(text: str, parts: dict[str, str], count: int) -> CauseFinding:
    """Return the finding of a reply. Raises `UnusableError`."""
    reply = read_form(text, _CauseReply, strict=True)
    if reply.step is not None and not 1 <= reply.step <= count:
        raise UnusableError(f"the steps are 1 to {count}, but the reply names step {reply.step}")
    if reply.cause != "unknown" and not reply.quotes:
        raise UnusableError(f"{reply.cause} is named without a supporting quote")
    for quote in reply.quotes:
        where = quote.where.strip().lower()
        if where not in parts:
            raise UnusableError(f"there is no {quote.where!r}; there are {', '.join(parts)}")
        if not appears_in(quote.quote, parts[where]):
            raise UnusableError(f"the quote {quote.quote!r} was not found on {where}")
    evidence = tuple(f"{quote.where}: {quote.quote}" for quote in reply.quotes)
    step = None if reply.step is None else reply.step - 1
    return CauseFinding(Cause(reply.cause), reply.kind, step, reply.reason, evidence)


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
