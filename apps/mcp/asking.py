"""Asking the assistant's user for a yes, in the two ways in which clients can be asked."""

import asyncio
from typing import Any

from mcp.server import ServerRequestContext
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    InputResponses,
)

from apps.mcp.work import Question, Result, Work

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
    """Whether the client has said that it can put questions to its user."""
    capabilities = context.session.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None


async def put(question: Question, context: Context) -> None:
    """Ask by the connection, as clients of the older protocol are asked; returns once there is an
    answer, or no time left for one."""
    asking = asyncio.ensure_future(
        context.session.elicit_form(question.text, _SCHEMA, related_request_id=context.request_id)
    )
    asking.add_done_callback(lambda done: _settle(question, done))
    try:
        await asyncio.wait({question.answer})
    finally:
        asking.cancel()
        await asyncio.wait({asking})


def later(question: Question, work: Work[Result]) -> InputRequiredResult:
    """What a client of the newer protocol is told: to ask its user, and to call again."""
    form = ElicitRequestFormParams(message=question.text, requested_schema=_SCHEMA)
    return InputRequiredResult(
        input_requests={_KEY: ElicitRequest(params=form)}, request_state=work.token
    )


def answer(question: Question, responses: InputResponses | None) -> None:
    """Take the answer from such a second call; no where it has none."""
    said = (responses or {}).get(_KEY)
    if not question.answer.done():
        question.answer.set_result(isinstance(said, ElicitResult) and _is_yes(said))


def _settle(question: Question, done: "asyncio.Future[ElicitResult]") -> None:
    if question.answer.done():
        return
    has_failed = done.cancelled() or done.exception() is not None
    question.answer.set_result(not has_failed and _is_yes(done.result()))


def _is_yes(said: ElicitResult) -> bool:
    return said.action == "accept" and (said.content or {}).get("allow") is True
