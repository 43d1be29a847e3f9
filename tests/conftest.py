"""The tiers, a home apart from the user's, and what tests of all packages are given."""

import gc
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import tiers
from tests.fakes.chat_server import Behave, ChatServer, serving
from tests.local_pages import Gallery, LocalWorld, MakeTask, make_page_task
from webagent.browser import Browser, BrowserWorld
from webagent.store import Store

# A property test is not about time, and a busy machine is no failure.
settings.register_profile("busy", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=20)
SELECTION = pytest.StashKey[tiers.Selection]()
HOME = pytest.StashKey[Path]()
LOADED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the choice of a tier, or of a share of what the default tier leaves out."""
    parser.addoption("--tier", choices=tiers.TIERS, default="all", help="tests to run (all)")
    parser.addoption("--share", metavar="K/N", help="of what tier default leaves out, share K of N")


def pytest_configure(config: pytest.Config) -> None:
    """Read the selection, and move home before a test module is imported."""
    share = config.getoption("share")
    tier = config.getoption("tier")
    config.stash[SELECTION] = tiers.Selection(tier) if share is None else tiers.read_share(share)
    config.stash[HOME] = tiers.move_home()
    settings.load_profile("fast" if tier == "fast" else "busy")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the home."""
    tiers.remove_home(config.stash[HOME])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which nothing is played."""
    return config.stash[SELECTION].passes_over(collection_path, config.rootpath) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage in thousands of tests, and seldom in what they leave."""
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what does not belong to the selection."""
    kept = config.stash[SELECTION].keep(items)
    chosen = {id(item) for item in kept}
    left_out = [item for item in items if id(item) not in chosen]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = kept


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Fail the first test of tier fast that loads torch."""
    stash = item.config.stash
    if stash[SELECTION].tier == "fast" and "torch" in sys.modules and not stash.get(LOADED, False):
        stash[LOADED] = True
        pytest.fail("loads torch: mark it slow, or name its file in WITH_TORCH of tests/tiers.py")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say which selection ran, and which of its tests took longer than the tier allows."""
    selection = config.stash[SELECTION]
    terminalreporter.write_line(f"ran {selection}")
    limit = tiers.SECONDS.get(selection.tier)
    if limit is None or selection.share is not None:
        return
    reports = [r for name in ("passed", "failed") for r in terminalreporter.getreports(name)]
    slow = [r for r in reports if r.when == "call" and r.duration > tiers.MARGIN * limit]
    if slow:
        terminalreporter.write_line(
            f"{len(slow)} tests took over {tiers.MARGIN * limit:g} s. On a quiet machine a test of "
            f"this tier takes {limit:g} s at most, or is marked slow (from 1 s) or very_slow (5 s)."
        )
    for report in sorted(slow, key=lambda r: -r.duration)[:10]:
        terminalreporter.write_line(f"  {report.duration:6.1f} s  {report.nodeid}")


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
def local(world: BrowserWorld, tmp_path: Path) -> LocalWorld:
    """The world of the test, opened at local pages: `await local.open("form", clock="real")`."""
    return LocalWorld(world, tmp_path)


@pytest.fixture(scope="module")
async def gallery(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Gallery]:
    """One world for all pages of a file that are only looked at: `await gallery.show(source)`."""
    opened = await browser.world()
    yield Gallery(opened, tmp_path_factory.mktemp("gallery"))
    await opened.close()


@pytest.fixture
def page_task() -> MakeTask:
    """Makes a task on one of the local pages."""
    return make_page_task


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store, in the folder `run`."""
    with Store.open(tmp_path / "run", create=True) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def behave() -> type[Behave]:
    """The ways a server can treat a request."""
    return Behave


@pytest.fixture
def chat_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A chat server on a port of its own, in a thread; models named alone are behind it."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.fixture(scope="session")
def benchmarks() -> Path:
    """The folder of published task files, which are not part of this repository."""
    return _outside("WEBAGENT_BENCHMARKS", "benchmarks", "task files of published benchmarks")


def _outside(variable: str, folder: str, what: str) -> Path:
    """The folder that the variable names, else one beside the repository; skips without either."""
    named = os.environ.get(variable)
    places = [Path(named)] if named else []
    places += [parent / "shared" / "data" / folder for parent in Path(__file__).resolve().parents]
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        pytest.skip(f"no {what} here; set {variable} to the folder that holds them")
    return found
