"""What breaks under an episode is a `WorldError`, and costs no more than that episode."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from tasks.task import PageHooks
from tests.local_pages import LocalWorld, MakeTask
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.errors import WorldError

pytestmark = pytest.mark.browser


def chromiums_below(pid: int) -> set[psutil.Process]:
    """The browser processes among the descendants of a process."""
    descendants = psutil.Process(pid).children(recursive=True)
    return {process for process in descendants if "chrom" in "".join(command_of(process)[:1])}


def newest_main(pid: int) -> psutil.Process:
    """The main process of the browser that was started last.

    Told by its child, the zygote: a wrapper script above the main process, and a fork below it that
    has not yet become a renderer, show the same command line as the main process itself.
    """
    zygotes = [
        process for process in chromiums_below(pid) if "--type=zygote" in command_of(process)
    ]
    mains = {zygote.parent() for zygote in zygotes} - set(zygotes)
    return max(filter(None, mains), key=lambda main: main.create_time())


def command_of(process: psutil.Process) -> list[str]:
    """Its command line; empty for one that has just ended."""
    try:
        return list(process.cmdline())
    except psutil.NoSuchProcess:
        return []


def all_gone(processes: set[psutil.Process], seconds: float) -> bool:
    """Whether all of them end within so many seconds."""
    gone, alive = psutil.wait_procs(processes, timeout=seconds)
    return len(gone) == len(processes) and not alive


@pytest.fixture
async def server() -> AsyncIterator[str]:
    """A server with a page whose picture never comes; for all else it gives no answer."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await reader.readline()
            if b"/page" in request:
                body = b"<title>Slow</title><p>Half here</p><img src='/never.png'>"
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
                writer.write(head % len(body) + body)
                await writer.drain()
            else:
                await reader.read()
        except ConnectionError:
            pass  # the browser has left
        finally:
            writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    listening.close()


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_page_that_never_finishes_loading_is_used_as_it_is(
    local, server, clock, monkeypatch
):
    for module in ("page.clock", "tabs"):
        monkeypatch.setattr(f"webagent.browser.{module}.LOAD_SECONDS", 1.0)
    monkeypatch.setattr("webagent.browser.page.clock.DATA_SECONDS", 0.5)
    await local.open("tabs", clock=clock)
    slow = await local.step(act.Goto(f"{server}/page"))
    assert slow.outcome == "the page was still loading after 1 s and was stopped"
    assert [node.name for node in slow.nodes] == ["Half here"]
    silent = await local.step(act.Goto(f"{server}/silent"))
    assert silent.outcome == f"cannot open {server}/silent: no answer in 1 s"
    assert silent.title == "Slow"


async def test_a_page_that_hangs_is_given_up(local, monkeypatch):
    monkeypatch.setattr("webagent.browser.page.connection.ANSWER_SECONDS", 1.0)
    page = await local.open("hang")
    with pytest.raises(WorldError, match="no answer in 1 s"):
        await local.step(act.Click(page.nodes[0].mark))
    assert (await local.open("tabs")).title == "First"


async def test_a_crashed_page_fails_the_episode_and_not_the_next(local: LocalWorld) -> None:
    await local.open("tabs")
    with pytest.raises(WorldError, match="crashed"):
        await local.step(act.Goto("chrome://crash"))
    assert (await local.open("tabs")).title == "First"


async def test_a_page_that_cannot_be_opened_fails_the_reset(local: LocalWorld) -> None:
    with pytest.raises(WorldError, match=r"cannot open .*nowhere\.html"):
        await local.open("nowhere")
    assert (await local.open("tabs")).title == "First"


async def test_a_start_hook_that_throws_fails_the_reset(world, page_task):
    with pytest.raises(WorldError, match="generator broke"):
        await world.reset(
            page_task("tabs", hooks=PageHooks(start="throw Error('generator broke')"))
        )


async def test_a_killed_browser_costs_the_episode_in_flight_only(page_task: MakeTask) -> None:
    async with Browser() as browser:
        world = await browser.world()
        await world.reset(page_task("tabs"))
        chromium = newest_main(os.getpid())
        chromium.kill()
        chromium.wait(5)
        with pytest.raises(WorldError):
            await world.step(act.NewTab())
        assert (await world.reset(page_task("tabs"))).title == "First"
        assert browser.launches == 2


async def test_no_chromium_is_left_after_close(page_task: MakeTask) -> None:
    before = chromiums_below(os.getpid())
    async with Browser() as browser:
        world = await browser.world()
        await world.reset(page_task("tabs"))
        own = chromiums_below(os.getpid()) - before
        assert own
    assert all_gone(own, 5)
    await browser.close()


CHILD = """
import asyncio, sys
from tasks.task import Task
from webagent.browser import Browser

async def main():
    async with Browser() as browser:
        world = await browser.world()
        await world.reset(Task(id="page/tabs@1", start_url=sys.argv[1]))
        print("playing", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_chromium_outlives_its_parent(how: signal.Signals, page_task: MakeTask) -> None:
    url = page_task("tabs").start_url
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, url],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[3],
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == b"playing\n"
        chromiums = chromiums_below(child.pid)
        assert chromiums
        os.kill(child.pid, how)
        started = time.monotonic()
        assert all_gone(chromiums, 10)
        child.wait(timeout=10 - (time.monotonic() - started))


async def test_a_question_to_a_page_that_is_being_replaced_goes_to_the_next_one(local):
    leaving = "(window.name ||= 'again', location.reload(), new Promise(() => {}))"
    answered = PageHooks(goal=f"window.name ? 'the next page' : {leaving}")
    assert (await local.open("form", clock="real", hooks=answered)).goal == "the next page"
    with pytest.raises(WorldError, match="replaced repeatedly"):
        await local.open("form", clock="real", hooks=PageHooks(goal=leaving))
