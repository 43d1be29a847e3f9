"""A chat server for every test that asks for one."""

from collections.abc import Iterator

import pytest

from tests.fakes.chat_server import Behave, ChatServer, serving


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
