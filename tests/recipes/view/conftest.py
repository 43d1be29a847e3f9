"""Runs to look at, a viewer that serves them, and a browser to look with."""

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser as Chromium
from playwright.async_api import Page, async_playwright

from recipes import cli
from recipes.view.archive import Archive
from recipes.view.server import listen, server_of
from webagent.browser.chromium import can_sandbox, find_chromium


@pytest.fixture(scope="session")
def real_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one run that was really played: two MiniWoB++ tasks, two seeds, the oracle."""
    folder = tmp_path_factory.mktemp("runs")
    asked = ["--tasks", "click-test", "login-user", "--seeds", "2", "--policy", "oracle"]
    with chdir(folder):
        assert cli.main(["benchmark", "miniwob", *asked, "--name", "real", "--no-baselines"]) == 0
    return folder / "runs"


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a viewer of this folder, in a thread of its own."""
    archive = Archive(folder)
    with listen("127.0.0.1", 0) as listening:
        server = server_of(archive)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def view() -> Iterator[Callable[[Path], str]]:
    """Serves a folder until the test is over: `view(folder)` gives the address."""
    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(serving(folder))


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Chromium]:
    """A plain Chromium, as a person has one."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(headless=True).path, chromium_sandbox=can_sandbox()
        )
        yield browser
        await browser.close()


@pytest.fixture
async def page(chromium: Chromium) -> AsyncIterator[Page]:
    """A page whose console and network must stay free of errors."""
    context = await chromium.new_context(viewport={"width": 1280, "height": 800})
    opened = await context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    yield opened
    await context.close()
    assert problems == []
