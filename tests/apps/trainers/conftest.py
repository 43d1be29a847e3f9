"""A server with the tasks of MiniWoB++, and a model that plays what was recorded in process."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.apps.serve.conftest import RunningServer, running_server
from tests.apps.trainers.foreign_server import ForeignServer
from tests.fakes.chat_server import ChatServer, serving


@pytest.fixture(scope="session")
def served() -> Iterator[RunningServer]:
    with running_server(max_sessions=48) as server:
        yield server


@pytest.fixture
def serve() -> Callable[..., AbstractContextManager[Any]]:
    return running_server


@pytest.fixture
def model_server() -> Iterator[ChatServer]:
    with serving() as server:
        yield server


@pytest.fixture
def foreign() -> Iterator[ForeignServer]:
    server = ForeignServer()
    yield server
    server.close()
