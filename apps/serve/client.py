"""A client of `webagent serve` that tells failures of the world from those of the agent."""

import json
import socket
from base64 import b64encode
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    CloseConnection,
    Event,
    Ping,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)
from wsproto.utilities import RemoteProtocolError

from webagent.errors import CallError, SetupError, WorldError

_CONNECT_SECONDS = 10.0
_LOST = ("EXECUTION_ERROR", "SESSION_ERROR", "CAPACITY_REACHED", "FACTORY_ERROR")


class ServedClient:
    """One session: `with ServedClient(url) as env: turn = env.reset(seed=1)`.

    A turn is a dictionary with `observation`, `reward` and `done`. Whatever the agent is not to
    blame for, a server that is gone included, raises `WorldError`; after it a reset connects anew.
    """

    def __init__(self, url: str, seconds: float = 300.0) -> None:
        """`url` is as `webagent serve` prints it, with `client:TOKEN@` before the host where it
        asks for one; an answer may take so many `seconds`. Raises `SetupError` for another."""
        address = urlsplit(url if "//" in url else f"//{url}")
        if address.scheme not in ("", "http", "ws") or not address.hostname:
            raise SetupError(f"{url!r} is not a server's address; expected http://127.0.0.1:8000")
        self._host, self._port = address.hostname, address.port or 80
        self._path = f"{address.path.rstrip('/')}/ws"
        self._token = unquote(address.password or "")
        self._seconds = seconds
        self._socket: socket.socket | None = None
        self._wire = WSConnection(ConnectionType.CLIENT)
        self._events: list[Event] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def reset(self, **asked: Any) -> dict[str, Any]:
        """Begin an episode; `task`, `seed`, `split`, `images` and `episode_id` may say which."""
        return self._ask({"type": "reset", "data": asked})

    def step(self, action: str) -> dict[str, Any]:
        """Do an action as text, such as `click(12)`."""
        return self._ask({"type": "step", "data": {"action": action}})

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Do an action as a call of a tool."""
        return self._ask({"type": "step", "data": {"tool_name": tool, "arguments": arguments}})

    def state(self) -> dict[str, Any]:
        """Return where the episode stands."""
        return self._ask({"type": "state"})

    def close(self) -> None:
        """Give the place back. Safe to call twice."""
        connection, self._socket = self._socket, None
        if connection is not None:
            try:
                connection.sendall(self._wire.send(TextMessage('{"type": "close"}')))
            except OSError:  # the server is gone, and so is the place
                pass
            finally:
                connection.close()

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the data of the answer. Raises `CallError` for what the server does not do."""
        try:
            if self._socket is None:
                self._connect()
            self._send(TextMessage(json.dumps(message)))
            answer = json.loads(self._read_text())
        except (OSError, RemoteProtocolError) as error:
            self._drop()
            where = f"{self._host}:{self._port}"
            raise WorldError(f"the environment server at {where} is gone: {error}") from error
        data: dict[str, Any] = answer.get("data", {})
        if answer.get("type") == "error":
            reason, code = str(data.get("message", "")), str(data.get("code", ""))
            raise (WorldError if code in _LOST else CallError)(f"{code}: {reason}")
        return data

    def _connect(self) -> None:
        """Open the WebSocket. Raises `SetupError` where the server does not let this client in."""
        self._socket = socket.create_connection((self._host, self._port), _CONNECT_SECONDS)
        self._socket.settimeout(self._seconds)
        self._wire, self._events = WSConnection(ConnectionType.CLIENT), []
        headers = []
        if self._token:
            shown = b64encode(f"client:{self._token}".encode())
            headers = [(b"authorization", b"Basic " + shown)]
        host = f"{self._host}:{self._port}"
        self._send(Request(host=host, target=self._path, extra_headers=headers))
        reason = ""
        while not isinstance(event := self._next_event(), AcceptConnection):
            if isinstance(event, RejectConnection):
                reason = f"it answers {event.status_code}"
            if isinstance(event, RejectData):
                reason += f" {bytes(event.data).decode(errors='replace')}"
            if not getattr(event, "body_finished", not getattr(event, "has_body", False)):
                continue
            self._drop()
            raise SetupError(f"{host} refused this client: {reason}; is it webagent serve?")

    def _read_text(self) -> str:
        parts = []
        while True:
            event = self._next_event()
            if isinstance(event, TextMessage):
                parts.append(event.data)
                if event.message_finished:
                    return "".join(parts)
            elif isinstance(event, Ping):
                self._send(event.response())
            elif isinstance(event, CloseConnection):
                raise ConnectionResetError(f"it has closed the session ({event.code})")

    def _next_event(self) -> Event:
        while not self._events:
            if self._socket is None:
                raise ConnectionResetError("no connection is open")
            received = self._socket.recv(1 << 16)
            if not received:
                raise ConnectionResetError("it has closed the connection")
            self._wire.receive_data(received)
            self._events = list(self._wire.events())
        return self._events.pop(0)

    def _send(self, event: Event) -> None:
        if self._socket is None:
            raise ConnectionResetError("no connection is open")
        self._socket.sendall(self._wire.send(event))

    def _drop(self) -> None:
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()
