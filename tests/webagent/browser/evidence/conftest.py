"""A small shop with a login, and tasks that start in it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tasks.task import Task
from tests.fakes.site import Reply, Request, Site, serving
from tests.webagent.browser.evidence.shop import Shop
from webagent.browser import BrowserWorld

START = """<title>Start</title><h1>Welcome</h1><a href="/login">Log in</a>
<button onclick="document.title = 'pressed'">Press</button>
<button onclick="window.open('/second')">Window</button>
<button onclick="document.title = confirm('Sure?')">Ask</button>"""
LATER = """<title>Later</title><p id="p">not yet</p>
<script>setTimeout(() => { document.getElementById("p").textContent = "later"; }, 200);</script>"""


def login(_: Request) -> Reply:
    """Logs everybody in."""
    return Reply("<title>In</title>", headers={"Set-Cookie": "who=ann; HttpOnly; Path=/"})


def account(request: Request) -> Reply:
    """A page that shows who has come."""
    return Reply(f"<title>Account</title><p id=who>{request.headers.get('cookie', 'nobody')}</p>")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """The shop."""
    async with serving() as running:
        running.page("/", START)
        running.page("/second", "<title>Second</title><p>You arrived</p>")
        running.page("/later", LATER)
        running.page("/old", "", 302, Location="/account")
        running.page("/broken", "oh no", 500)
        running.page("/alert", "<title>A</title><script>alert(1); confirm(2);</script><p>After</p>")
        running.pages |= {"/login": login, "/account": account}
        yield running


@pytest.fixture
def shop(site: Site, world: BrowserWorld) -> Shop:
    """The world of the test, at the shop."""
    return Shop(site, world)


@pytest.fixture
def shop_task(site: Site) -> Callable[..., Task]:
    """Makes a task that starts in the shop: `shop_task(probes=(...))`."""

    def make(path: str = "/", **fields: Any) -> Task:
        return Task(id="t/shop@1", start_url=site.address + path, **fields)

    return make


@pytest.fixture
async def silent() -> AsyncIterator[str]:
    """The address of a server that takes every request and answers none."""

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    server.close()
