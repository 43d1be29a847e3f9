"""The variant that looks for evidence: a verdict on each key point, the outcome from them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from evaluators.judge.keypoints import KeyPointFinder, format_points, rank_by_words, rate_by_model
from evaluators.judge.pages import (
    EvidencePage,
    PageClaims,
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
from webagent.models.replies import UnusableError, read_form
from webagent.records import Trajectory

_WHERE = re.compile(r"(page|screenshot) (\d+)|actions")
_UNSEEN = re.compile("[\"'“”‘’`\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad]")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a judge was shown as evidence, for its quotes to be looked up in."""

    pages: dict[int, str]
    """Texts by the number of the page."""
    screenshots: frozenset[int]
    """Numbers of the pages whose screenshots were attached."""
    actions: str
    page_claims: PageClaims = field(default_factory=partial(PageClaims.of, ""))
    """Finds lines that talk about the task."""
    before: str = ""
    """What stood on the first page, where anything was done afterwards."""
    unchanged: int = 0
    """Number of the page that looks as the first one, where anything was done afterwards."""


class RefusedError(UnusableError):
    """Quotes that stand where they are said to, and show nothing."""

    def __init__(self, found: tuple[PointFinding, ...]) -> None:
        self.found = found
        """What is left: the points whose quotes are refused are `cannot tell`."""
        problems = [
            f"point {number}: {each.quote!r} on {each.where} {each.refusal}"
            for number, each in enumerate(found, start=1)
            if each.refusal
        ]
        super().__init__(
            f"{'; '.join(problems)}; quote what shows the state of the site, or say that you"
            " cannot tell"
        )


class _Finding(BaseModel):
    point: int
    where: str = "nowhere"
    quote: str = ""
    verdict: Literal["met", "not met", "cannot tell"]


class _Findings(BaseModel):
    findings: list[_Finding] = Field(min_length=1)


class _Comparison(BaseModel):
    point: int
    agreement: Literal["agrees", "contradicts", "missing", "cannot tell"]
    stated: str = ""


class _Comparisons(BaseModel):
    comparisons: list[_Comparison] = Field(min_length=1)


def read_findings(
    text: str, points: Sequence[KeyPoint], evidence: Evidence
) -> tuple[PointFinding, ...]:
    """Return one verdict for each point, whose evidence is there.

    Quotes from pages and actions are looked up, whatever their case, spacing and quotation marks;
    `…` stands for words left out. Quotes from screenshots are taken on trust unless the page's
    text has them, too. Raises `UnusableError` with what is wrong, and `RefusedError` where quotes
    speak of the task, tell an action alone, or all stood on the first page before anything was
    done.
    """
    findings = read_form(text, _Findings).findings
    given = {each.point: each for each in findings}
    numbers = sorted(each.point for each in findings)
    if numbers != list(range(1, len(points) + 1)):
        raise UnusableError(
            f"the points judged are {numbers}; expected each of 1 to {len(points)} once"
        )
    found = []
    for number, point in enumerate(points, start=1):
        each = given[number]
        finding = PointFinding(point, each.verdict, each.where, each.quote)
        found.append(_look_up(finding, number, evidence))
    # Where all that is met on the site was so before anything was done, nothing was achieved.
    met = [each for each in found if each.point.asks == "state" and each.verdict == "met"]
    is_unchanged = all(
        appears_in(each.quote, evidence.before)
        if each.quote
        else each.where == f"screenshot {evidence.unchanged}"
        for each in met
    )
    if is_unchanged and not any(each.verdict == "not met" for each in found):
        why = "stood there before anything was done, as did all that is quoted"
        found = [_refuse(each, why) if each in met else each for each in found]
    if any(each.refusal for each in found):
        raise RefusedError(tuple(found))
    return tuple(found)


def read_comparisons(
    text: str, found: Sequence[PointFinding], compared: Sequence[int], answer: str
) -> tuple[PointFinding, ...]:
    """Return the points with how the agent's answer stands to those compared about, counted from 1.

    Agreement needs words that stand in the answer. Raises `UnusableError` with what is wrong.
    """
    given = {each.point: each for each in read_form(text, _Comparisons).comparisons}
    if set(given) != set(compared):
        raise UnusableError(f"the points compared are {sorted(given)}; expected {sorted(compared)}")
    for number, each in given.items():
        if each.agreement == "agrees" and not appears_in(each.stated, answer):
            raise UnusableError(f"point {number}: {each.stated!r} was not found in the answer")
    return tuple(
        replace(point, agreement=given[number].agreement, stated=given[number].stated)
        if number in given
        else point
        for number, point in enumerate(found, start=1)
    )


def appears_in(quote: str, shown: str) -> bool:
    """Return whether the parts of the quote follow each other in what was shown."""
    parts = [part for part in map(_plain, re.split(r"…|\.\.\.", quote)) if part]
    text, position = _plain(shown), 0
    for part in parts:
        found = text.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    return bool(parts)


