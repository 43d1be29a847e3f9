"""A judge's model with its settings, and the requests of one judgement."""

import re
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias, TypeVar

from evaluators.judge.pages import EvidencePage, format_page, view_pages
from webagent.errors import ModelError, StoreError
from webagent.models.model import Completion, Message, Model, Reply
from webagent.models.prompt import Prompt
from webagent.models.replies import ask_and_read
from webagent.observation import render as render_page
from webagent.records import Observation, Trajectory

Show: TypeAlias = Literal["auto", "screenshots", "texts", "both"]


@dataclass(frozen=True, slots=True)
class VariantSettings:
    """The settings of all variants; each takes those that its `Variant.takes` names."""

    show: Show = "auto"
    """What is shown of a page. `auto`: what the variant was published with, and texts where the
    model does not look at images or no screenshots can be looked up."""
    pages: int = 6
    """How many pages are shown, at most."""
    screenshots: int = 6
    """How many of them with their screenshots, at most."""
    page_tokens: int = 2000
    """Of a page's text, at most, estimated at 3.5 characters each."""
    relevance: Literal["words", "model"] = "words"
    """How pages are chosen: by the words they share with the key points, which costs nothing, or
    by the model's score from 1 to 5, a request for each page."""
    threshold: int = 3
    """Score of the model below which a page is not shown."""
    votes: int = 1
    """How often the model is asked; only more than half of the votes make a verdict."""
    temperature: float = 0.7
    """Of the votes when there are several; a single one is taken at 0."""
    max_tokens: int = 2048
    """Of one reply."""
    answer_needed: bool = True
    """Whether an episode without an answer counts as failed without asking, as published."""


Found = TypeVar("Found")
_NO_LIMIT = 10**9
_TOO_LONG = re.compile(r"\b(show|send) less\b|\bcontext\b|too long", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """What all judgements of a judge have in common."""

    model: Model
    settings: VariantSettings
    images: Callable[[str], bytes] | None = None
    """Looks a screenshot up by its reference."""
    render: Callable[[Observation], str] | None = None
    """A page as text; within `page_tokens` where none is given."""

    @property
    def can_look(self) -> bool:
        """Whether screenshots can be shown."""
        return self.images is not None and self.model.capabilities.images

    def views(self, trajectory: Trajectory) -> tuple[EvidencePage, ...]:
        """Return all pages of the episode with text and screenshot, where there are any."""
        render = self.render or partial(render_page, max_tokens=self.settings.page_tokens)

        def read_screenshot(page: Observation) -> bytes | None:
            if self.images is None or not page.screenshot or not self.can_look:
                return None
            with suppress(StoreError):
                return self.images(page.screenshot)
            return None

        return view_pages(trajectory, render, read_screenshot)

    def whole(self, page: Observation) -> str:
        """Return all the text of a page, however long."""
        return format_page(page, self.render or partial(render_page, max_tokens=_NO_LIMIT))


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """One way to put the question, with the pages it shows."""

    messages: tuple[Message, ...]
    views: tuple[EvidencePage, ...]
    note: str = ""
    """What is said of it where a fuller one did not fit."""


@dataclass(slots=True)
class JudgeSession:
    """One judgement under way: what was asked, what it cost, what went otherwise than planned."""

    context: JudgeContext
    seed: int
    notes: list[str] = field(default_factory=list)
    calls: list[tuple[Completion | None, float]] = field(default_factory=list)

    async def ask(
        self, messages: Sequence[Message], *, n: int = 1, temperature: float = 0.0
    ) -> tuple[Reply, ...]:
        """Return the replies. Raises `ModelError`; how long is waited is for the model to say."""
        settings, start = self.context.settings, time.monotonic()
        completion = None
        try:
            completion = await self.context.model.complete(
                tuple(messages),
                n=n,
                temperature=temperature,
                seed=self.seed,
                max_tokens=settings.max_tokens,
            )
        finally:
            self.calls.append((completion, time.monotonic() - start))
        return completion.replies

    async def ask_first_fitting(
        self, prompts: Iterable[JudgePrompt]
    ) -> tuple[JudgePrompt, tuple[Reply, ...]]:
        """Return the votes on the first prompt that the model has room for, fuller ones first.

        Raises `ModelError` when none fits or the model fails for another reason.
        """
        votes = self.context.settings.votes
        temperature = self.context.settings.temperature if votes > 1 else 0.0
        refused: ModelError | None = None
        for case in prompts:
            try:
                replies = await self.ask(case.messages, n=votes, temperature=temperature)
            except ModelError as error:
                if not _TOO_LONG.search(str(error)):
                    raise
                refused = error
                continue
            if refused is not None:
                self.notes.append(f"{case.note}: the model had no room for more")
            return case, replies
        raise refused or ModelError("there is nothing to ask")

    async def settle(
        self,
        messages: Sequence[Message],
        reply: Reply,
        read: Callable[[str], Found],
        prompt: Prompt,
    ) -> Found:
        """Return what a reply says, asked for once more where it cannot be used.

        Raises `UnusableError` when the second reply cannot be used either, `ModelError` when there
        is none.
        """

        async def ask(conversation: tuple[Message, ...]) -> Reply:
            return (await self.ask(conversation))[0]

        return await ask_and_read(
            ask, messages, read, lambda problem: prompt.fill("again", problem=problem), reply
        )


def seed_of(text: str) -> int:
    """Return a seed for whatever the text names, the same each time."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) & 0x7FFFFFFF


def choose_form(context: JudgeContext, published: Show) -> Show:
    """Return the form shown: the one set, else the published one where the model can look."""
    form = context.settings.show
    if form != "auto":
        return form
    return published if context.can_look else "texts"


def apply_form(
    context: JudgeContext, views: Sequence[EvidencePage], published: Show
) -> tuple[EvidencePage, ...]:
    """Return the pages with only that of them that is shown."""
    form = choose_form(context, published)
    if form == "texts":
        return tuple(replace(each, image=None) for each in views)
    if form == "screenshots":
        return tuple(replace(each, text="") for each in views)
    return tuple(views)
