"""The browser's commands as they are sent."""

import pytest

from webagent.browser.devtools import DevToolsSession


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
