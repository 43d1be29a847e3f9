"""The key points of a task, and which pages bear on them."""

import asyncio
import math
import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evaluators.judge.pages import EvidencePage, collect_images
from evaluators.judge.report import KeyPoint
from evaluators.judge.session import JudgeContext, JudgeSession, seed_of
from webagent.errors import ModelError
from webagent.models.model import Message
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.models.replies import UnusableError

PROMPT = Path(__file__).parent / "prompts" / "key_points.md"
_MOST = 20
_LINE = re.compile(r"^\s*(?:\*\*)?\d+[.)]\s*(?:\*\*)?\s*(.+?)\s*$", re.MULTILINE)
_KIND = re.compile(r"^\[(state|answer)\]\s*(.+)$", re.IGNORECASE)

Key = tuple[str, str, str]
"""Task text, model and prompt hash: what key points depend on."""


@dataclass(slots=True)
class KeyPointFinder:
    """Finds key points and keeps them; what is given is never asked for."""

    rules: str
    """Section of the prompt with what a point is in this variant."""
    given: Mapping[str, Sequence[str | KeyPoint]] = field(default_factory=dict)
    """Points by the task's text, for tasks whose points are known."""
    kept: MutableMapping[Key, tuple[KeyPoint, ...]] = field(default_factory=dict)
    """What was found so far; may be one that outlives the judge."""
    prompt: Prompt = field(default_factory=lambda: load_prompt(PROMPT))
    _asking: dict[Key, asyncio.Lock] = field(default_factory=dict)

    async def of(self, goal: str, session: JudgeSession) -> tuple[KeyPoint, ...]:
        """Return the points of the task.

        Raises `UnusableError` when two replies could not be read, `ModelError` when there is none.
        """
        if goal in self.given:
            return tuple(map(parse_point, self.given[goal]))
        key = (goal, session.context.model.name, self.prompt.hash)
        async with self._asking.setdefault(key, asyncio.Lock()):
            if key not in self.kept:
                messages = (
                    Message(
                        "system", self.prompt.fill("system", rules=self.prompt.fill(self.rules))
                    ),
                    Message("user", self.prompt.fill("user", task=goal)),
                )
                context: JudgeContext = session.context
                asking = JudgeSession(context, seed_of(goal), session.notes, session.calls)
                reply = (await asking.ask(messages))[0]
                self.kept[key] = await asking.settle(messages, reply, read_points, self.prompt)
        return self.kept[key]


def read_points(text: str) -> tuple[KeyPoint, ...]:
    """Return the points of a numbered list, one a line. Raises `UnusableError` without any."""
    points = tuple(parse_point(match[1].strip("* ")) for match in _LINE.finditer(text))
    if not 1 <= len(points) <= _MOST:
        raise UnusableError(
            f"{len(points)} numbered points were found; expected a list of 1 to {_MOST}, as"
            " '1. what must hold', one a line"
        )
    return points


def parse_point(point: str | KeyPoint) -> KeyPoint:
    """Return a point from its line, `[answer] …` for what the agent has to say."""
    if isinstance(point, KeyPoint):
        return point
    found = _KIND.match(point)
    if found is None:
        return KeyPoint(point)
    return KeyPoint(found[2], "answer" if found[1].lower() == "answer" else "state")


def format_points(points: Sequence[KeyPoint], *, with_kind: bool) -> str:
    """Return the points as the model is shown them."""
    return "\n".join(
        f"{number}. {f'[{point.asks}] ' if with_kind else ''}{point.text}"
        for number, point in enumerate(points, start=1)
    )


RELEVANCE_PROMPT = Path(__file__).parent / "prompts" / "relevance.md"
_AT_ONCE = 8
"""Pages that the model is asked about at the same time."""
_WORD = re.compile(r"[^\W_]+")
_SCORE = re.compile(r"\bScore\W*([1-5])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rating:
    """A model's score of one page with its reason."""

    score: int
    reason: str


def rank_by_words(
    views: Sequence[EvidencePage], points: Sequence[KeyPoint], goal: str
) -> tuple[EvidencePage, ...]:
    """Return the pages with the most of a point, or of the task, that they hold: 0 to 1, and 1.

    The further 1 is for the page that holds most of some point, the latest among equals, so that
    each point has its page. Words count by inverse document frequency over the pages of the
    episode. A page without text weighs nothing.
    """
    pages = [_words(each.text) for each in views]
    wanted = [_words(text) for text in (*(point.text for point in points), goal)]
    weight = {
        word: math.log(1 + len(pages) / (1 + sum(word in page for page in pages)))
        for word in frozenset[str]().union(*wanted)
    }

    def weigh(words: frozenset[str], page: frozenset[str]) -> float:
        whole = sum(weight[word] for word in words)
        return sum(weight[word] for word in words & page) / whole if whole else 0.0

    shares = [[weigh(words, page) for page in pages] for words in wanted]
    first = {
        max(range(len(pages)), key=lambda index: (held[index], index))
        for held in shares
        if any(held)
    }
    return tuple(
        replace(each, relevance=max(held[index] for held in shares) + (index in first))
        for index, each in enumerate(views)
    )


async def rate_by_model(
    views: Sequence[EvidencePage], points: Sequence[KeyPoint], goal: str, session: JudgeSession
) -> tuple[tuple[EvidencePage, Rating], ...]:
    """Return each page with the model's score from 1 to 5; 0, and a note, where it cannot be read.

    Several pages are asked about at once. Raises `ModelError` when the model fails, and asks about
    no further page then.
    """
    prompt, gate = load_prompt(RELEVANCE_PROMPT), asyncio.Semaphore(_AT_ONCE)
    failed: list[ModelError] = []

    async def rate(view: EvidencePage) -> Rating:
        async with gate:
            if failed:
                raise failed[0]
            try:
                shown = "the screenshot attached" if view.image is not None else "its text below"
                text = "" if view.image is not None else fence(f"page {view.number}", view.text)
                messages = (
                    Message("system", prompt.fill("system")),
                    Message(
                        "user",
                        prompt.fill(
                            "user",
                            task=goal,
                            points=format_points(points, with_kind=False),
                            number=str(view.number),
                            shown=shown,
                            page=text,
                        ).rstrip(),
                        collect_images([view]),
                    ),
                )
                reply = (await session.ask(messages))[0]
                return await session.settle(messages, reply, read_rating, prompt)
            except UnusableError as error:
                session.notes.append(
                    f"page {view.number} was left out, its score is unreadable: {error}"
                )
                return Rating(0, "")
            except ModelError as error:
                failed.append(error)
                raise

    # All of them end before an error is raised, so that no request outlives the judgement.
    ratings = await asyncio.gather(*map(rate, views), return_exceptions=True)
    rated = []
    for view, rating in zip(views, ratings, strict=True):
        if isinstance(rating, BaseException):
            raise rating
        rated.append((replace(view, relevance=float(rating.score)), rating))
    return tuple(rated)


def read_rating(text: str) -> Rating:
    """Return score and reason: the digit from 1 to 5 behind the last `Score`.

    WebJudge reads the first, which a reply that tells of a score on the page gets wrong. Raises
    `UnusableError` where there is none.
    """
    found = list(_SCORE.finditer(text))
    if not found:
        raise UnusableError("there is no line 'Score: 1 to 5' in the reply")
    reason = text[: found[-1].start()].partition("Reasoning")[2].strip(" *:\n")
    return Rating(int(found[-1][1]), " ".join(reason.split("\n\n")[0].split()))


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.casefold()) if len(word) > 1)
