"""Pages are reached past the driver, and by nobody else."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError
from websockets.asyncio.server import ServerConnection, serve

from webagent.action import actions as act
from webagent.browser import Browser
from webagent.browser.devtools import PORT_FLAG, DevTools
from webagent.guard import Guard, GuardPolicy

pytestmark = pytest.mark.browser


async def test_a_step_needs_nothing_of_the_driver(local, monkeypatch):
    page = await local.show("<button onclick='this.textContent = 1'>Go</button>")
    asked: list[str] = []

    async def refuse(session: CDPSession, method: str, params: Any = None) -> None:
        asked.append(method)

    monkeypatch.setattr(CDPSession, "send", refuse)
    page = await local.step(act.Click(page.nodes[0].mark))
    assert [node.name for node in page.nodes] == ["1"]
    assert asked == []


async def test_a_page_that_knows_the_port_cannot_use_it(browser, world, local):
    devtools = browser.engines[0].devtools
    assert devtools is not None
    host = devtools.address.removeprefix("ws://").partition("/")[0]
    await local.show("<p>Here</p>", clock="real")
    said = await world.tabs().first.evaluate(
        f"""(async () => [
          await new Promise(done => {{
            const socket = new WebSocket({devtools.address!r});
            socket.onopen = () => done("open");
            socket.onerror = () => done("refused");
          }}),
          ...await Promise.all([["version", "GET"], ["new", "PUT"]].map(([path, method]) =>
            fetch("http://{host}/json/" + path, {{method}}).then(a => a.text(), () => "refused")
          )),
        ])()"""
    )
    assert said == ["refused"] * 3


async def test_a_guarded_browser_has_no_port() -> None:
    async with Browser(guard=Guard(GuardPolicy())) as browser:
        (engine,) = browser.engines
        assert engine.devtools is None
        assert not any(PORT_FLAG in " ".join(each.cmdline()) for each in engine.family())


async def test_a_refused_command_is_the_drivers_error(browser, world, local):
    await local.show("<p>Here</p>")
    devtools = browser.engines[0].devtools
    assert devtools is not None
    with pytest.raises(PlaywrightError, match="NoSuchMethod"):
        await devtools.send("Page.NoSuchMethod")


async def test_who_waits_for_a_page_hears_that_it_is_closed(browser, world, local):
    await local.show("<p>Here</p>")
    tab = world.tabs().first
    waiting = asyncio.ensure_future(tab.evaluate("new Promise(() => {})"))
    await asyncio.sleep(0)
    await tab.page.close()
    with pytest.raises(Exception, match="closed"):
        await waiting
    assert tab.is_closed


async def test_a_browser_that_hangs_leaves_no_connection_behind(tmp_path: Path) -> None:
    async def hang(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        await connection.wait_closed()

    async with serve(hang, "127.0.0.1", 0, close_timeout=0.1) as server:
        port = server.sockets[0].getsockname()[1]
        (tmp_path / "DevToolsActivePort").write_text(f"{port}\n/devtools")
        devtools = await DevTools.open(tmp_path)
        closing = asyncio.ensure_future(devtools.close())
        await asyncio.wait({closing}, timeout=0.2)
        assert not closing.done()
        closing.cancel()
        await asyncio.wait({closing})
        assert devtools._socket.transport.is_closing()
