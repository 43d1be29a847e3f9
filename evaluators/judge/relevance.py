"""Which pages bear on the key points of a task."""

import asyncio
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluators.judge.court import Hearing
from evaluators.judge.examination import KeyPoint
from evaluators.judge.exhibits import Exhibit, images_of
from evaluators.judge.keypoints import numbered
from webagent.errors import ModelError
from webagent.models.model import Message
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.models.replies import UnusableError

PROMPT = Path(__file__).parent / "prompts" / "relevance.md"
_AT_ONCE = 8
"""Pages that the model is asked about at the same time."""
_WORD = re.compile(r"[^\W_]+")
_SCORE = re.compile(r"\bScore\W*([1-5])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rating:
    """A model's score of one page with its reason."""

    score: int
    reason: str


def weighed_by_words(
    exhibits: Sequence[Exhibit], points: Sequence[KeyPoint], goal: str
) -> tuple[Exhibit, ...]:
    """The pages with the most of a point, or of the task, that they hold: 0 to 1, and 1 more.

    The 1 more is for the page that holds most of some point, the latest among equals, so that each
    point has its page. Words count by inverse document frequency over the pages of the episode. A
    page without text weighs nothing.
    """
    pages = [_words(each.text) for each in exhibits]
    asked = [_words(text) for text in (*(point.text for point in points), goal)]
    weight = {
        word: math.log(1 + len(pages) / (1 + sum(word in page for page in pages)))
        for word in frozenset[str]().union(*asked)
    }
    shares = [[_share(words, page, weight) for page in pages] for words in asked]
    first = {
        max(range(len(pages)), key=lambda index: (held[index], index))
        for held in shares
        if any(held)
    }
    return tuple(
        replace(each, relevance=max(held[index] for held in shares) + (index in first))
        for index, each in enumerate(exhibits)
    )


async def rated_by_model(
    exhibits: Sequence[Exhibit], points: Sequence[KeyPoint], goal: str, hearing: Hearing
) -> tuple[tuple[Exhibit, Rating], ...]:
    """Each page with the model's score from 1 to 5; 0, and a note, where it cannot be read.

    Several pages are asked about at once. Raises `ModelError` when the model fails, and asks about
    no further page then.
    """
    prompt, gate, failed = load_prompt(PROMPT), asyncio.Semaphore(_AT_ONCE), list[ModelError]()

    async def rated(each: Exhibit) -> Rating:
        async with gate:
            if failed:
                raise failed[0]
            try:
                return await _rating(each, points, goal, hearing, prompt)
            except ModelError as error:
                failed.append(error)
                raise

    ratings = await asyncio.gather(*map(rated, exhibits), return_exceptions=True)
    return tuple(
        (replace(each, relevance=float(rating.score)), rating)
        for each, rating in zip(exhibits, map(_given, ratings), strict=True)
    )


def read_rating(text: str) -> Rating:
    """Score and reason: the digit from 1 to 5 behind the last `Score`.

    WebJudge reads the first, which a reply that tells of a score on the page gets wrong. Raises
    `UnusableError` where there is none.
    """
    found = list(_SCORE.finditer(text))
    if not found:
        raise UnusableError("there is no line 'Score: 1 to 5' in the reply")
    said = text[: found[-1].start()].partition("Reasoning")[2].strip(" *:\n")
    return Rating(int(found[-1][1]), " ".join(said.split("\n\n")[0].split()))


def _given(rating: Rating | BaseException) -> Rating:
    if isinstance(rating, BaseException):
        raise rating
    return rating


async def _rating(
    exhibit: Exhibit, points: Sequence[KeyPoint], goal: str, hearing: Hearing, prompt: Prompt
) -> Rating:
    shown = "the screenshot attached" if exhibit.image is not None else "its text below"
    text = "" if exhibit.image is not None else fence(f"page {exhibit.number}", exhibit.text)
    messages = (
        Message("system", prompt.fill("system")),
        Message(
            "user",
            prompt.fill(
                "user",
                task=goal,
                points=numbered(points, with_kind=False),
                number=str(exhibit.number),
                shown=shown,
                page=text,
            ).rstrip(),
            images_of([exhibit]),
        ),
    )
    reply = (await hearing.ask(messages))[0]
    try:
        return await hearing.settle(messages, reply, read_rating, prompt)
    except UnusableError as error:
        hearing.notes.append(
            f"page {exhibit.number} was left out, its score is unreadable: {error}"
        )
        return Rating(0, "")


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.casefold()) if len(word) > 1)


def _share(words: frozenset[str], page: frozenset[str], weight: dict[str, float]) -> float:
    whole = sum(weight[word] for word in words)
    return sum(weight[word] for word in words & page) / whole if whole else 0.0
