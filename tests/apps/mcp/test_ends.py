"""However a server ends, its browser ends with it, and what was done is kept."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import psutil
import pytest

from tests.apps.mcp.conftest import ROOT, assistant, command
from webagent.records import Ending
from webagent.store import Store

pytestmark = pytest.mark.browser

_PATIENCE = 20


class Pipes:
    """A client that writes its lines itself, so that it can end in the middle of anything."""

    def __init__(self, *flags: str) -> None:
        started = command(*flags)
        assert started.env is not None
        self.process = subprocess.Popen(
            [started.command, *started.args],
            cwd=ROOT,
            env={**os.environ, **started.env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._ids = 0

    def send(self, method: str, **params: Any) -> None:
        """Ask, and do not wait."""
        assert self.process.stdin is not None
        self._ids += 1
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> Any:
        """Ask, and wait for the reply."""
        assert self.process.stdout is not None
        self.send(method, **params)
        while True:
            said = json.loads(self.process.stdout.readline())
            if said.get("id") == self._ids:
                return said["result"]

    def open(self, url: str) -> str:
        """Shake hands and open a session."""
        client = {"name": "pipes", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        said = self.call("open_session", url=url)
        assert not said.get("isError"), said
        return str(said["content"][0]["text"]).split()[1]

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool, and wait for what it says."""
        return self.ask("tools/call", name=tool, arguments=arguments)

    def children(self) -> list[psutil.Process]:
        """Everything that the server has started, the browser's processes among it."""
        found = psutil.Process(self.process.pid).children(recursive=True)
        assert any("chrom" in each.name() for each in found)
        return found

    def close_pipe(self) -> None:
        """End as a client does that is closed, or that has died."""
        self.process.stdin.close()

    def wait(self) -> int:
        """The server's exit status."""
        return self.process.wait(_PATIENCE)

    def clear_away(self) -> None:
        """Leave nothing of it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(_PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


Start = Callable[..., Pipes]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts servers that are gone after the test."""
    with ExitStack() as undo:

        def begin(*flags: str) -> Pipes:
            pipes = Pipes(*flags)
            undo.callback(pipes.clear_away)
            return pipes

        yield begin


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (Pipes.close_pipe, 0),
        (lambda pipes: pipes.process.terminate(), 128 + signal.SIGTERM),
        (lambda pipes: pipes.process.kill(), -signal.SIGKILL),
    ],
    ids=["client gone", "terminated", "killed"],
)
async def test_no_browser_stays_behind(end, status, start, site, tmp_path):
    store = tmp_path / "run"
    pipes = start("--allow", site.address, "--store", str(store))
    session = await asyncio.to_thread(pipes.open, f"{site.address}/")
    children = pipes.children()
    pipes.send("tools/call", name="wait", arguments={"session": session, "milliseconds": 60_000})
    end(pipes)
    assert await asyncio.to_thread(pipes.wait) == status
    _, alive = await asyncio.to_thread(psutil.wait_procs, children, _PATIENCE)
    assert alive == []
    with Store.open(store) as kept:
        (episode,) = kept.trajectories("any")
    assert len(episode.steps) >= 1
    assert episode.ending in (
        (None,) if status == -signal.SIGKILL else (Ending.STOPPED, Ending.WORLD_FAILED)
    )


async def test_a_session_that_nobody_uses_is_closed_and_then_the_browser(start, site):
    pipes = start("--allow", site.address, "--idle-minutes", "0.01")
    session = await asyncio.to_thread(pipes.open, f"{site.address}/")
    children = pipes.children()
    browsers = [each for each in children if "chrom" in each.name()]
    _, alive = await asyncio.to_thread(psutil.wait_procs, browsers, _PATIENCE)
    assert alive == []
    said = await asyncio.to_thread(pipes.call, "observe", session=session)
    assert said["isError"] and "idle for 0.01 minutes" in said["content"][0]["text"]
    again = await asyncio.to_thread(pipes.call, "open_session", url=f"{site.address}/")
    assert "420 euros" in again["content"][0]["text"]
    pipes.close_pipe()
    assert await asyncio.to_thread(pipes.wait) == 0


async def test_a_browser_that_is_killed_is_an_error_and_the_next_session_has_another(start, site):
    pipes = start("--allow", site.address)
    session = await asyncio.to_thread(pipes.open, f"{site.address}/")
    for child in pipes.children():
        if "chrom" in child.name():
            child.kill()
    said = await asyncio.to_thread(pipes.call, "click", session=session, mark=1)
    assert said["isError"]
    text = said["content"][0]["text"]
    assert "The browser failed" in text and "open_session gives a new one" in text
    again = await asyncio.to_thread(pipes.call, "open_session", url=f"{site.address}/")
    assert "420 euros" in again["content"][0]["text"]
    pipes.close_pipe()
    assert await asyncio.to_thread(pipes.wait) == 0


async def test_what_an_assistant_did_is_an_episode_like_any_other(site, tmp_path):
    store = tmp_path / "run"
    flags = ("--allow", site.address, "--store", str(store), "--store-screenshots")
    Store.open(store, create=True).close()  # one that is there is gone on with
    async with assistant(command(*flags)) as buyer:
        await buyer.open(f"{site.address}/", goal="Buy the blue kayak.")
        await buyer.call("click", mark=1)
        said = await buyer.call("close_session", answer="420 euros")
        await buyer.open(f"{site.address}/login")
        await buyer.call("close_session", failed="no password")
    with Store.open(store) as kept:
        bought, failed = kept.trajectories("any", phase="collect")
        assert kept.images.get(bought.steps[1].observation.screenshot).startswith(b"\x89PNG")
    if failed.ending is Ending.ANSWERED:
        bought, failed = failed, bought
    assert bought.id in said
    assert (bought.goal, bought.ending) == ("Buy the blue kayak.", Ending.ANSWERED)
    done = [type(step.decision.action).__name__ for step in bought.steps]
    assert done == ["Goto", "Click", "Answer"]
    assert bought.steps[1].observation.url == f"{site.address}/"
    assert bought.last is not None and bought.last.title == "Bought"
    assert failed.ending is Ending.GAVE_UP
