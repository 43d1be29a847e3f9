"""Published judges: what each shows a model, in which order, and how its replies are read."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from evaluators.judge.keypoints import KeyPointFinder, Rating, format_points, rate_by_model
from evaluators.judge.pages import (
    EvidencePage,
    collect_images,
    find_claim,
    format_actions,
    format_captions,
    format_pages,
    format_reasoned_actions,
)
from evaluators.judge.report import JudgeOutcome, JudgeVote, VoteOutcome, record_shown
from evaluators.judge.session import JudgePrompt, JudgeSession, apply_form, choose_form
from webagent.errors import ModelError
from webagent.models.model import Message
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError
from webagent.observation import render as render_page
from webagent.records import Trajectory

_SUCCESS = re.compile(r"\bSUCCESS(FUL)?\b")
_NO_SUCCESS = re.compile(r"\bNOT\W+(A\W+)?SUCCESS")
_STATUS = re.compile(r"status\W*\b(success|failure)\b", re.IGNORECASE)
_TAGS = {"side": "side_effect", "optimal": "optimality", "loop": "looping"}
_CHOICES = {
    "side": ("Yes", "No"),
    "loop": ("Yes", "No"),
    "optimal": (
        "1. Complete Failure",
        "2. Suboptimal",
        "3. Somewhat Optimal",
        "4. Completely Optimal",
    ),
}


def read_verdict(text: str) -> JudgeVote:
    """Read SUCCESS or NOT SUCCESS, in capitals and anywhere, as WebVoyager and PAE read it.

    `**NOT** SUCCESS` and `NOT A SUCCESS`, which they take for a success, are failures here, and
    `UNSUCCESSFUL` is nothing. Raises `UnusableError` where neither is said; WebVoyager leaves such
    an episode out, PAE counts it as failed.
    """
    if not _SUCCESS.search(text):
        raise UnusableError("the verdict is missing; expected SUCCESS or NOT SUCCESS")
    return JudgeVote("failure" if _NO_SUCCESS.search(text) else "success", _brief(text))


def read_status(text: str) -> JudgeVote:
    """Return the word behind the last `Status:`, WebJudge's form.

    Raises `UnusableError` where it is neither success nor failure. WebJudge looks for the letters
    `success` behind the first `Status:`, which `unsuccessful` has, too, and counts all else as
    failed.
    """
    found = _STATUS.findall(text)
    if not found:
        raise UnusableError(
            'the verdict is missing; expected a line Status: "success" or "failure"'
        )
    return JudgeVote("success" if found[-1].lower() == "success" else "failure", _brief(text))


def read_questions(text: str) -> JudgeVote:
    """Read AgentRewardBench's four answers, each in its tag; only success has to be there.

    Raises `UnusableError` where success is not said.
    """
    success = (_tagged(text, "success") or "").lower()
    if success not in ("successful", "unsuccessful"):
        raise UnusableError(
            f"the answer on success is {success!r}; expected <success>Successful</success> or"
            " <success>Unsuccessful</success>"
        )
    answers = {}
    for tag, name in _TAGS.items():
        given = (_tagged(text, tag) or "").lower()
        for choice in _CHOICES[tag]:
            # A choice of optimality may also be given by its number.
            if given == choice.lower() or (tag == "optimal" and given == choice[:1]):
                answers[name] = choice
                break
    outcome: VoteOutcome = "success" if success == "successful" else "failure"
    return JudgeVote(outcome, _brief(_tagged(text, "reasoning") or ""), answers=answers)


def _tagged(text: str, tag: str) -> str | None:
    found = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return found[1].strip() if found else None


def _brief(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 600 else f"… {flat[-600:]}"


Page = TypeVar("Page")
PROMPT = Path(__file__).parent / "prompts" / "outcome.md"


@dataclass(frozen=True, slots=True)
class Style:
    """How one of them puts its question."""

    rules: str
    """Section of the prompt with its criteria."""
    reply: str
    """Section of the prompt with the form of its reply."""
    read: Callable[[str], JudgeVote]
    which: str
    """What the pages shown are called."""


WEBVOYAGER = Style("webvoyager", "verdict_reply", read_verdict, "The last pages")
PAE = Style("pae", "verdict_reply", read_verdict, "The last pages")
WEBJUDGE = Style("webjudge", "status_reply", read_status, "The pages that matter")
AGENTREWARDBENCH = Style("agentrewardbench", "questions_reply", read_questions, "The last page")


async def judge_as_webvoyager(
    session: JudgeSession,
    trajectory: Trajectory,
    key_points: KeyPointFinder,
    style: Style = WEBVOYAGER,
) -> JudgeOutcome:
    """Show task, final answer and the last screenshots; read one verdict.

    He et al., WebVoyager, arXiv 2401.13919; evaluation/auto_eval.py of MinorJerry/WebVoyager. An
    episode without an answer has failed, without a question, as there. Deviations: the closing line
    stands before the screenshots, as a message's images come last; the answer is fenced.
    """
    claim = find_claim(trajectory)
    settings = session.context.settings
    if claim.stance != "done" and settings.answer_needed:
        return JudgeOutcome(
            (JudgeVote("failure", "the episode ended without an answer; nothing was asked"),)
        )
    seen = _seen(session, trajectory)[-settings.pages :]
    if not seen:
        return _unseen(session, trajectory)
    blocks = {"answer": fence("answer", claim.answer)}
    prompts = (
        _build_prompt(
            trajectory, style, blocks, pages, f"{len(pages)} of {len(seen)} pages were shown"
        )
        for pages in _halve(seen)
    )
    return await _ask_votes(session, style, prompts)


async def judge_as_pae(
    session: JudgeSession, trajectory: Trajectory, key_points: KeyPointFinder
) -> JudgeOutcome:
    """Show task, final answer and the last three screenshots; read 0 or 1 at temperature 0.

    Zhou et al., Proposer-Agent-Evaluator, arXiv 2412.13194; pae/environment/webgym/utils_eval.py of
    amazon-science/PAE: WebVoyager's inputs with stricter criteria, by which nothing of the answer
    counts that does not show. Deviations as there, and an unreadable verdict abstains.
    """
    return await judge_as_webvoyager(session, trajectory, key_points, PAE)


async def judge_as_webjudge(
    session: JudgeSession, trajectory: Trajectory, key_points: KeyPointFinder
) -> JudgeOutcome:
    """Have each screenshot scored 1 to 5, then show key points, actions and the best of them.

    Xue et al., An Illusion of Progress?, arXiv 2504.01382; src/methods of
    OSU-NLP-Group/Online-Mind2Web. The first 50 screenshots at or above the threshold (3) are kept
    with the reasons of their scores; the agent's answer is shown nowhere. Deviations: screenshots
    are sent as they are stored, not as JPEG; a status is read strictly.
    """
    settings = session.context.settings
    seen = _seen(session, trajectory)
    if not seen:
        return _unseen(session, trajectory)
    goal = trajectory.goal or trajectory.task.goal
    points = await key_points.of(goal, session)
    rated = await rate_by_model(seen, points, goal, session)
    kept = [pair for pair in rated if pair[1].score >= settings.threshold][: settings.pages]

    def build_prompt(pairs: Sequence[tuple[EvidencePage, Rating]]) -> JudgePrompt:
        blocks = {
            "points": format_points(points, with_kind=False),
            "actions": fence("actions", format_actions(trajectory)),
        }
        lines = [f"page {page.number}: {rating.reason}" for page, rating in pairs if rating.reason]
        if lines:
            blocks["seen"] = fence("seen", "\n".join(lines))
        note = f"{len(pairs)} of {len(kept)} pages were shown"
        return _build_prompt(trajectory, WEBJUDGE, blocks, [page for page, _ in pairs], note)

    prompts = map(build_prompt, _halve(kept) or [[]])
    return replace(await _ask_votes(session, WEBJUDGE, prompts), key_points=points)


async def judge_as_agentrewardbench(
    session: JudgeSession, trajectory: Trajectory, key_points: KeyPointFinder
) -> JudgeOutcome:
    """Show goal, actions with reasoning, the final screenshot or tree; read four answers.

    Lù et al., AgentRewardBench, arXiv 2504.08942; agent_reward_bench/judge of
    McGill-NLP/agent-reward-bench. The forms are those of `show`: screenshots, texts (the tree, the
    pruned one where that is too long) or both. Deviations: the page is shown in this project's
    form where no tree was captured; the closing line stands in the system prompt.
    """
    context = session.context
    last = context.views(trajectory)[-1:]
    whole = [replace(each, text=each.observation.captured or each.text) for each in last]
    pruned = [
        replace(each, text=render_page(each.observation, context.settings.page_tokens // 4))
        for each in last
    ]
    views = [apply_form(context, view, "screenshots") for view in (whole, pruned)]
    if not any(each.has_content for each in views[0]):
        return _unseen(session, trajectory)
    blocks = {"steps": fence("steps", format_reasoned_actions(trajectory))}
    prompts = (
        _build_prompt(trajectory, AGENTREWARDBENCH, blocks, view, "the last page was shortened")
        for view in views
    )
    return await _ask_votes(session, AGENTREWARDBENCH, prompts)


async def _ask_votes(
    session: JudgeSession, style: Style, prompts: Iterator[JudgePrompt]
) -> JudgeOutcome:
    case, replies = await session.ask_first_fitting(prompts)
    votes = []
    for reply in replies:
        try:
            vote = await session.settle(case.messages, reply, style.read, load_prompt(PROMPT))
        except (UnusableError, ModelError) as error:
            vote = JudgeVote("unusable", str(error))
        votes.append(vote)
    return JudgeOutcome(tuple(votes), shown=record_shown(case.views))


def _build_prompt(
    trajectory: Trajectory,
    style: Style,
    blocks: Mapping[str, str],
    pages: Sequence[EvidencePage],
    note: str,
) -> JudgePrompt:
    """Return the question: the blocks in their order, then the texts, then the screenshots."""
    prompt = load_prompt(PROMPT)
    parts = [prompt.fill(name, **{name: text}) for name, text in blocks.items()]
    if any(page.text for page in pages):
        parts.append(prompt.fill("pages", which=style.which, pages=format_pages(pages)))
    if any(page.image is not None for page in pages):
        parts.append(
            prompt.fill("screenshots", which=style.which, screenshots=format_captions(pages))
        )
    rules, form = prompt.fill(style.rules), prompt.fill(style.reply)
    goal = trajectory.goal or trajectory.task.goal
    brief = prompt.fill("user", task=goal, exhibits="\n\n".join(parts))
    messages = (
        Message("system", prompt.fill("system", rules=rules, reply=form)),
        Message("user", brief, collect_images(pages)),
    )
    return JudgePrompt(messages, tuple(pages), note)


def _seen(session: JudgeSession, trajectory: Trajectory) -> list[EvidencePage]:
    """Return the pages that have something in the form they are shown in."""
    views = session.context.views(trajectory)
    return [each for each in apply_form(session.context, views, "screenshots") if each.has_content]


def _unseen(session: JudgeSession, trajectory: Trajectory) -> JudgeOutcome:
    form = choose_form(session.context, "screenshots")
    count = len(trajectory.steps) + (trajectory.last is not None)
    what = {"screenshots": "a screenshot that can be found", "texts": "text"}
    return JudgeOutcome(
        abstains=f"nothing to see: none of {count} pages has {what.get(form, 'content')}; judge"
        " with another `show`, or collect with screenshots"
    )


def _halve(pages: Sequence[Page]) -> list[Sequence[Page]]:
    """Return all pages, then the last half, and so on down to the last one."""
    counts = [len(pages)]
    while counts[-1] > 1:
        counts.append(counts[-1] // 2)
    return [pages[-count:] for count in counts if count]
