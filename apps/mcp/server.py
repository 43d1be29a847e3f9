"""The server: lists the tools, does the calls, asks whom the guard wants asked."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import Any, TypeAlias

from anyio import BrokenResourceError, ClosedResourceError
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from apps.mcp import asking
from apps.mcp.asking import Context
from apps.mcp.desk import Call, Desk
from apps.mcp.reply import failure
from apps.mcp.tools import Offer
from apps.mcp.work import Tell, Work
from webagent.errors import (
    CallError,
    CaptchaError,
    GuardError,
    WebAgentError,
    WorldError,
    unknown_name,
)
from webagent.models.prompt import fence, shorten
from webagent.timing import Background

logger = logging.getLogger(__name__)

Answered: TypeAlias = CallToolResult | InputRequiredResult
_MOST_WAITING = 100
_NEW_SESSION = "The session is over; open_session gives a new one."


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A call that is to come again with a person's answer."""

    work: Work[CallToolResult]
    asked: tuple[str, dict[str, Any] | None]
    """The tool and its arguments, which must be the same then."""


class Tools:
    """Does what is called, for all clients."""

    def __init__(self, desk: Desk, offers: dict[str, Offer]) -> None:
        self._desk = desk
        self._offers = offers
        self._waiting: dict[str, _Waiting] = {}
        self._background = Background()
        self._under_way: set[Work[CallToolResult]] = set()

    async def list(self, context: Context, asked: PaginatedRequestParams | None) -> ListToolsResult:
        """Every tool."""
        return ListToolsResult(tools=[offer.tool for offer in self._offers.values()])

    async def call(self, context: Context, asked: CallToolRequestParams) -> Answered:
        """Do one call, or go on with one that has waited for a person."""
        try:
            work = self._resumed(asked) if asked.request_state else self._begun(context, asked)
        except WebAgentError as error:
            return failure(str(error))
        try:
            return await self._followed(work, context, asked)
        except asyncio.CancelledError:
            work.leave()
            raise

    async def close(self) -> None:
        """End what is still under way."""
        await asyncio.gather(*(work.stop() for work in set(self._under_way)))
        await self._background.finish()

    def _begun(self, context: Context, asked: CallToolRequestParams) -> Work[CallToolResult]:
        if asked.name not in self._offers:
            raise unknown_name("tool", asked.name, self._offers)
        offer = self._offers[asked.name]
        doing = offer(self._desk, asked.arguments or {}, Call(_who(context)))
        work = Work(doing, asking.can_ask(context))
        self._under_way.add(work)
        work.when_done(lambda: self._forget(work))
        return work

    def _resumed(self, asked: CallToolRequestParams) -> Work[CallToolResult]:
        """Raises `CallError` for a call that nobody waits with, or for another one."""
        waiting = self._waiting.pop(asked.request_state or "", None)
        if waiting is None or waiting.asked != (asked.name, asked.arguments):
            raise CallError("nothing waits for this answer, or no longer; make the call anew")
        if (question := waiting.work.question) is not None:
            asking.answer(question, asked.input_responses)
        return waiting.work

    async def _followed(
        self, work: Work[CallToolResult], context: Context, asked: CallToolRequestParams
    ) -> Answered:
        work.tell = self._teller(context)
        while (question := await work.next()) is not None:
            if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                self._wait(work, (asked.name, asked.arguments))
                return asking.later(question, work)
            await asking.put(question, context)
        try:
            return work.result()
        except CaptchaError as error:
            return failure(f"{error}. The session goes on: go_back, or goto another address.")
        except GuardError as error:
            return failure(f"{error}. {_NEW_SESSION} Tell your user what was refused.")
        except WorldError as error:
            return failure(
                f"The browser failed. {_NEW_SESSION}\n{fence('error', shorten(str(error)))}"
            )
        except WebAgentError as error:
            return failure(str(error))
        except asyncio.CancelledError:
            return failure("It was stopped.")

    def _teller(self, context: Context) -> Tell:
        """Sends on how far something is, in the background: whoever tells does not wait."""

        def tell(number: int, most: int, what: str) -> None:
            self._background.start(_send(context, number, most, what))

        return tell

    def _wait(self, work: Work[CallToolResult], asked: tuple[str, dict[str, Any] | None]) -> None:
        self._waiting[work.token] = _Waiting(work, asked)
        while len(self._waiting) > _MOST_WAITING:
            self._waiting.pop(next(iter(self._waiting)))

    def _forget(self, work: Work[CallToolResult]) -> None:
        self._under_way.discard(work)


def server_of(tools: Tools) -> Server[Any]:
    """A server that has these tools and no more."""
    return Server(
        "webagent",
        version=version("webagent-loop"),
        instructions=files(__package__).joinpath("instructions.md").read_text(encoding="utf-8"),
        on_list_tools=tools.list,
        on_call_tool=tools.call,
    )


async def _send(context: Context, number: int, most: int, what: str) -> None:
    with suppress(MCPError, BrokenResourceError, ClosedResourceError):  # the client may be gone
        await context.session.report_progress(number, most, what)


def _who(context: Context) -> str:
    client = context.session.client_params
    return client.client_info.name if client is not None else ""
