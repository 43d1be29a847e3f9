"""A connection of our own to Chromium's DevTools: what each step needs does not pass through the
driver's process."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import CDPSession, Page
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

    def __init__(self, address: str, socket: ClientConnection, driver: CDPSession) -> None:
        self.address = address
        """Where the browser listens; it refuses whoever names an origin, as pages must."""
        self.driver = driver
        """The driver's session of the browser: its answers come after all earlier events."""
        self._socket = socket
        self._contexts: set[str] = set()
        """Browser contexts in which a page has been opened."""
        self._opening = asyncio.Lock()
        self._first_page: asyncio.Future[str] | None = None
        """The target id of the page that a context is being opened with."""
        self._is_certain = True
        self._numbers = count(1)
        self._answers: dict[int, tuple[str, asyncio.Future[dict[str, Any]]]] = {}
        self._sessions: dict[str, DevToolsSession] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, profile: Path, driver: CDPSession) -> "DevTools":
        """Connect to the browser that runs with this profile and `PORT_FLAG`; `driver` is the
        driver's session of the same browser.

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
        devtools = cls(address, socket, driver)
        pages = {"discover": True, "filter": [{"type": "page"}]}
        await devtools.send("Target.setDiscoverTargets", pages)
        return devtools

    async def open_page(
        self,
        open_first: Callable[[], Awaitable[Page]],
        prepare: Callable[["DevToolsSession"], Awaitable[object]],
    ) -> tuple[Page, "DevToolsSession | None"]:
        """Open the first page of a new context; return it with a session, which is attached and
        prepared while the driver still sets the page up, or None where it is not certain whose
        page is whose.

        Neither side says which target a page of the driver is. But the first page of a context is
        the only one in a context not heard of before, as long as they are begun one by one.
        """
        async with self._opening:
            self._first_page = first = asyncio.get_running_loop().create_future()
            opening = asyncio.ensure_future(open_first())
            try:
                if self._is_certain:
                    await asyncio.wait(
                        {first, opening},
                        timeout=_LISTEN_SECONDS,
                        return_when=asyncio.FIRST_COMPLETED,
                    )
            finally:
                # One that was given up may still come, and would be taken for the next.
                self._is_certain = self._is_certain and first.done()
                self._first_page = None
        try:
            if not first.done():
                return await opening, None
            session = await self.attach(first.result())
            page, _ = await asyncio.gather(opening, prepare(session))
            return page, session
        finally:
            opening.cancel()

    async def attach(self, target: str) -> "DevToolsSession":
        """Return a session of the page with this target id."""
        answer = await self.send("Target.attachToTarget", {"targetId": target, "flatten": True})
        session = DevToolsSession(self, answer["sessionId"], target)
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
        with suppress(OSError, WebSocketException, asyncio.CancelledError):
            await self._reading
        with suppress(OSError, WebSocketException):
            await self._socket.close()

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
            if message["method"] == "Target.targetCreated":
                self._note_page(params["targetInfo"])
            elif message["method"] == "Target.detachedFromTarget":
                gone = self._sessions.pop(params["sessionId"], None)
                self._fail(params["sessionId"])
                if gone is not None:
                    gone.receive("close", params)
            elif session := self._sessions.get(message.get("sessionId", "")):
                session.receive(message["method"], params)
            return
        _, answer = self._answers.get(number, ("", None))
        if answer is None or answer.done():
            return
        if "error" in message:
            said = message["error"].get("message", "")
            answer.set_exception(PlaywrightError(f"Protocol error: {said}"))
        else:
            answer.set_result(message["result"])

    def _note_page(self, page: dict[str, Any]) -> None:
        """Note that a page was opened: perhaps the one that is waited for."""
        context = page["browserContextId"]
        if context not in self._contexts and self._first_page and not self._first_page.done():
            self._first_page.set_result(page["targetId"])
        self._contexts.add(context)

    def _fail(self, session: str) -> None:
        """Have nobody wait for a session that is gone."""
        for waiting, answer in self._answers.values():
            if waiting == session and not answer.done():
                answer.set_exception(PlaywrightError(_CLOSED))


class DevToolsSession:
    """Commands to one page and its events."""

    def __init__(self, devtools: DevTools, id: str, target: str) -> None:
        self.id = id
        self.target = target
        """The browser's name of the page, and of its top document's frame."""
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
