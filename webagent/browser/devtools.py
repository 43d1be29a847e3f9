"""A connection of our own to Chromium's DevTools, past the driver's process, for every step."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import Error as PlaywrightError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

PORT_FLAG = "--remote-debugging-port=0"
"""Has Chromium listen on a free port of this machine and write it into its profile."""
_PORT_FILE = "DevToolsActivePort"
_LISTEN_SECONDS = 10.0
_LOOKING_SECONDS = 0.005
_CLOSED = "Target page, context or browser has been closed"
Handler = Callable[[Any], Any]


class ProtocolSession(Protocol):
    """Commands to one page and its events, by whichever way they go; Playwright's `CDPSession` is
    one, too. A command that fails raises Playwright's `Error`."""

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a command and return its answer."""

    def on(self, event: Any, f: Handler) -> None:
        """Call the handler at each event of this kind."""


class DevTools:
    """The connection to one browser, which carries the sessions of all its pages."""

    def __init__(self, address: str, socket: ClientConnection) -> None:
        self.address = address
        """Where the browser listens; it refuses whoever names an origin, as pages must."""
        self._socket = socket
        self._numbers = count(1)
        self._answers: dict[int, tuple[str, asyncio.Future[dict[str, Any]]]] = {}
        self._sessions: dict[str, DevToolsSession] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, profile: Path) -> "DevTools":
        """Connect to the browser that runs with this profile and `PORT_FLAG`.

        Raises `OSError`, `TimeoutError` or `WebSocketException` where nobody listens.
        """
        file = profile / _PORT_FILE
        place: list[str] = []
        async with asyncio.timeout(_LISTEN_SECONDS):
            while len(place) != 2:  # as long as the browser has not written it
                await asyncio.sleep(_LOOKING_SECONDS)
                place = file.read_text(encoding="ascii").split() if file.exists() else []
        port, path = place
        address = f"ws://127.0.0.1:{port}{path}"
        socket = await connect(
            address, compression=None, max_size=None, ping_interval=None, proxy=None
        )
        return cls(address, socket)

    async def attach(self, target: str) -> "DevToolsSession":
        """Return a session of the page with this target id."""
        answer = await self.send("Target.attachToTarget", {"targetId": target, "flatten": True})
        session = DevToolsSession(self, answer["sessionId"])
        self._sessions[session.id] = session
        return session

    async def send(
        self, method: str, params: dict[str, Any] | None = None, session: str = ""
    ) -> dict[str, Any]:
        """Send a command to a session, or to the browser; return the answer."""
        if self._reading.done():
            raise PlaywrightError(_CLOSED)
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[number] = session, answer
        try:
            await self._socket.send(json.dumps(message))
            return await answer
        except (OSError, WebSocketException) as error:
            raise PlaywrightError(_CLOSED) from error
        finally:
            self._answers.pop(number, None)

    async def close(self) -> None:
        """End the connection; the browser stays. Never raises."""
        self._reading.cancel()
        try:
            with suppress(OSError, WebSocketException, asyncio.CancelledError):
                await self._reading
            with suppress(OSError, WebSocketException):
                await self._socket.close()
        finally:
            self._socket.transport.abort()  # where a browser that hangs is not waited for

    async def _read(self) -> None:
        try:
            async for text in self._socket:
                self._receive(json.loads(text))
        finally:
            for session in {session for session, _ in self._answers.values()}:
                self._fail(session)

    def _receive(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if number is None:
            params = message.get("params", {})
            if message["method"] == "Target.detachedFromTarget":
                gone = self._sessions.pop(params["sessionId"], None)
                if gone is not None:
                    gone.receive("close", params)  # before a failure reaches whoever waits
                self._fail(params["sessionId"])
            elif session := self._sessions.get(message.get("sessionId", "")):
                session.receive(message["method"], params)
            return
        _, answer = self._answers.get(number, ("", None))
        if answer is None or answer.done():
            return
        if "error" in message:
            reason = message["error"].get("message", "")
            answer.set_exception(PlaywrightError(f"Protocol error: {reason}"))
        else:
            answer.set_result(message["result"])

    def _fail(self, session: str) -> None:
        """Have nobody wait for a session that is gone."""
        for waiting, answer in self._answers.values():
            if waiting == session and not answer.done():
                answer.set_exception(PlaywrightError(_CLOSED))


class DevToolsSession:
    """Commands to one page and its events."""

    def __init__(self, devtools: DevTools, id: str) -> None:
        self.id = id
        self._devtools = devtools
        self._handlers: defaultdict[str, list[Handler]] = defaultdict(list)

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a command and return its answer."""
        return await self._devtools.send(method, params, self.id)

    def on(self, event: Any, f: Handler) -> None:
        """Call the handler at each event of this kind."""
        self._handlers[event].append(f)

    def receive(self, event: str, params: dict[str, Any]) -> None:
        """Have the handlers of an event called, before whoever waits for a later answer goes on."""
        for handler in self._handlers.get(event, ()):
            asyncio.get_running_loop().call_soon(handler, params)
