"""A chat server, or the browser's commands as they are sent, for every test that asks for them."""

from collections.abc import Iterator

import pytest

from tests.fakes.chat_server import Behave, ChatServer, serving
from webagent.browser.devtools import DevToolsSession


@pytest.fixture
def behave() -> type[Behave]:
    """The ways a server can treat a request."""
    return Behave


@pytest.fixture
def chat_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A chat server on a port of its own, in a thread."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        yield server


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every protocol command that we send, as it is sent."""
    sent: list[str] = []
    send = DevToolsSession.send

    async def count(session, method, params=None):
        sent.append(method)
        return await send(session, method, params)

    monkeypatch.setattr(DevToolsSession, "send", count)
    return sent
