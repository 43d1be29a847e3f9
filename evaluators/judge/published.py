"""Published judges by what they show, in which order, and how their replies are read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from evaluators.judge.conduct import actions_of, claim_of, reasoned_actions_of
from evaluators.judge.court import Case, Hearing
from evaluators.judge.examination import Vote
from evaluators.judge.exhibits import Exhibit, captions, images_of, pages_text
from evaluators.judge.keypoints import KeyPoints, numbered
from evaluators.judge.relevance import Rating, rated_by_model
from evaluators.judge.replies import read_questions, read_status, read_verdict
from evaluators.judge.ruling import Ruling, shown
from evaluators.judge.show import as_shown, form_of
from webagent.errors import ModelError
from webagent.models.model import Message, Reply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError
from webagent.observation import render as render_page
from webagent.records import Trajectory

Page = TypeVar("Page")
PROMPT = Path(__file__).parent / "prompts" / "outcome.md"


@dataclass(frozen=True, slots=True)
class Style:
    """How one of them puts its question."""

    rules: str
    """Section of the prompt with its criteria."""
    reply: str
    """Section of the prompt with the form of its reply."""
    read: Callable[[str], Vote]
    which: str
    """What the pages shown are called."""


WEBVOYAGER = Style("webvoyager", "verdict_reply", read_verdict, "The last pages")
PAE = Style("pae", "verdict_reply", read_verdict, "The last pages")
WEBJUDGE = Style("webjudge", "status_reply", read_status, "The pages that matter")
AGENTREWARDBENCH = Style("agentrewardbench", "questions_reply", read_questions, "The last page")


async def judge_as_webvoyager(
    hearing: Hearing, trajectory: Trajectory, key_points: KeyPoints, style: Style = WEBVOYAGER
) -> Ruling:
    """Task, final answer and the last screenshots; one verdict.

    He et al., WebVoyager, arXiv 2401.13919; evaluation/auto_eval.py of MinorJerry/WebVoyager. An
    episode without an answer has failed, without a question, as there. Deviations: the closing line
    stands before the screenshots, as a message's images come last; the answer is fenced.
    """
    claim = claim_of(trajectory)
    settings = hearing.court.settings
    if claim.stance != "done" and settings.answer_needed:
        return Ruling((Vote("failure", "the episode ended without an answer; nothing was asked"),))
    seen = _seen(hearing, trajectory)[-settings.pages :]
    if not seen:
        return _unseen(hearing, trajectory)
    blocks = {"answer": fence("answer", claim.answer)}
    cases = (
        _case(trajectory, style, blocks, pages, f"{len(pages)} of {len(seen)} pages were shown")
        for pages in _halved(seen)
    )
    return await _ruled(hearing, style, cases)


async def judge_as_pae(hearing: Hearing, trajectory: Trajectory, key_points: KeyPoints) -> Ruling:
    """Task, final answer and the last three screenshots; 0 or 1 at temperature 0.

    Zhou et al., Proposer-Agent-Evaluator, arXiv 2412.13194; pae/environment/webgym/utils_eval.py of
    amazon-science/PAE: WebVoyager's inputs with stricter criteria, by which nothing of the answer
    is believed that does not show. Deviations as there, and an unreadable verdict abstains.
    """
    return await judge_as_webvoyager(hearing, trajectory, key_points, PAE)


async def judge_as_webjudge(
    hearing: Hearing, trajectory: Trajectory, key_points: KeyPoints
) -> Ruling:
    """Key points, each screenshot scored 1 to 5, then key points, actions and what scored enough.

    Xue et al., An Illusion of Progress?, arXiv 2504.01382; src/methods of
    OSU-NLP-Group/Online-Mind2Web. The first 50 screenshots at or above the threshold (3) are kept
    with the reasons of their scores; the agent's answer is shown nowhere. Deviations: screenshots
    are sent as they are stored, not as JPEG; a status is read strictly.
    """
    settings = hearing.court.settings
    seen = _seen(hearing, trajectory)
    if not seen:
        return _unseen(hearing, trajectory)
    goal = trajectory.goal or trajectory.task.goal
    points = await key_points.of(goal, hearing)
    rated = await rated_by_model(seen, points, goal, hearing)
    kept = [pair for pair in rated if pair[1].score >= settings.threshold][: settings.pages]
    blocks = {
        "points": numbered(points, with_kind=False),
        "actions": fence("actions", actions_of(trajectory)),
    }
    cases = (
        _case(
            trajectory,
            WEBJUDGE,
            {**blocks, **_reasons(pairs)},
            [page for page, _ in pairs],
            f"{len(pairs)} of {len(kept)} pages were shown",
        )
        for pairs in _halved(kept) or [[]]
    )
    return replace(await _ruled(hearing, WEBJUDGE, cases), key_points=points)


async def judge_as_agentrewardbench(
    hearing: Hearing, trajectory: Trajectory, key_points: KeyPoints
) -> Ruling:
    """Goal, actions with reasoning, and the final screenshot or accessibility tree; four answers.

    Lù et al., AgentRewardBench, arXiv 2504.08942; agent_reward_bench/judge of
    McGill-NLP/agent-reward-bench. The forms are those of `show`: screenshots, texts (the tree, the
    pruned one where that is too long) or both. Deviations: the page is shown in this project's
    form where no tree was captured; the closing line stands in the system prompt.
    """
    last = hearing.court.exhibits(trajectory)[-1:]
    whole = [_with_captured(each) for each in last]
    pruned = [
        replace(each, text=render_page(each.observation, hearing.court.settings.page_tokens // 4))
        for each in last
    ]
    views = [as_shown(hearing.court, view, "screenshots") for view in (whole, pruned)]
    if not any(each.has_content for each in views[0]):
        return _unseen(hearing, trajectory)
    blocks = {"steps": fence("steps", reasoned_actions_of(trajectory))}
    cases = (
        _case(trajectory, AGENTREWARDBENCH, blocks, view, "the last page was shortened")
        for view in views
    )
    return await _ruled(hearing, AGENTREWARDBENCH, cases)


async def _ruled(hearing: Hearing, style: Style, cases: Iterator[Case]) -> Ruling:
    settings = hearing.court.settings
    case, replies = await hearing.ask_what_fits(
        cases,
        n=settings.votes,
        temperature=settings.temperature if settings.votes > 1 else 0.0,
    )
    votes = [await _vote(hearing, style, case, reply) for reply in replies]
    return Ruling(tuple(votes), shown=shown(case.exhibits))


async def _vote(hearing: Hearing, style: Style, case: Case, reply: Reply) -> Vote:
    try:
        return await hearing.settle(case.messages, reply, style.read, load_prompt(PROMPT))
    except (UnusableError, ModelError) as error:
        return Vote("unusable", str(error))


def _case(
    trajectory: Trajectory,
    style: Style,
    blocks: Mapping[str, str],
    pages: Sequence[Exhibit],
    note: str,
) -> Case:
    """The question: the blocks in their order, then the texts, then the screenshots."""
    prompt = load_prompt(PROMPT)
    parts = [prompt.fill(name, **{name: text}) for name, text in blocks.items()]
    if any(page.text for page in pages):
        parts.append(prompt.fill("pages", which=style.which, pages=pages_text(pages)))
    if any(page.image is not None for page in pages):
        parts.append(prompt.fill("screenshots", which=style.which, screenshots=captions(pages)))
    rules, form = prompt.fill(style.rules), prompt.fill(style.reply)
    goal = trajectory.goal or trajectory.task.goal
    brief = prompt.fill("user", task=goal, exhibits="\n\n".join(parts))
    messages = (
        Message("system", prompt.fill("system", rules=rules, reply=form)),
        Message("user", brief, images_of(pages)),
    )
    return Case(messages, tuple(pages), note)


def _seen(hearing: Hearing, trajectory: Trajectory) -> list[Exhibit]:
    """The pages that have something in the form they are shown in."""
    exhibits = hearing.court.exhibits(trajectory)
    return [each for each in as_shown(hearing.court, exhibits, "screenshots") if each.has_content]


def _unseen(hearing: Hearing, trajectory: Trajectory) -> Ruling:
    form = form_of(hearing.court, "screenshots")
    count = len(trajectory.steps) + (trajectory.last is not None)
    what = {"screenshots": "a screenshot that can be found", "texts": "text"}
    return Ruling(
        abstains=f"nothing to see: none of {count} pages has {what.get(form, 'content')}; judge"
        " with another `show`, or collect with screenshots"
    )


def _halved(pages: Sequence[Page]) -> list[Sequence[Page]]:
    """All, then the last half, and so on down to the last one."""
    counts = [len(pages)]
    while counts[-1] > 1:
        counts.append(counts[-1] // 2)
    return [pages[-count:] for count in counts if count]


def _reasons(rated: Sequence[tuple[Exhibit, Rating]]) -> dict[str, str]:
    lines = [f"page {page.number}: {rating.reason}" for page, rating in rated if rating.reason]
    return {"seen": fence("seen", "\n".join(lines))} if lines else {}


def _with_captured(exhibit: Exhibit) -> Exhibit:
    captured = exhibit.observation.captured
    return replace(exhibit, text=captured) if captured else exhibit
