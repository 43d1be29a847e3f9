"""The variant that looks for evidence first: a verdict on each key point, the outcome from them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from evaluators.judge.findings import Evidence, RefusedError, read_comparisons, read_findings
from evaluators.judge.keypoints import KeyPointFinder, format_points, rank_by_words, rate_by_model
from evaluators.judge.page_claims import PageClaims
from evaluators.judge.pages import (
    Claim,
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
class _Matter:
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
    before = session.context.whole(trajectory.steps[0].observation) if acted else ""
    unchanged = views[0].number if acted and seen[0].has_content else 0
    matter = _Matter(
        session, trajectory, goal, points, format_actions(trajectory), before, unchanged
    )
    chosen = await _chosen(matter, views)
    votes = session.context.settings.votes
    case, replies = await session.ask_first_fitting(
        _cases(matter, chosen),
        n=votes,
        temperature=session.context.settings.temperature if votes > 1 else 0.0,
    )
    return JudgeOutcome(
        tuple([await _vote(matter, case, reply) for reply in replies]),
        points,
        record_shown(case.views),
    )


async def _chosen(matter: _Matter, views: Sequence[EvidencePage]) -> tuple[EvidencePage, ...]:
    """Return the pages that bear on the points, within the limit; the last one always."""
    settings = matter.session.context.settings
    if settings.relevance == "words":
        return select_relevant(rank_by_words(views, matter.points, matter.goal), settings.pages)
    rated = await rate_by_model(views, matter.points, matter.goal, matter.session)
    last = rated[-1][0]
    kept = [page for page, rating in rated[:-1] if rating.score >= settings.threshold]
    return select_relevant((*kept, last), settings.pages)


def _cases(matter: _Matter, chosen: Sequence[EvidencePage]) -> Iterator[JudgePrompt]:
    count = len(chosen)
    while count:
        views = limit_images(
            select_relevant(chosen, count), matter.session.context.settings.screenshots
        )
        note = f"{count} of {len(chosen)} pages were shown"
        yield JudgePrompt(_messages(matter, views), views, note)
        count //= 2


def _messages(matter: _Matter, views: Sequence[EvidencePage]) -> tuple[Message, ...]:
    prompt = load_prompt(PROMPT)
    brief = prompt.fill(
        "user",
        task=matter.goal,
        points=format_points(matter.points, with_kind=True),
        ending=str(matter.trajectory.ending),
        actions=fence("actions", matter.actions),
        pages=format_pages(views),
        screenshots=format_captions(views),
    )
    return (
        Message("system", prompt.fill("system")),
        Message("user", brief, collect_images(views)),
    )


async def _vote(matter: _Matter, case: JudgePrompt, reply: Reply) -> JudgeVote:
    """Return what one reply comes to; unusable where it, or what it leads to, cannot be used."""
    evidence = Evidence(
        {each.number: each.text for each in case.views if each.text},
        frozenset(each.number for each in case.views if each.image is not None),
        matter.actions,
        PageClaims.of(matter.goal),
        matter.before,
        matter.unchanged,
    )
    read = partial(read_findings, points=matter.points, evidence=evidence)
    try:
        found = await _settled(matter, case, reply, read)
        return await _compared(matter, found, find_claim(matter.trajectory))
    except (UnusableError, ModelError) as error:
        return JudgeVote("unusable", str(error))


async def _settled(
    matter: _Matter,
    case: JudgePrompt,
    reply: Reply,
    read: Callable[[str], tuple[PointFinding, ...]],
) -> tuple[PointFinding, ...]:
    """Return the findings; a point whose quote is refused the second time, too, cannot be told."""
    try:
        return await matter.session.settle(case.messages, reply, read, load_prompt(PROMPT))
    except RefusedError as refused:
        return refused.found


async def _compared(matter: _Matter, found: tuple[PointFinding, ...], claim: Claim) -> JudgeVote:
    """Return the vote once the agent's answer has been put beside the evidence."""
    answer = claim.answer.strip() if claim.stance == "done" else ""
    if any(point.verdict == "not met" for point in found):
        return _counted(found)
    asked = [n for n, each in enumerate(found, 1) if each.point.asks == "answer"]
    told = [n for n in asked if found[n - 1].verdict == "met"]
    if told and not answer:
        return _counted(
            tuple(
                (replace(each, agreement="missing") if each.point.asks == "answer" else each)
                for each in found
            )
        )
    if told:
        return _counted(await _compare(matter, found, told, answer))
    if asked or not answer or decide_outcome(found) != "success":
        return _counted(found)
    everything = list(range(1, len(found) + 1))
    beside = await _compare(matter, found, everything, answer)
    against = [each for each in beside if each.agreement == "contradicts"]
    if against:
        reason = f"the agent's answer ({against[0].stated!r}) contradicts the evidence"
        return JudgeVote("cannot tell", reason, beside)
    return _counted(beside)


async def _compare(
    matter: _Matter, found: tuple[PointFinding, ...], asked: Sequence[int], answer: str
) -> tuple[PointFinding, ...]:
    prompt = load_prompt(COMPARE)
    lines = [
        f"{n}. {found[n - 1].point.text}\n   {found[n - 1].where}: {found[n - 1].quote or '-'}"
        for n in asked
    ]
    brief = prompt.fill(
        "user",
        task=matter.goal,
        evidence=fence("evidence", "\n".join(lines)),
        answer=fence("answer", answer),
    )
    messages = (Message("system", prompt.fill("system")), Message("user", brief))
    reply = (await matter.session.ask(messages))[0]
    read = partial(read_comparisons, found=found, asked=asked, answer=answer)
    return await matter.session.settle(messages, reply, read, prompt)


def _counted(found: tuple[PointFinding, ...]) -> JudgeVote:
    met = sum(point.settled == "met" for point in found)
    return JudgeVote(decide_outcome(found), f"{met} of {len(found)} points are met", found)
