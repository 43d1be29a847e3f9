"""A client of `webagent serve` that tells failures of the world from those of the agent."""

import json
from base64 import b64encode
from contextlib import ExitStack, suppress
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from webagent.errors import CallError, SetupError, WorldError

_CONNECT_SECONDS = 10.0
_CLOSE_SECONDS = 2.0
_LOST = ("EXECUTION_ERROR", "SESSION_ERROR", "CAPACITY_REACHED", "FACTORY_ERROR")


class ServedClient:
    """One session: `with ServedClient(url) as env: turn = env.reset(seed=1)`.

    A turn is a dictionary with `observation`, `reward` and `done`. Whatever the agent is not to
    blame for, a server that is gone included, raises `WorldError`; after it a reset connects again.
    """

    def __init__(self, url: str, seconds: float = 300.0) -> None:
        """`url` is as `webagent serve` prints it, with `client:TOKEN@` before the host where it
        asks for one; an answer may take so many `seconds`. Raises `SetupError` for another."""
        address = urlsplit(url if "//" in url else f"//{url}")
        if address.scheme not in ("", "http", "ws") or not address.hostname:
            raise SetupError(f"{url!r} is not a server's address; expected http://127.0.0.1:8000")
        self._host, self._path = (
            f"{address.hostname}:{address.port or 80}",
            address.path.rstrip("/"),
        )
        self._token = unquote(address.password or "")
        self._seconds = seconds
        self._connection: ClientConnection | None = None
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def reset(self, **request: Any) -> dict[str, Any]:
        """Begin an episode; `task`, `seed`, `split`, `images` and `episode_id` may say which."""
        return self._ask({"type": "reset", "data": request})

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
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(OSError, WebSocketException):  # the server is gone, and so is the place
                connection.send('{"type": "close"}')
        self._undo.close()

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the data of the answer. Raises `CallError` for what the server does not do, and
        `SetupError` where it does not let this client in."""
        try:
            if self._connection is None:
                shown = b64encode(f"client:{self._token}".encode()).decode()
                opening = connect(
                    f"ws://{self._host}{self._path}/ws",
                    additional_headers={"Authorization": f"Basic {shown}"} if self._token else None,
                    compression=None,
                    proxy=None,
                    open_timeout=_CONNECT_SECONDS,
                    close_timeout=_CLOSE_SECONDS,
                    ping_interval=None,  # the server answers none while a page loads
                    max_size=None,  # of screenshots
                )
                self._connection = self._undo.enter_context(opening)
            self._connection.send(json.dumps(message))
            answer = json.loads(self._connection.recv(self._seconds))
        except InvalidStatus as error:
            reason = f"{error.response.status_code} {(error.response.body or b'').decode()}"
            raise SetupError(
                f"{self._host} refused this client with {reason}; is it webagent serve?"
            ) from error
        except (OSError, WebSocketException) as error:
            self.close()
            raise WorldError(f"the environment server at {self._host} is gone: {error}") from error
        data: dict[str, Any] = answer.get("data", {})
        if answer.get("type") == "error":
            reason, code = str(data.get("message", "")), str(data.get("code", ""))
            raise (WorldError if code in _LOST else CallError)(f"{code}: {reason}")
        return data
