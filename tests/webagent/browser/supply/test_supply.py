"""Browsers are replaced without cutting an episode, and what nobody uses is taken back."""

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tasks.task import Task
from tests.local_pages import MakeTask
from webagent.action import actions as act
from webagent.browser import Browser, BrowserLimits, BrowserWorld
from webagent.browser import pool as supply_module
from webagent.browser.chromium import Chromium
from webagent.browser.engine import BrowserProcess, OwnedFolder, remove_orphans
from webagent.errors import SetupError, WorldError

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def quick_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The supply looks after its browsers ten times a second."""
    monkeypatch.setattr(supply_module, "_ROUND_SECONDS", 0.1)
    monkeypatch.setattr(supply_module, "_WEIGH_SECONDS", 0.1)


async def until(is_so: Callable[[], bool], seconds: float = 15.0) -> None:
    """Wait until something is so; fail when it does not come about."""
    async with asyncio.timeout(seconds):
        while not is_so():
            await asyncio.sleep(0.02)


async def play(world: BrowserWorld, task: Task) -> str:
    """A short episode; the title it ends with."""
    await world.reset(task)
    return (await world.step(act.Wait(10))).title


@pytest.mark.very_slow
async def test_a_browser_is_replaced_after_so_many_pages_and_none_of_them_is_cut(page_task):
    async with Browser(limits=BrowserLimits(episodes=3)) as browser:
        long = await browser.world()
        await long.reset(page_task("tabs"))
        first = browser.engines[0]
        world = await browser.world()
        for _ in range(6):
            assert await play(world, page_task("tabs")) == "First"
        assert browser.launches >= 2
        assert first.is_alive
        assert (await long.step(act.Wait(10))).title == "First"
        await long.close()
        await until(lambda: not first.is_alive)
        assert len(browser.engines) == 1


async def test_a_world_that_was_closed_is_not_kept(page_task: MakeTask) -> None:
    async with Browser() as browser:
        world = await browser.world()
        await play(world, page_task("tabs"))
        kept = weakref.ref(world)
        await world.close()
        del world
        gc.collect()
        assert kept() is None


async def test_a_browser_is_replaced_when_it_is_old(page_task: MakeTask) -> None:
    async with Browser(limits=BrowserLimits(browser_seconds=1.0)) as browser:
        first = browser.engines[0]
        await until(lambda: not first.is_alive)
        assert await play(await browser.world(), page_task("tabs")) == "First"


async def test_a_browser_is_replaced_when_it_takes_too_much_memory(page_task: MakeTask) -> None:
    async with Browser(limits=BrowserLimits(megabytes=1, page_megabytes=200)) as browser:
        first = browser.engines[0]
        assert first.megabytes() > 50
        await until(lambda: not first.is_alive)


async def test_a_page_that_nobody_uses_is_taken_back_and_said_to_be(page_task: MakeTask) -> None:
    async with Browser(limits=BrowserLimits(lease_seconds=1.0)) as browser:
        world = await browser.world()
        await world.reset(page_task("tabs"))
        await until(lambda: not browser.engines[0].chrome.contexts)
        with pytest.raises(WorldError, match="nobody used the page for too long"):
            await world.step(act.Wait(10))
        assert await play(world, page_task("tabs")) == "First"


async def test_each_use_renews_the_lease(page_task: MakeTask) -> None:
    async with Browser(limits=BrowserLimits(lease_seconds=1.5)) as browser:
        world = await browser.world()
        await world.reset(page_task("tabs"))
        for _ in range(5):
            await asyncio.sleep(0.5)
            assert (await world.step(act.Wait(10))).title == "First"


async def test_a_world_that_was_let_go_without_closing_leaves_no_page(page_task: MakeTask) -> None:
    async with Browser(limits=BrowserLimits(lease_seconds=1.0)) as browser:
        world = await browser.world()
        await world.reset(page_task("tabs"))
        del world
        await until(lambda: not browser.engines[0].chrome.contexts)


async def test_another_browser_is_started_where_one_is_full(page_task: MakeTask) -> None:
    async with Browser(limits=BrowserLimits(pages=2)) as browser:
        worlds = [await browser.world() for _ in range(3)]
        titles = await asyncio.gather(*(play(world, page_task("tabs")) for world in worlds))
        assert titles == ["First"] * 3
        assert len(browser.engines) >= 2


async def test_a_killed_driver_costs_the_episode_in_flight_only(page_task: MakeTask) -> None:
    async with Browser() as browser:
        world = await browser.world()
        await world.reset(page_task("tabs"))
        family = browser.engines[0].family()
        # The driver is the one of its processes that this process started.
        next(each for each in browser.engines[0].family() if each.ppid() == os.getpid()).kill()
        with pytest.raises(WorldError):
            await world.step(act.NewTab())
        assert await play(world, page_task("tabs")) == "First"
        assert not psutil.wait_procs(family, timeout=10)[1]


def drivers() -> set[psutil.Process]:
    """The drivers that this process has started."""
    children = psutil.Process().children()
    return {each for each in children if "run-driver" in each.cmdline()}


async def test_a_driver_killed_as_it_starts_is_started_again(page_task: MakeTask) -> None:
    async def kill_the_next() -> None:
        while not (new := drivers() - before):
            await asyncio.sleep(0.01)
        new.pop().kill()

    before = drivers()
    killing = asyncio.create_task(kill_the_next())
    async with Browser() as browser:
        assert killing.done()
        assert await play(await browser.world(), page_task("tabs")) == "First"


@pytest.mark.very_slow
async def test_a_browser_that_stands_still_is_left_and_ended(page_task, monkeypatch):
    monkeypatch.setattr(supply_module, "_OPEN_SECONDS", 4.0)  # three times what one takes
    monkeypatch.setattr(supply_module, "_CLOSE_SECONDS", 0.5)
    monkeypatch.setattr("webagent.browser.engine._CLOSE_SECONDS", 0.5)
    async with Browser() as browser:
        frozen = browser.engines[0]
        for process in frozen.family():
            process.suspend()
        world = await browser.world()
        assert await play(world, page_task("tabs")) == "First"
        await until(lambda: not frozen.is_alive)


async def test_a_page_that_asks_for_too_much_memory_crashes_alone(page_task: MakeTask) -> None:
    async with Browser(limits=BrowserLimits(page_megabytes=300)) as browser:
        other = await browser.world()
        await other.reset(page_task("tabs"))
        world = await browser.world()
        await world.reset(page_task("bomb"))
        with pytest.raises(WorldError, match="crashed"):
            await world.step(act.Click(1))
        assert (await other.step(act.Wait(10))).title == "First"
        assert browser.launches == 1


async def test_a_profile_goes_also_when_the_driver_is_killed_while_the_browser_starts(
    tmp_path, monkeypatch
):
    scratch, browser = tmp_path / "scratch", tmp_path / "chromium"
    scratch.mkdir()
    browser.write_text("#!/bin/sh\nsleep 30\n")
    browser.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    before = drivers()
    chromium = Chromium(browser, "headless shell", "the test")
    starting = asyncio.ensure_future(
        BrowserProcess.start(chromium, True, flags=(), page_megabytes=1000)
    )
    await until(lambda: bool(running(browser)))
    for driver in drivers() - before:
        driver.kill()
    with pytest.raises(SetupError):
        await starting
    for process in running(browser):
        for each in (*process.children(), process):
            each.kill()
    assert not list(scratch.iterdir())


def running(program: Path) -> list[psutil.Process]:
    """The processes of a program of ours."""
    found = psutil.process_iter(["cmdline"])
    return [each for each in found if str(program) in (each.info["cmdline"] or ())]


OWNER = """
from webagent.browser.engine import OwnedFolder
from pathlib import Path
import sys, time
folder = OwnedFolder()
folder.add_profile(Path(sys.argv[1]))
print(folder.path, flush=True)
time.sleep(60)
"""


def test_folders_are_swept_once_their_owner_is_gone_and_not_before(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # else another process may sweep first
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    profile = Path(tempfile.mkdtemp(prefix="playwright_chromiumdev_profile-"))
    mine = OwnedFolder()
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(profile)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[4],
    ) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().decode().strip())
        assert folder not in remove_orphans() and profile.is_dir()
        owner.kill()
        owner.wait()
    assert folder in remove_orphans()
    assert not folder.exists() and not profile.exists()
    assert mine.path.is_dir()
    mine.remove()


def test_a_folder_that_names_something_else_as_its_profile_cannot_have_it_deleted(tmp_path):
    folder = OwnedFolder()
    folder.add_profile(tmp_path)
    folder.remove()
    assert tmp_path.is_dir() and not folder.path.exists()


async def test_a_browser_leaves_no_folder_behind() -> None:
    def folders() -> set[Path]:
        return {*Path(tempfile.gettempdir()).glob("webagent-browser-*")}

    async with Browser() as browser:
        arguments = " ".join(browser.engines[0].family()[0].cmdline())
        profile = Path(arguments.partition("--user-data-dir=")[2].split()[0])
        assert profile.is_dir()
        own = browser.engines[0]._folder.path
        assert own in folders()
    assert own not in folders() and not profile.exists()
