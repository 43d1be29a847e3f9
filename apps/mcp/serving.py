"""How clients reach the server: by standard input and output, or by HTTP on this machine."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any

from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from apps.mcp.settings import LOOPBACK, McpConfig
from webagent.errors import SetupError

_LONGEST_MESSAGE = 16 << 20
_GRACE_SECONDS = 1


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the one client that has started this process, until it closes its end. When this is
    cancelled it is as if the client had: the SDK does not take well to being cut off."""
    stream, pipe = await _standard_input()
    serving = asyncio.ensure_future(_serve_lines(server, stream))
    try:
        await asyncio.wait({serving})
    finally:
        pipe.close()
        await asyncio.wait({serving}, timeout=_GRACE_SECONDS)
        serving.cancel()
    serving.result()


async def _serve_lines(server: Server[Any], stream: asyncio.StreamReader) -> None:
    lines: Any = Messages(stream)
    async with stdio_server(stdin=lines) as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


class Messages:
    """Lines from a pipe. The SDK's own reader sits in a thread that no signal gets it out of."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[str]:
        while message := await self._stream.readline():
            yield message.decode("utf-8", errors="replace")


async def _standard_input() -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """Raises `SetupError` where there is no client at the other end."""
    stream = asyncio.StreamReader(limit=_LONGEST_MESSAGE)
    loop = asyncio.get_running_loop()
    try:
        pipe, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), sys.stdin
        )
    except ValueError as error:
        raise SetupError(
            "standard input is no pipe: a client starts this command and speaks to it by one;"
            " docs/mcp.md says how to set it up, and --http 8931 serves by HTTP instead"
        ) from error
    return stream, pipe


async def serve_http(server: Server[Any], config: McpConfig) -> None:
    """Serve any number of clients by streamable HTTP until the process is told to end. Raises
    `SetupError` where the port is taken."""
    import uvicorn

    listening = _bound(config)
    port = listening.getsockname()[1]
    app = server.streamable_http_app(host=config.host, transport_security=security(config))
    settings = uvicorn.Config(
        app, log_level="warning", timeout_graceful_shutdown=_GRACE_SECONDS, lifespan="on"
    )
    print(f"listening on http://{config.host}:{port}/mcp", file=sys.stderr, flush=True)
    await uvicorn.Server(settings).serve(sockets=[listening])


def security(config: McpConfig) -> TransportSecuritySettings:
    """Which names a client may call the server by, so that no web site leads a browser here."""
    hosts = [f"[{name}]" if ":" in name else name for name in LOOPBACK]
    named = [*(f"{host}:*" for host in hosts), *config.allowed_hosts]
    schemes = ("http", "https")
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=named,
        allowed_origins=[f"{scheme}://{host}" for host in named for scheme in schemes],
    )


def _bound(config: McpConfig) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((config.host, config.http or 0))
        listening.listen()
    except OSError as error:
        listening.close()
        raise SetupError(
            f"{config.host}:{config.http} cannot be listened on ({error.strerror}); name another"
            " port with --http, or 0 for any free one"
        ) from error
    return listening