def _look_up(found: PointFinding, number: int, evidence: Evidence) -> PointFinding:
    """Return the finding with its quote looked up; only what is not met may have no quote."""
    if found.verdict != "met" and not found.quote:
        return found
    place = found.where.strip().lower()
    match = _WHERE.fullmatch(place)
    if match is None:
        raise UnusableError(
            f"point {number} is {found.verdict} by {found.quote!r}, but {found.where!r} is no page,"
            " screenshot or action to see it on"
        )
    kind, page = match[1] or "actions", int(match[2] or 0)
    available = evidence.screenshots if kind == "screenshot" else evidence.pages.keys()
    if kind != "actions" and page not in available:
        numbers = ", ".join(map(str, sorted(available))) or "none"
        raise UnusableError(f"there is no {found.where}; {kind}s shown: {numbers}")
    text = evidence.actions if kind == "actions" else evidence.pages.get(page, "")
    stands = appears_in(found.quote, text)
    if kind != "screenshot" and not stands:
        raise UnusableError(
            f"point {number}: the quote {found.quote!r} was not found on {found.where}"
        )
    found = replace(found, where=place, is_looked_up=stands)
    return _refuse(found, _find_refusal(found, kind, text, evidence.page_claims))


def _refuse(found: PointFinding, why: str) -> PointFinding:
    return replace(found, verdict="cannot tell", refusal=why) if why else found


def _find_refusal(found: PointFinding, kind: str, text: str, page_claims: PageClaims) -> str:
    """Return why the quote carries no verdict wherever it stands; empty where it may."""
    if found.verdict == "cannot tell":
        return ""
    if kind == "actions":
        return "is what was tried, not what came of it" if found.verdict == "met" else ""
    if kind == "screenshot" and not found.is_looked_up:
        return page_claims.explain(found.quote) or _explain_off_topic(
            found, [found.quote], page_claims
        )
    claim = page_claims.find_claim(found.quote)
    if claim or not found.quote:
        return claim
    parts = [part for part in map(_plain, re.split(r"…|\.\.\.", found.quote)) if part]
    lines = [
        line
        for line in text.splitlines()
        if (shown := _plain(line)) and any(part in shown or shown in part for part in parts)
    ] or [found.quote]
    if not appears_in(found.quote, page_claims.remove_claims(text)):
        why = next(filter(None, map(page_claims.explain, lines)), "speaks of the task")
        return f"belongs to a line that {why}"
    return _explain_off_topic(found, lines, page_claims)


def _explain_off_topic(found: PointFinding, lines: Sequence[str], page_claims: PageClaims) -> str:
    """Return why a quote does not make a state hold; empty where it names what the task does."""
    shows_state = found.point.asks == "state" and found.verdict == "met"
    if shows_state and page_claims.is_off_topic(lines, found.point.text):
        return "names nothing of what the task asks for"
    return ""


def _plain(text: str) -> str:
    """Return the words alone, in one case, without quotation and direction marks."""
    text = unicodedata.normalize("NFKC", text.replace("\\n", " ")).casefold()
    return " ".join(_UNSEEN.sub("", text).split())


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
    settings = subject.session.context.settings
    if settings.relevance == "words":
        chosen = select_relevant(rank_by_words(views, subject.points, subject.goal), settings.pages)
    else:
        rated = await rate_by_model(views, subject.points, subject.goal, subject.session)
        last = rated[-1][0]
        kept = [page for page, rating in rated[:-1] if rating.score >= settings.threshold]
        chosen = select_relevant((*kept, last), settings.pages)
    case, replies = await session.ask_first_fitting(_build_prompts(subject, chosen))
    votes = [await _vote(subject, case, reply) for reply in replies]
    return JudgeOutcome(tuple(votes), points, record_shown(case.views))


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
            # A point whose quote is refused the second time, too, is `cannot tell`.
            found = refused.found
        claim = find_claim(subject.trajectory)
        answer = claim.answer.strip() if claim.stance == "done" else ""
        if any(point.verdict == "not met" for point in found):
            return _count_points(found)
        answers = [n for n, each in enumerate(found, 1) if each.point.asks == "answer"]
        met = [n for n in answers if found[n - 1].verdict == "met"]
        if met and not answer:
            missing = (
                replace(each, agreement="missing") if each.point.asks == "answer" else each
                for each in found
            )
            return _count_points(tuple(missing))
        if met:
            return _count_points(await _compare(subject, found, met, answer))
        if answers or not answer or decide_outcome(found) != "success":
            return _count_points(found)
        compared = await _compare(subject, found, range(1, len(found) + 1), answer)
        against = [each for each in compared if each.agreement == "contradicts"]
        if against:
            reason = f"the agent's answer ({against[0].stated!r}) contradicts the evidence"
            return JudgeVote("cannot tell", reason, compared)
        return _count_points(compared)
    except (UnusableError, ModelError) as error:
        return JudgeVote("unusable", str(error))


async def _compare(
    subject: _JudgementSubject,
    found: tuple[PointFinding, ...],
    compared: Sequence[int],
    answer: str,
) -> tuple[PointFinding, ...]:
    prompt = load_prompt(COMPARE)
    lines = [
        f"{n}. {found[n - 1].point.text}\n   {found[n - 1].where}: {found[n - 1].quote or '-'}"
        for n in compared
    ]
    user = prompt.fill(
        "user",
        task=subject.goal,
        evidence=fence("evidence", "\n".join(lines)),
        answer=fence("answer", answer),
    )
    messages = (Message("system", prompt.fill("system")), Message("user", user))
    reply = (await subject.session.ask(messages))[0]
    read = partial(read_comparisons, found=found, compared=compared, answer=answer)
    return await subject.session.settle(messages, reply, read, prompt)


def _count_points(found: tuple[PointFinding, ...]) -> JudgeVote:
    met = sum(point.settled == "met" for point in found)
    return JudgeVote(decide_outcome(found), f"{met} of {len(found)} points are met", found)
