"""Ask the assistant's user for approval, while the call that needs it goes on."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from mcp.server import ServerRequestContext
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    InputResponses,
)

Result = TypeVar("Result")
Tell: TypeAlias = Callable[[int, int, str], object]
"""Takes the step, of how many, and what is done in it."""
_GRACE_SECONDS = 1.0
_work: "ContextVar[PendingCall[Any] | None]" = ContextVar("work", default=None)


@dataclass(frozen=True, slots=True)
class Approval:
    """Something that only a person may say yes to."""

    text: str
    """Made by the guard from the action, never by a page."""
    answer: "asyncio.Future[bool]"


def under_way() -> "PendingCall[Any] | None":
    """Return the work that the code which asks is part of."""
    return _work.get()


class ByClient:
    """Asks the person behind whichever client has made the call; nobody where it cannot ask."""

    async def approve(self, question: str) -> bool:
        """Return the person's answer."""
        work = _work.get()
        return await work.ask(question) if work is not None else False


class PendingCall(Generic[Result]):
    """Goes on while its question is on the way: some clients answer by calling again.

    An action is done to its end once it has begun, whoever stops waiting for it.
    """

    def __init__(self, doing: Coroutine[Any, Any, Result], can_ask: bool) -> None:
        self.token = secrets.token_urlsafe(18)
        """Names it to a client that calls again."""
        self.tell: Tell = lambda number, most, what: None
        """Receives its progress; the waiting call sets this."""
        self._can_ask = can_ask
        self._left: list[Callable[[], object]] = []
        self._question: Approval | None = None
        self._has_asked = asyncio.Event()
        context = copy_context()
        context.run(_work.set, self)
        self._task = asyncio.get_running_loop().create_task(doing, context=context)

    @property
    def question(self) -> Approval | None:
        """What waits for a person, if anything does."""
        return self._question if self._has_asked.is_set() else None

    def when_done(self, call: Callable[[], object]) -> None:
        """Call it at the end, however that comes."""
        self._task.add_done_callback(lambda _: call())

    def when_left(self, call: Callable[[], object]) -> None:
        """Call it when nobody waits any more."""
        self._left.append(call)

    async def ask(self, text: str) -> bool:
        """Return the person's answer; no where there is nobody to ask."""
        if not self._can_ask:
            return False
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda _: self._has_asked.clear())
        self._question = Approval(text, answer)
        self._has_asked.set()
        return await answer

    async def next(self) -> Approval | None:
        """Return the question that waits; None when it is done."""
        waiting = asyncio.ensure_future(self._has_asked.wait())
        try:
            await asyncio.wait({waiting, self._task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        return None if self._task.done() else self.question

    def result(self) -> Result:
        """Return what came of it, once it is done. Raises what it raised."""
        return self._task.result()

    def leave(self) -> None:
        """Take note that nobody waits for it any more, so a question is a no."""
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


Context = ServerRequestContext[Any, Any]
_KEY = "approval"
_SCHEMA = {
    "type": "object",
    "properties": {
        "allow": {
            "type": "boolean",
            "title": "Allow it",
            "description": "Whether the agent may do this, once.",
        }
    },
    "required": ["allow"],
}


def can_ask(context: Context) -> bool:
    """Return whether the client declares that it can put questions to its user."""
    capabilities = context.session.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None


async def put(question: Approval, context: Context) -> None:
    """Ask by the connection, as clients of the older protocol are asked; returns once there is an
    answer, or no time left for one."""
    asking = asyncio.ensure_future(
        context.session.elicit_form(question.text, _SCHEMA, related_request_id=context.request_id)
    )

    def settle(done: "asyncio.Future[ElicitResult]") -> None:
        if not question.answer.done():
            has_failed = done.cancelled() or done.exception() is not None
            question.answer.set_result(not has_failed and _is_yes(done.result()))

    asking.add_done_callback(settle)
    try:
        await asyncio.wait({question.answer})
    finally:
        asking.cancel()
        await asyncio.wait({asking})


def later(question: Approval, work: PendingCall[Result]) -> InputRequiredResult:
    """Return the reply for a client of the newer protocol: it asks its user and calls again."""
    form = ElicitRequestFormParams(message=question.text, requested_schema=_SCHEMA)
    return InputRequiredResult(
        input_requests={_KEY: ElicitRequest(params=form)}, request_state=work.token
    )


def answer(question: Approval, responses: InputResponses | None) -> None:
    """Take the answer from such a second call; no where it has none."""
    response = (responses or {}).get(_KEY)
    if not question.answer.done():
        question.answer.set_result(isinstance(response, ElicitResult) and _is_yes(response))


def _is_yes(result: ElicitResult) -> bool:
    return result.action == "accept" and (result.content or {}).get("allow") is True
