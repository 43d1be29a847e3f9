"""One browser for the whole run, and the local pages it is tested on."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tasks.task import Task
from webagent.browser import Browser, BrowserWorld

PAGES = Path(__file__).parent / "pages"


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """A Chromium that stays warm for all tests."""
    async with Browser() as running:
        yield running


@pytest.fixture
async def world(browser: Browser) -> AsyncIterator[BrowserWorld]:
    """A world of its own for one test."""
    opened = await browser.world()
    yield opened
    await opened.close()


@pytest.fixture
def page_task() -> Callable[..., Task]:
    """Makes a task on one of the local pages: `page_task("form", clock="real")`."""

    def make(name: str, **fields: Any) -> Task:
        return Task(id=f"page/{name}@1", start_url=(PAGES / f"{name}.html").as_uri(), **fields)

    return make
