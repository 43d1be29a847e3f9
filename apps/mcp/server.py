"""The MCP server over standard input and output or HTTP."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from importlib.metadata import version
from importlib.resources import files
from typing import Any, TypeAlias

from anyio import BrokenResourceError, ClosedResourceError
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from apps.listening import LOOPBACK, address_of, listen
from apps.mcp import approval
from apps.mcp.approval import Context, PendingCall
from apps.mcp.handlers import Caller, OfferedTool, ToolHandlers
from apps.mcp.settings import McpConfig
from apps.mcp.tools import failure
from webagent.errors import (
    CallError,
    CaptchaError,
    GuardError,
    SetupError,
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


class Tools:
    """Does what is called, for all clients."""

    def __init__(self, handlers: ToolHandlers, offers: dict[str, OfferedTool]) -> None:
        self._handlers = handlers
        self._offers = offers
        self._waiting: dict[str, tuple[PendingCall[CallToolResult], CallToolRequestParams]] = {}
        """Calls that are to come again with a person's answer, each with its request."""
        self._background = Background()
        self._under_way: set[PendingCall[CallToolResult]] = set()

    async def list(
        self, context: Context, request: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return every tool."""
        return ListToolsResult(tools=[offer.tool for offer in self._offers.values()])

    async def call(self, context: Context, request: CallToolRequestParams) -> Answered:
        """Do one call, or go on with one that has waited for a person."""
        try:
            work = self._find_work(context, request)
        except WebAgentError as error:
            return failure(str(error))

        async def report(number: int, most: int, what: str) -> None:
            # The client may be gone.
            with suppress(MCPError, BrokenResourceError, ClosedResourceError):
                await context.session.report_progress(number, most, what)

        # In the background, so that reporting progress does not wait for the client.
        work.tell = lambda number, most, what: self._background.start(report(number, most, what))
        try:
            while (question := await work.next()) is not None:
                if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    self._waiting[work.token] = work, request
                    while len(self._waiting) > _MOST_WAITING:
                        self._waiting.pop(next(iter(self._waiting)))
                    return approval.later(question, work)
                await approval.put(question, context)
        except asyncio.CancelledError:
            work.leave()
            raise
        return _read_result(work)

    async def close(self) -> None:
        """End what is still under way."""
        await asyncio.gather(*(work.stop() for work in set(self._under_way)))
        await self._background.finish()

    def _find_work(
        self, context: Context, request: CallToolRequestParams
    ) -> PendingCall[CallToolResult]:
        """Return the call that waits for this answer, or begin a new one. Raises `CallError` where
        none waits, or another one, and `SetupError` for a tool that there is not."""
        if request.request_state:
            work, before = self._waiting.pop(request.request_state, (None, request))
            if work is None or (before.name, before.arguments) != (request.name, request.arguments):
                raise CallError("no call is waiting for this answer; make the call again")
            if (question := work.question) is not None:
                approval.answer(question, request.input_responses)
            return work
        if request.name not in self._offers:
            raise unknown_name("tool", request.name, self._offers)
        client = context.session.client_params
        caller = Caller(client.client_info.name if client is not None else "")
        doing = self._offers[request.name](self._handlers, request.arguments or {}, caller)
        work = PendingCall(doing, approval.can_ask(context))
        self._under_way.add(work)
        work.when_done(lambda: self._under_way.discard(work))
        return work


def _read_result(work: PendingCall[CallToolResult]) -> CallToolResult:
    """Return the result, or for an error what the assistant should do."""
    try:
        return work.result()
    except CaptchaError as error:
        return failure(f"{error}. The session goes on: go_back, or goto another address.")
    except GuardError as error:
        return failure(f"{error}. {_NEW_SESSION} Tell your user what was refused.")
    except WorldError as error:
        detail = fence("error", shorten(str(error)))
        return failure(f"The browser failed. {_NEW_SESSION}\n{detail}")
    except WebAgentError as error:
        return failure(str(error))
    except asyncio.CancelledError:
        return failure("It was stopped.")


def server_of(tools: Tools) -> Server[Any]:
    """Return a server that has these tools and no more."""
    return Server(
        "webagent",
        version=version("webagent-loop"),
        instructions=files(__package__).joinpath("instructions.md").read_text(encoding="utf-8"),
        on_list_tools=tools.list,
        on_call_tool=tools.call,
    )


_LONGEST_MESSAGE = 16 << 20
_GRACE_SECONDS = 1


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the one client that has started this process, until it closes its end. When this is
    cancelled it is as if the client had: the SDK does not take well to being cut off. Raises
    `SetupError` where there is no client at the other end."""
    stream = asyncio.StreamReader(limit=_LONGEST_MESSAGE)
    try:
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), sys.stdin
        )
    except ValueError as error:
        raise SetupError(
            "standard input is not a pipe; a client starts this command and talks to it by one"
            " (docs/mcp.md). To serve over HTTP instead, use --http 8931"
        ) from error
    lines: Any = PipeLines(stream)

    async def serve_lines() -> None:
        async with stdio_server(stdin=lines) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    serving = asyncio.ensure_future(serve_lines())
    try:
        await asyncio.wait({serving})
    finally:
        pipe.close()
        await asyncio.wait({serving}, timeout=_GRACE_SECONDS)
        serving.cancel()
    serving.result()


class PipeLines:
    """Lines from a pipe. The SDK's own reader sits in a thread that no signal gets it out of."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[str]:
        while message := await self._stream.readline():
            yield message.decode("utf-8", errors="replace")


async def serve_http(server: Server[Any], config: McpConfig) -> None:
    """Serve any number of clients by streamable HTTP until the process ends. Raises
    `SetupError` where the port is taken."""
    import uvicorn

    listening = listen(config.host, config.http or 0, flag="--http")
    port = listening.getsockname()[1]
    app = server.streamable_http_app(host=config.host, transport_security=security(config))
    settings = uvicorn.Config(
        app, log_level="warning", timeout_graceful_shutdown=_GRACE_SECONDS, lifespan="on"
    )
    print(f"listening on {address_of(config.host, port)}/mcp", file=sys.stderr, flush=True)
    await uvicorn.Server(settings).serve(sockets=[listening])


def security(config: McpConfig) -> TransportSecuritySettings:
    """Return the names a client may call it by, so that no web site leads a browser here."""
    hosts = [f"[{name}]" if ":" in name else name for name in LOOPBACK]
    named = [*(f"{host}:*" for host in hosts), *config.allowed_hosts]
    schemes = ("http", "https")
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=named,
        allowed_origins=[f"{scheme}://{host}" for host in named for scheme in schemes],
    )
