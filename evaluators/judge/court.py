"""A judge's model with the ways it sees, and one judgement under way in front of it."""

import asyncio
import re
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from evaluators.judge.exhibits import Exhibit, exhibits_of, text_of
from evaluators.judge.settings import JudgeSettings
from webagent.errors import ModelError, StoreError
from webagent.models.model import Completion, Message, Model, Reply
from webagent.models.prompt import Prompt
from webagent.models.replies import ask_and_read
from webagent.observation import render as render_page
from webagent.records import Observation, Trajectory

Found = TypeVar("Found")
_NO_LIMIT = 10**9
_TOO_LONG = re.compile(r"\b(show|send) less\b|\bcontext\b|too long", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Court:
    """What all judgements of a judge have in common."""

    model: Model
    settings: JudgeSettings
    images: Callable[[str], bytes] | None = None
    """Looks a screenshot up by its reference."""
    render: Callable[[Observation], str] | None = None
    """A page as text; within `page_tokens` where none is given."""

    @property
    def can_look(self) -> bool:
        """Whether screenshots can be shown."""
        return self.images is not None and self.model.capabilities.images

    def exhibits(self, trajectory: Trajectory) -> tuple[Exhibit, ...]:
        """All pages of the episode with text and screenshot, where there are any."""
        render = self.render or partial(render_page, max_tokens=self.settings.page_tokens)
        return exhibits_of(trajectory, render, self._screenshot)

    def whole(self, page: Observation) -> str:
        """All the text of a page, however long."""
        return text_of(page, self.render or partial(render_page, max_tokens=_NO_LIMIT))

    def _screenshot(self, page: Observation) -> bytes | None:
        if self.images is None or not page.screenshot or not self.can_look:
            return None
        try:
            return self.images(page.screenshot)
        except StoreError:
            return None


@dataclass(frozen=True, slots=True)
class Case:
    """One way to put the question, with the pages it shows."""

    messages: tuple[Message, ...]
    exhibits: tuple[Exhibit, ...]
    note: str = ""
    """What is said of it where a fuller one did not fit."""


@dataclass(slots=True)
class Hearing:
    """One judgement under way: what was asked, what it cost, what went otherwise than planned."""

    court: Court
    seed: int
    notes: list[str] = field(default_factory=list)
    calls: list[tuple[Completion | None, float]] = field(default_factory=list)

    async def ask(
        self, messages: Sequence[Message], *, n: int = 1, temperature: float = 0.0
    ) -> tuple[Reply, ...]:
        """The replies. Raises `ModelError`, also when the reply takes longer than `timeout`."""
        settings, start = self.court.settings, time.monotonic()
        completion = None
        try:
            async with asyncio.timeout(settings.timeout) as clock:
                completion = await self.court.model.complete(
                    tuple(messages),
                    n=n,
                    temperature=temperature,
                    seed=self.seed,
                    max_tokens=settings.max_tokens,
                )
        except TimeoutError:
            raise ModelError(self._late()) from None
        finally:
            self.calls.append((completion, time.monotonic() - start))
        if clock.expired():
            raise ModelError(self._late())
        return completion.replies

    async def ask_what_fits(
        self, cases: Iterable[Case], *, n: int = 1, temperature: float = 0.0
    ) -> tuple[Case, tuple[Reply, ...]]:
        """The replies to the first case that the model has room for; fuller ones come first.

        Raises `ModelError` when none fits or the model fails for another reason.
        """
        refused: ModelError | None = None
        for case in cases:
            try:
                replies = await self.ask(case.messages, n=n, temperature=temperature)
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
        """What a reply says, asked for once more where it cannot be used.

        Raises `UnusableError` when the second reply cannot be used either, `ModelError` when there
        is none.
        """

        async def ask(asked: tuple[Message, ...]) -> Reply:
            return (await self.ask(asked))[0]

        return await ask_and_read(
            ask, messages, read, lambda problem: prompt.fill("again", problem=problem), reply
        )

    def _late(self) -> str:
        limit = self.court.settings.timeout
        return f"no reply of {self.court.model.name} within {limit:g} s; raise `timeout` or wait"


def seed_of(text: str) -> int:
    """A seed for whatever the text names, the same each time."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) & 0x7FFFFFFF
