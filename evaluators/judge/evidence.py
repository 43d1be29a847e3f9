"""The variant that looks for evidence first: a verdict on each key point, the outcome from them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from evaluators.judge.conduct import Claim, actions_of, claim_of, has_acted
from evaluators.judge.court import Case, Hearing
from evaluators.judge.examination import KeyPoint, PointFound, Vote, outcome_of
from evaluators.judge.exhibits import (
    Exhibit,
    best,
    captions,
    images_of,
    pages_text,
    with_images,
    without_repeats,
)
from evaluators.judge.findings import Evidence, RefusedError, read_comparisons, read_findings
from evaluators.judge.hearsay import Hearsay
from evaluators.judge.keypoints import KeyPoints, numbered
from evaluators.judge.relevance import rated_by_model, weighed_by_words
from evaluators.judge.ruling import Ruling, shown
from evaluators.judge.show import as_shown
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

    hearing: Hearing
    trajectory: Trajectory
    goal: str
    points: tuple[KeyPoint, ...]
    actions: str
    before: str
    """The first page as a whole; empty where nothing was done on it."""
    unchanged: int
    """Number of the page that is shown for it, 0 where none is."""


async def judge_by_evidence(
    hearing: Hearing, trajectory: Trajectory, key_points: KeyPoints
) -> Ruling:
    """Key points, the pages that bear on them, a verdict on each, then the answer beside them.

    The agent's thoughts and answer are in none of the questions up to the verdicts; the answer is
    compared with the quoted evidence afterwards, in a question of its own.
    """
    goal = trajectory.goal or trajectory.task.goal
    seen = as_shown(hearing.court, hearing.court.exhibits(trajectory), "both")
    exhibits = without_repeats(seen)
    if not exhibits:
        return Ruling(abstains="nothing to see: no page with content was recorded")
    if not goal.strip():
        return Ruling(abstains=f"the task {trajectory.task.id} says nothing on what is to be done")
    points = await key_points.of(goal, hearing)
    acted = has_acted(trajectory)
    before = hearing.court.whole(trajectory.steps[0].observation) if acted else ""
    unchanged = exhibits[0].number if acted and seen[0].has_content else 0
    matter = _Matter(hearing, trajectory, goal, points, actions_of(trajectory), before, unchanged)
    chosen = await _chosen(matter, exhibits)
    votes = hearing.court.settings.votes
    case, replies = await hearing.ask_what_fits(
        _cases(matter, chosen),
        n=votes,
        temperature=hearing.court.settings.temperature if votes > 1 else 0.0,
    )
    return Ruling(
        tuple([await _vote(matter, case, reply) for reply in replies]), points, shown(case.exhibits)
    )


async def _chosen(matter: _Matter, exhibits: Sequence[Exhibit]) -> tuple[Exhibit, ...]:
    """The pages that bear on the points, within the limit; the last one always."""
    settings = matter.hearing.court.settings
    if settings.relevance == "words":
        return best(weighed_by_words(exhibits, matter.points, matter.goal), settings.pages)
    rated = await rated_by_model(exhibits, matter.points, matter.goal, matter.hearing)
    last = rated[-1][0]
    kept = [page for page, rating in rated[:-1] if rating.score >= settings.threshold]
    return best((*kept, last), settings.pages)


def _cases(matter: _Matter, chosen: Sequence[Exhibit]) -> Iterator[Case]:
    count = len(chosen)
    while count:
        exhibits = with_images(best(chosen, count), matter.hearing.court.settings.screenshots)
        note = f"{count} of {len(chosen)} pages were shown"
        yield Case(_messages(matter, exhibits), exhibits, note)
        count //= 2


def _messages(matter: _Matter, exhibits: Sequence[Exhibit]) -> tuple[Message, ...]:
    prompt = load_prompt(PROMPT)
    brief = prompt.fill(
        "user",
        task=matter.goal,
        points=numbered(matter.points, with_kind=True),
        ending=str(matter.trajectory.ending),
        actions=fence("actions", matter.actions),
        pages=pages_text(exhibits),
        screenshots=captions(exhibits),
    )
    return (
        Message("system", prompt.fill("system")),
        Message("user", brief, images_of(exhibits)),
    )


async def _vote(matter: _Matter, case: Case, reply: Reply) -> Vote:
    """What one reply comes to; unusable where it, or what it leads to, cannot be used."""
    evidence = Evidence(
        {each.number: each.text for each in case.exhibits if each.text},
        frozenset(each.number for each in case.exhibits if each.image is not None),
        matter.actions,
        Hearsay.of(matter.goal),
        matter.before,
        matter.unchanged,
    )
    read = partial(read_findings, points=matter.points, evidence=evidence)
    try:
        found = await _settled(matter, case, reply, read)
        return await _compared(matter, found, claim_of(matter.trajectory))
    except (UnusableError, ModelError) as error:
        return Vote("unusable", str(error))


async def _settled(
    matter: _Matter, case: Case, reply: Reply, read: Callable[[str], tuple[PointFound, ...]]
) -> tuple[PointFound, ...]:
    """The findings; a point whose quote is refused the second time, too, cannot be told."""
    try:
        return await matter.hearing.settle(case.messages, reply, read, load_prompt(PROMPT))
    except RefusedError as refused:
        return refused.found


async def _compared(matter: _Matter, found: tuple[PointFound, ...], claim: Claim) -> Vote:
    """The vote once the agent's answer has been put beside the evidence."""
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
    if asked or not answer or outcome_of(found) != "success":
        return _counted(found)
    everything = list(range(1, len(found) + 1))
    beside = await _compare(matter, found, everything, answer)
    against = [each for each in beside if each.agreement == "contradicts"]
    if against:
        reason = f"the agent's answer ({against[0].stated!r}) contradicts the evidence"
        return Vote("cannot tell", reason, beside)
    return _counted(beside)


async def _compare(
    matter: _Matter, found: tuple[PointFound, ...], asked: Sequence[int], answer: str
) -> tuple[PointFound, ...]:
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
    reply = (await matter.hearing.ask(messages))[0]
    read = partial(read_comparisons, found=found, asked=asked, answer=answer)
    return await matter.hearing.settle(messages, reply, read, prompt)


def _counted(found: tuple[PointFound, ...]) -> Vote:
    met = sum(point.settled == "met" for point in found)
    return Vote(outcome_of(found), f"{met} of {len(found)} points are met", found)
