"""One browser for the whole run, and the local pages it is tested on."""

import os
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


@pytest.fixture(scope="session")
def benchmarks() -> Path:
    """The folder of published task files, which are not part of this repository."""
    return _outside("WEBAGENT_BENCHMARKS", "benchmarks", "task files of published benchmarks")


@pytest.fixture(scope="session")
def recorded_episodes() -> Path:
    """The folder of other systems' recorded episodes, which are not part of this repository."""
    return _outside("WEBAGENT_RECORDED", "trajectories", "episodes recorded by other systems")


def _outside(variable: str, folder: str, what: str) -> Path:
    """The folder that the variable names, else one beside the repository; skips without either."""
    named = os.environ.get(variable)
    places = [Path(named)] if named else []
    places += [parent / "shared" / "data" / folder for parent in Path(__file__).resolve().parents]
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        pytest.skip(f"no {what} here; set {variable} to the folder that holds them")
    return found
