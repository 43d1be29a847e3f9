"""A model asked for the cause where the rules found none, and held to what it quotes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evaluators.attribution.attribute import select_headlines
from evaluators.attribution.cause import Attribution, Cause, CauseFinding, build_attribution
from evaluators.attribution.episode import appears_in
from evaluators.steps.model import (
    EpisodeQuestion,
    StepJudgeSettings,
    ask_of_episode,
    format_parts,
)
from webagent.models.model import Model
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError, read_form
from webagent.observation import render as render_page
from webagent.records import Observation, Score, Trajectory

PROMPT = load_prompt(Path(__file__).parent / "prompts" / "attribution.md")


SETTINGS = StepJudgeSettings(screenshots=10, max_tokens=1024)


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
    settings: StepJudgeSettings = SETTINGS,
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
    verdicts = "\n".join(
        f"{one.evaluator}: {one.value}, {one.reason}" for one in select_headlines(scores)
    )
    slots = {
        "course": "\n\n".join(fence(name, text) for name, text in parts.items()),
        "verdicts": fence("verdicts", verdicts or "nothing"),
    }
    asked, count = EpisodeQuestion(trajectory, PROMPT, slots), len(trajectory.steps)
    finding, reason = await ask_of_episode(
        model, asked, images, settings, lambda text: _read_cause(text, parts, count)
    )
    finding = finding or CauseFinding(Cause.UNKNOWN, "abstained", None, reason)
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
