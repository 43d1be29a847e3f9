"""Runs to look at, a viewer that serves them, and a browser to look with."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.async_api import Browser as Chromium
from playwright.async_api import Page, async_playwright, expect

from apps.view.contents import Archive
from apps.view.server import server_of
from loop.folder import RunFolder
from recipes import cli
from tests.fakes.listening import running
from tests.fakes.run import TASKS, fill
from webagent.browser.chromium import find_chromium, has_sandbox

expect.set_options(timeout=20_000)  # ms; other tests may take the cores meanwhile

RATES = {("none", 0): 0.3, ("control", 1): 0.4, ("self", 1): 0.6, ("self", 2): 0.8}


@dataclass(frozen=True)
class Settings:
    """What a made run says it was begun with."""

    rounds: int = 2
    tasks: tuple[str, ...] = TASKS


def make_run(path: Path, rates: dict[tuple[str, int], float], rounds: int = 2) -> Path:
    """A run of known outcomes, as `webagent improve` would leave it."""
    folder = RunFolder.create(path, Settings(rounds), ["webagent", "improve", "--name", path.name])
    with folder.store() as store:
        fill(store, rates, repeats=2)
    return path


@pytest.fixture(scope="session")
def made_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs of known outcomes; the second one is better."""
    folder = tmp_path_factory.mktemp("made")
    make_run(folder / "one", RATES)
    make_run(folder / "two", {**RATES, ("self", 2): 1.0}, rounds=3)
    return folder


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
    """The address of a viewer of this folder, in a thread of its own, with nothing cached."""
    with (
        TemporaryDirectory() as cache,
        running(server_of(Archive(folder), cache=Path(cache))) as address,
    ):
        yield address


@pytest.fixture
def view() -> Iterator[Callable[[Path], str]]:
    """Serves a folder until the test is over: `view(folder)` gives the address."""
    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(serving(folder))


@pytest.fixture(scope="package")
async def chromium() -> AsyncIterator[Chromium]:
    """A plain Chromium, as a person has one."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(headless=True).path, chromium_sandbox=has_sandbox()
        )
        yield browser
        await browser.close()


@pytest.fixture
async def page(chromium: Chromium) -> AsyncIterator[Page]:
    """A page whose console must stay free of errors, refused answers apart."""
    context = await chromium.new_context(viewport={"width": 1280, "height": 800})
    opened = await context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    yield opened
    await context.close()
    assert [said for said in problems if "Failed to load resource" not in said] == []
