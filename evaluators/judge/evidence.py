"""The variant that looks for evidence first: a verdict on each key point, the outcome from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from evaluators.judge.findings import Evidence, RefusedError, read_comparisons, read_findings
from evaluators.judge.keypoints import KeyPointFinder, format_points, rank_by_words, rate_by_model
from evaluators.judge.page_claims import PageClaims
from evaluators.judge.pages import (
    EvidencePage,
    collect_images,
    drop_repeats,
    find_claim,
    format_actions,
    format_captions,
    format_pages,
    has_acted,
    limit_images,
    select_relevant,
)
from evaluators.judge.report import (
    JudgeOutcome,
    JudgeVote,
    KeyPoint,
    PointFinding,
    decide_outcome,
    record_shown,
)
from evaluators.judge.session import JudgePrompt, JudgeSession, apply_form
from webagent.errors import ModelError
from webagent.models.model import Message, Reply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError
from webagent.records import Trajectory

PROMPT = Path(__file__).parent / "prompts" / "judge.md"
COMPARE = Path(__file__).parent / "prompts" / "compare.md"


@dataclass(frozen=True, slots=True)
class _JudgementSubject:
    """What one judgement is about."""

    session: JudgeSession
    trajectory: Trajectory
    goal: str
    points: tuple[KeyPoint, ...]
    actions: str
    before: str
    """The first page as a whole; empty where nothing was done on it."""
    unchanged: int
    """Number of the page that is shown for it, 0 where none is."""


async def judge_by_evidence(
    session: JudgeSession, trajectory: Trajectory, key_points: KeyPointFinder
) -> JudgeOutcome:
    """Judge each key point by the pages that bear on it, then compare the answer with them.

    The agent's thoughts and answer are in none of the questions up to the verdicts; the answer is
    compared with the quoted evidence afterwards, in a question of its own.
    """
    goal = trajectory.goal or trajectory.task.goal
    seen = apply_form(session.context, session.context.views(trajectory), "both")
    views = drop_repeats(seen)
    if not views:
        return JudgeOutcome(abstains="nothing to see: no page with content was recorded")
    if not goal.strip():
        return JudgeOutcome(
            abstains=f"the task {trajectory.task.id} says nothing on what is to be done"
        )
    points = await key_points.of(goal, session)
    acted = has_acted(trajectory)
    subject = _JudgementSubject(
        session,
        trajectory,
        goal,
        points,
        format_actions(trajectory),
        before=session.context.whole(trajectory.steps[0].observation) if acted else "",
        unchanged=views[0].number if acted and seen[0].has_content else 0,
    )
    chosen = await _select_pages(subject, views)
    case, replies = await session.ask_first_fitting(_build_prompts(subject, chosen))
    votes = [await _vote(subject, case, reply) for reply in replies]
    return JudgeOutcome(tuple(votes), points, record_shown(case.views))


async def _select_pages(
    subject: _JudgementSubject, views: Sequence[EvidencePage]
) -> tuple[EvidencePage, ...]:
    """Return the pages that bear on the points, within the limit; the last one always."""
    settings = subject.session.context.settings
    if settings.relevance == "words":
        return select_relevant(rank_by_words(views, subject.points, subject.goal), settings.pages)
    rated = await rate_by_model(views, subject.points, subject.goal, subject.session)
    last = rated[-1][0]
    kept = [page for page, rating in rated[:-1] if rating.score >= settings.threshold]
    return select_relevant((*kept, last), settings.pages)


def _build_prompts(
    subject: _JudgementSubject, chosen: Sequence[EvidencePage]
) -> Iterator[JudgePrompt]:
    """Yield the question with all chosen pages, then with half of them, and so on."""
    prompt = load_prompt(PROMPT)
    screenshots = subject.session.context.settings.screenshots
    count = len(chosen)
    while count:
        views = limit_images(select_relevant(chosen, count), screenshots)
        user = prompt.fill(
            "user",
            task=subject.goal,
            points=format_points(subject.points, with_kind=True),
            ending=str(subject.trajectory.ending),
            actions=fence("actions", subject.actions),
            pages=format_pages(views),
            screenshots=format_captions(views),
        )
        messages = (
            Message("system", prompt.fill("system")),
            Message("user", user, collect_images(views)),
        )
        yield JudgePrompt(messages, views, f"{count} of {len(chosen)} pages were shown")
        count //= 2


async def _vote(subject: _JudgementSubject, case: JudgePrompt, reply: Reply) -> JudgeVote:
    """Return what one reply comes to; unusable where it, or what it leads to, cannot be used."""
    evidence = Evidence(
        {each.number: each.text for each in case.views if each.text},
        frozenset(each.number for each in case.views if each.image is not None),
        subject.actions,
        PageClaims.of(subject.goal),
        subject.before,
        subject.unchanged,
    )
    read = partial(read_findings, points=subject.points, evidence=evidence)
    prompt = load_prompt(PROMPT)
    try:
        try:
            found = await subject.session.settle(case.messages, reply, read, prompt)
        except RefusedError as refused:
            # A point whose quote is refused the second time, too, cannot be told.
            found = refused.found
        return await _vote_with_answer(subject, found)
    except (UnusableError, ModelError) as error:
        return JudgeVote("unusable", str(error))


async def _vote_with_answer(
    subject: _JudgementSubject, found: tuple[PointFinding, ...]
) -> JudgeVote:
    """Return the vote once the agent's answer has been put beside the evidence."""
    claim = find_claim(subject.trajectory)
    answer = claim.answer.strip() if claim.stance == "done" else ""
    if any(point.verdict == "not met" for point in found):
        return _count_points(found)
    asked = [n for n, each in enumerate(found, 1) if each.point.asks == "answer"]
    met = [n for n in asked if found[n - 1].verdict == "met"]
    if met and not answer:
        missing = (
            replace(each, agreement="missing") if each.point.asks == "answer" else each
            for each in found
        )
        return _count_points(tuple(missing))
    if met:
        return _count_points(await _compare(subject, found, met, answer))
    if asked or not answer or decide_outcome(found) != "success":
        return _count_points(found)
    compared = await _compare(subject, found, range(1, len(found) + 1), answer)
    against = [each for each in compared if each.agreement == "contradicts"]
    if against:
        reason = f"the agent's answer ({against[0].stated!r}) contradicts the evidence"
        return JudgeVote("cannot tell", reason, compared)
    return _count_points(compared)


async def _compare(
    subject: _JudgementSubject, found: tuple[PointFinding, ...], asked: Sequence[int], answer: str
) -> tuple[PointFinding, ...]:
    prompt = load_prompt(COMPARE)
    lines = [
        f"{n}. {found[n - 1].point.text}\n   {found[n - 1].where}: {found[n - 1].quote or '-'}"
        for n in asked
    ]
    user = prompt.fill(
        "user",
        task=subject.goal,
        evidence=fence("evidence", "\n".join(lines)),
        answer=fence("answer", answer),
    )
    messages = (Message("system", prompt.fill("system")), Message("user", user))
    reply = (await subject.session.ask(messages))[0]
    read = partial(read_comparisons, found=found, asked=asked, answer=answer)
    return await subject.session.settle(messages, reply, read, prompt)


def _count_points(found: tuple[PointFinding, ...]) -> JudgeVote:
    met = sum(point.settled == "met" for point in found)
    return JudgeVote(decide_outcome(found), f"{met} of {len(found)} points are met", found)
