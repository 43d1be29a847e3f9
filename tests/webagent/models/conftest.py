"""Models of the fake chat server."""

from collections.abc import AsyncIterator, Callable

import pytest

from tests.fakes.chat_server import ChatServer
from webagent.models import Endpoint, EndpointModel

Connect = Callable[..., EndpointModel]


@pytest.fixture
async def connect(chat_server: ChatServer) -> AsyncIterator[Connect]:
    """Make models for the server, impatient unless told otherwise; they are closed at the end."""
    models = []
    usual = {"base_url": chat_server.url, "api_key": "key-1", "first_pause": 0.01, "attempts": 3}

    def make(**options: object) -> EndpointModel:
        models.append(EndpointModel(Endpoint("asked", **(usual | options))))  # type: ignore[arg-type]
        return models[-1]

    yield make
    for model in models:
        await model.close()
