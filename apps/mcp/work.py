"""What a call has set going: it may ask the assistant's user, and may outlive the call."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

Result = TypeVar("Result")
Tell: TypeAlias = Callable[[int, int, str], object]
"""Takes the step, of how many, and what is done in it."""
_GRACE_SECONDS = 1.0
_work: "ContextVar[Work[Any] | None]" = ContextVar("work", default=None)


@dataclass(frozen=True, slots=True)
class Question:
    """Something that only a person may say yes to."""

    text: str
    """Made by the guard from the action, never by a page."""
    answer: "asyncio.Future[bool]"


def under_way() -> "Work[Any] | None":
    """The work that the code which asks is part of."""
    return _work.get()


class ByClient:
    """Asks the person behind whichever client has made the call; nobody where it cannot ask."""

    async def approve(self, question: str) -> bool:
        """As the person says."""
        work = _work.get()
        return await work.ask(question) if work is not None else False


class Work(Generic[Result]):
    """Goes on while its question is on the way: some clients answer by calling again.

    An action is done to its end once it has begun, whoever stops waiting for it.
    """

    def __init__(self, doing: Coroutine[Any, Any, Result], can_ask: bool) -> None:
        self.token = secrets.token_urlsafe(18)
        """Names it to a client that calls again."""
        self.tell: Tell = lambda number, most, what: None
        """Who is told how far it is; whoever waits for it sets this."""
        self._can_ask = can_ask
        self._left: list[Callable[[], object]] = []
        self._question: Question | None = None
        self._has_asked = asyncio.Event()
        context = copy_context()
        context.run(_work.set, self)
        self._task = asyncio.get_running_loop().create_task(doing, context=context)

    @property
    def question(self) -> Question | None:
        """What waits for a person, if anything does."""
        return self._question if self._has_asked.is_set() else None

    def when_done(self, call: Callable[[], object]) -> None:
        """Call it at the end, however that comes."""
        self._task.add_done_callback(lambda _: call())

    def when_left(self, call: Callable[[], object]) -> None:
        """Call it when nobody waits any more."""
        self._left.append(call)

    async def ask(self, text: str) -> bool:
        """The person's answer; no where there is nobody to ask."""
        if not self._can_ask:
            return False
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda _: self._has_asked.clear())
        self._question = Question(text, answer)
        self._has_asked.set()
        return await answer

    async def next(self) -> Question | None:
        """The question that waits; None when it is done."""
        asked = asyncio.ensure_future(self._has_asked.wait())
        try:
            await asyncio.wait({asked, self._task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()
        return None if self._task.done() else self.question

    def result(self) -> Result:
        """What came of it, once it is done. Raises what it raised."""
        return self._task.result()

    def leave(self) -> None:
        """Nobody waits for it any more, so a question is a no."""
        if (question := self.question) is not None and not question.answer.done():
            question.answer.set_result(False)
        for call in self._left:
            call()

    async def stop(self) -> None:
        """Have it end in order, and after a second by force."""
        self.leave()
        await asyncio.wait({self._task}, timeout=_GRACE_SECONDS)
        self._task.cancel()
        await asyncio.wait({self._task})
