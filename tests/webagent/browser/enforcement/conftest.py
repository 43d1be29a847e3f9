"""One browser for the guards of a file."""

from collections.abc import AsyncIterator

import pytest

from webagent.browser import Browser
from webagent.guard import Guard, GuardPolicy


@pytest.fixture(scope="module")
async def held() -> AsyncIterator[Browser]:
    """A browser under a guard, for which a test sets its own before it opens a world."""
    async with Browser(guard=Guard.of(GuardPolicy())) as running:
        yield running
