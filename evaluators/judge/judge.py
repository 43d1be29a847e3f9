"""A judge that looks: evidence for each key point of the task first, the outcome after it."""

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.evaluator import Judged, Verdict, evaluator
from evaluators.judge.findings import Exhibits, Findings, UnusableError, read_findings
from webagent.action import Answer, GiveUp, format_action
from webagent.errors import ModelError, StoreError
from webagent.models.model import Message, Model
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.observation import render as render_page
from webagent.records import Observation, Step, Trajectory

PROMPT = Path(__file__).parent / "prompts" / "judge.md"
_VALUES = {"success": 1.0, "failure": 0.0}


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """How a judge looks and votes."""

    pages: int = 3
    """How many of the last pages, each with its screenshot where there is one."""
    votes: int = 1
    """How often the model is asked; only more than half of the votes make a verdict."""
    temperature: float = 0.7
    """Of the votes when there are several; a single one is taken at 0."""
    max_tokens: int = 2048
    score: str = "success"


@dataclass(frozen=True, slots=True)
class _Court:
    """A judge's model with the ways it sees."""

    model: Model
    render: Callable[[Observation], str]
    images: Callable[[str], bytes] | None
    settings: JudgeSettings
    prompt: Prompt


def looking_judge(
    model: Model,
    images: Callable[[str], bytes] | None = None,
    settings: JudgeSettings = JudgeSettings(),
    *,
    render: Callable[[Observation], str] = render_page,
    prompt: Prompt | None = None,
) -> Judged:
    """The evaluator that shows a model the last pages and takes the majority of its votes.

    `images` looks a screenshot up by its reference; without it, or with a model that does not look
    at images, the pages are judged as text. The agent's thoughts and answer are kept out of the
    evidence, and quotes from pages and actions are checked to be there. A judgement that cannot be
    used is asked for once more. Abstains when there is nothing to see, when the votes do not agree,
    and when the model fails: an outage is never a failure of the agent.
    """
    court = _Court(model, render, images, settings, prompt or load_prompt(PROMPT))
    version = f"1#{court.prompt.hash}"
    name = f"judge[{model.name}, {settings.pages} pages, {settings.votes} votes]"

    @evaluator(name, version=version, score=settings.score)
    async def judge(trajectory: Trajectory) -> Verdict:
        seen = _last_pages(trajectory, settings.pages)
        shots = [_screenshot(court, page) for page in seen]
        if not any(page.nodes for page in seen) and not any(shots):
            return Verdict(None, "nothing to see: no page with content was recorded")
        try:
            return _majority(await _votes(court, trajectory, seen, shots))
        except ModelError as error:
            return Verdict(None, f"the judge's model failed: {error}")

    return judge


async def _votes(
    court: _Court,
    trajectory: Trajectory,
    seen: Sequence[Observation],
    shots: Sequence[bytes | None],
) -> list[Findings | UnusableError]:
    exhibits = Exhibits(
        pages=tuple(_page(court, page) for page in seen),
        screenshots=sum(shot is not None for shot in shots),
        actions=_actions(trajectory.steps),
    )
    messages = (
        Message("system", court.prompt.fill("system")),
        Message(
            "user",
            _brief(court, trajectory, exhibits, shots),
            tuple(shot for shot in shots if shot is not None),
        ),
    )
    votes = court.settings.votes
    completion = await court.model.complete(
        messages,
        n=votes,
        temperature=court.settings.temperature if votes > 1 else 0.0,
        seed=_seed(trajectory),
        max_tokens=court.settings.max_tokens,
    )
    return [
        await _settle(court, messages, reply.text, exhibits, _seed(trajectory) + index)
        for index, reply in enumerate(completion.replies)
    ]


async def _settle(
    court: _Court, messages: tuple[Message, ...], text: str, exhibits: Exhibits, seed: int
) -> Findings | UnusableError:
    """What a reply found, asked for once more where it cannot be used."""
    try:
        return read_findings(text, exhibits)
    except UnusableError as error:
        asked = court.prompt.fill("again", problem=str(error))
    said = Message("assistant", text or "(an empty reply)")
    completion = await court.model.complete(
        (*messages, said, Message("user", asked)), seed=seed, max_tokens=court.settings.max_tokens
    )
    try:
        return read_findings(completion.replies[0].text, exhibits)
    except UnusableError as error:
        return error


def _majority(votes: Sequence[Findings | UnusableError]) -> Verdict:
    """More than half of all votes, abstentions counted among them."""
    outcomes = [vote.outcome if isinstance(vote, Findings) else "unusable" for vote in votes]
    leading, count = Counter(outcomes).most_common(1)[0]
    tally = f"{count} of {len(votes)} votes" if len(votes) > 1 else "judged"
    reason = str(votes[outcomes.index(leading)])
    if leading in _VALUES and 2 * count > len(votes):
        return Verdict(_VALUES[leading], f"{tally} {leading}: {reason}")
    return Verdict(None, f"{', '.join(outcomes)}: {reason}")


def _brief(
    court: _Court, trajectory: Trajectory, exhibits: Exhibits, shots: Sequence[bytes | None]
) -> str:
    pages = [fence(f"page {n}", text) for n, text in enumerate(exhibits.pages, start=1)]
    shown = [number for number, shot in enumerate(shots, start=1) if shot is not None]
    captions = [f"screenshot {n} shows page {page}" for n, page in enumerate(shown, start=1)]
    return court.prompt.fill(
        "user",
        goal=trajectory.goal or trajectory.task.goal,
        ending=str(trajectory.ending),
        actions=fence("actions", exhibits.actions),
        pages="\n\n".join(pages),
        screenshots="; ".join(captions) or "none",
        claims=fence("claims", _claims(trajectory.steps)),
    )


def _last_pages(trajectory: Trajectory, count: int) -> list[Observation]:
    seen = [step.observation for step in trajectory.steps]
    if trajectory.last is not None:
        seen.append(trajectory.last)
    return seen[-count:]


def _screenshot(court: _Court, page: Observation) -> bytes | None:
    """The page's screenshot, where there is one, it can be found and the model can look at it."""
    if court.images is None or not page.screenshot or not court.model.capabilities.images:
        return None
    try:
        return court.images(page.screenshot)
    except StoreError:
        return None


def _page(court: _Court, page: Observation) -> str:
    return f"{page.title}\n{page.url}\n\n{court.render(page)}"


def _actions(steps: Sequence[Step]) -> str:
    """What was done, without the agent's words about it."""
    lines = [f"{number}. {_done(step)}" for number, step in enumerate(steps, start=1)]
    return "\n".join(lines) or "nothing"


def _done(step: Step) -> str:
    action = step.decision.action
    if isinstance(action, Answer | GiveUp):
        return "said that it had finished" if isinstance(action, Answer) else "gave up"
    target = step.observation.node(getattr(action, "mark", 0))
    return format_action(action) + (f' on {target.role} "{target.name}"' if target else "")


def _claims(steps: Sequence[Step]) -> str:
    if not steps:
        return "none"
    decision = steps[-1].decision
    said = {Answer: "answer", GiveUp: "reason for giving up"}.get(type(decision.action), "")
    lines = [f"{said}: {format_action(decision.action)}"] * bool(said)
    lines += [f"last thought: {decision.thought}"] * bool(decision.thought)
    return "\n".join(lines) or "none"


def _seed(trajectory: Trajectory) -> int:
    return zlib.crc32(trajectory.id.encode()) & 0x7FFFFFF
