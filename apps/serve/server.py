"""The server: its routes, its access control, one session for each WebSocket."""

import asyncio
import json
import re
import socket
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable
from functools import partial
from hmac import compare_digest
from importlib.metadata import version
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from apps.listening import LOOPBACK
from apps.serve.sessions import ServedSession, Stage
from apps.serve.wire import (
    ErrorCode,
    MessageError,
    list_tools,
    read_message,
    schemas,
    write_error,
    write_turn,
)
from webagent.errors import WorldError

_GRACE_SECONDS = 2
_LARGEST_MESSAGE = 1 << 20
_BY_SOCKET = "open a WebSocket at /ws, as EnvClient of openenv does"
_API_VERSION = "1.0.0"
"""Of OpenEnv's HTTP interface, in its production mode: episodes are played over the WebSocket."""
_ANY_JSON = {"responses": {"200": {"description": "JSON"}}}
_OPEN = "/health"
"""Answered without a token, for clients that wait for the server to start."""


def make_app(stage: Stage) -> ASGIApp:
    """Return the application: `/ws` for sessions, and what clients ask for by HTTP."""
    answers: dict[str, Callable[[], Any]] = {
        "/health": lambda: {"status": "healthy"},
        "/metadata": partial(_describe, stage),
        "/schema": schemas,
        "/tools": lambda: {"tools": list_tools()},
        "/sessions": lambda: {
            "active_sessions": stage.places,
            "max_sessions": stage.config.max_sessions,
            "episodes": stage.episodes,
            "failures": stage.failures,
        },
        "/openapi.json": lambda: {
            "openapi": "3.1.0",
            "info": {"title": "webagent", "version": _API_VERSION},
            "paths": {
                **{path: {"get": _ANY_JSON} for path in answers if path != "/openapi.json"},
                "/mcp": {"post": _ANY_JSON},
            },
        },
    }

    async def answer(request: Request) -> Response:
        return JSONResponse(answers[request.url.path]())

    async def by_socket(request: Request) -> Response:
        reason = f"POST {request.url.path} has no session; {_BY_SOCKET}"
        return JSONResponse({"detail": reason}, 405)

    async def mcp(request: Request) -> Response:
        return JSONResponse(answer_rpc(await request.body()))

    async def serve(websocket: WebSocket) -> None:
        """Answer one client until it goes; what it held is given back."""
        await websocket.accept()
        session = ServedSession(stage)
        try:
            while (text := await _next_message(stage, session, websocket)) is not None:
                reply = await _answer(stage, session, text)
                if reply is None:
                    break
                await websocket.send_text(json.dumps(reply, ensure_ascii=False, allow_nan=False))
        except WebSocketDisconnect:
            return
        finally:
            await asyncio.shield(session.leave())

    routes = [
        *(Route(path, answer) for path in answers),
        *(Route(path, by_socket, methods=["POST"]) for path in ("/reset", "/step")),
        Route("/mcp", mcp, methods=["POST"]),
        WebSocketRoute("/ws", serve),
    ]
    return ClientFilter(Starlette(routes=routes), stage.config.token())


def _describe(stage: Stage) -> dict[str, Any]:
    chosen = stage.chosen
    return {
        "name": "webagent",
        "description": f"{len(chosen.names)} tasks of {chosen.suite.id} in a real browser",
        "version": version("webagent-loop"),
        "suite": chosen.suite.id,
        "is_seeded": chosen.suite.is_seeded,
        "split": stage.config.split,
        "tasks": list(chosen.names),
    }


def answer_rpc(body: bytes) -> dict[str, Any]:
    """Return the JSON-RPC 2.0 answer to an MCP request: the tools; calls need an episode."""
    try:
        message = json.loads(body)
    except ValueError:
        message = None
    request = message if isinstance(message, dict) else {}
    answer = {"jsonrpc": "2.0", "id": request.get("id")}
    if request.get("method") == "tools/list":
        return answer | {"result": {"tools": list_tools()}}
    if "method" in request:
        return answer | {"error": {"code": -32601, "message": f"no such method; {_BY_SOCKET}"}}
    return answer | {"error": {"code": -32600, "message": "no JSON-RPC request"}}


async def _next_message(stage: Stage, session: ServedSession, websocket: WebSocket) -> str | None:
    """Return what the client sends; where the lease ends before, wait on without the place."""
    seconds = 60 * stage.config.lease_minutes
    try:
        async with asyncio.timeout(seconds if session.has_place else None):
            message = await websocket.receive()
    except TimeoutError:
        minutes = f"{stage.config.lease_minutes:g}"
        await session.leave(f"the lease of {minutes} minutes expired, as no request came")
        message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        return None
    text: str | None = message.get("text")
    return "bytes" if text is None else text


async def _answer(stage: Stage, session: ServedSession, text: str) -> dict[str, Any] | None:
    """Return the answer to one message; None where the client closes."""
    try:
        message = read_message(text)
        if message.type == "close":
            return None
        if message.type == "state":
            return {"type": "state", "data": session.state()}
        if message.type == "reset":
            return write_turn(await session.reset(message.data))
        if message.data.type == "list_tools":
            return session.tools()
        return write_turn(await session.step(message.data))
    except MessageError as error:
        facts = {}
        if error.code is ErrorCode.CAPACITY_REACHED:
            facts = {"active_sessions": stage.places, "max_sessions": stage.config.max_sessions}
        return write_error(error.code, str(error), **facts)
    except WorldError as error:
        return write_error(ErrorCode.EXECUTION_ERROR, str(error))


class ClientFilter:
    """Lets through programs that show the token, and no page of a browser."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse pages of web sites, which could reach this machine, and strangers."""
        if scope["type"] in ("http", "websocket"):
            status, reason = self._refusal(scope["path"], Headers(scope=scope))
            if reason:
                refusal = JSONResponse({"detail": reason}, status)
                if scope["type"] == "websocket":
                    await WebSocket(scope, receive, send).send_denial_response(refusal)
                else:
                    await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, path: str, headers: Headers) -> tuple[int, str]:
        if origin := headers.get("origin"):
            return 403, f"a page of {origin} may not play here; clients are programs"
        # Without a token only this machine is served: a page whose site's name is pointed here by
        # its name server (DNS rebinding) sends no Origin for what it reads of itself.
        host = headers.get("host", "")
        is_local = re.fullmatch(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", host, re.IGNORECASE)
        if not self._token and not is_local:
            return 403, f"this server answers for {', '.join(LOOPBACK)}, not for {host[:100]!r}"
        if not self._token or path == _OPEN:
            return 0, ""
        kind, _, shown = headers.get("authorization", "").partition(" ")
        if kind.lower() == "basic":
            try:
                shown = b64decode(shown, validate=True).decode("ascii").partition(":")[2]
            except (NotBase64, UnicodeDecodeError):
                shown = ""
        if compare_digest(shown.encode(), self._token.encode()):
            return 0, ""
        how = "http://client:TOKEN@HOST:PORT as the address, or Authorization: Bearer TOKEN"
        return 401, f"this server asks for its token: {how}"


def configure(stage: Stage) -> uvicorn.Config:
    """Return how uvicorn is to serve."""
    return uvicorn.Config(
        make_app(stage),
        ws="websockets-sansio",
        ws_max_size=_LARGEST_MESSAGE,
        # A client that generates for a minute in the thread of its socket answers no ping; leases
        # end what is left behind.
        ws_ping_interval=None,
        ws_per_message_deflate=False,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )


async def serve(stage: Stage, listening: socket.socket) -> None:
    """Serve until the process ends."""
    await uvicorn.Server(configure(stage)).serve(sockets=[listening])
