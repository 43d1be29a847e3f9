"""Hosts of a private authority, which a profile opens by name and no other."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tasks.task import Task
from tests.fakes.site import Reply, serving
from tests.local_pages import mark_of
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.browser.http import make_server_context, read_head
from webagent.browser.sessions.profile import Profile
from webagent.errors import WorldError
from webagent.guard import Guard, GuardPolicy

pytestmark = pytest.mark.browser

PAGE = b"""<title>Wiki</title><a href=/two>Two</a> <a href=/two target=_blank>In a tab</a>
<form action=/two method=post><button>Send</button></form><p id=o></p>
<script>(async () => {
  o.textContent = (await (await fetch("/data")).text()).length })()</script>"""


@pytest.fixture
async def intranet() -> AsyncIterator[str]:
    """The address of a site whose certificate nobody knows."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(PAGE)}\r\n"
        head += "".join(f"Access-Control-Allow-{name}: *\r\n" for name in ("Origin", "Methods"))
        writer.write(head.encode() + b"Connection: close\r\n\r\n" + PAGE)
        await writer.drain()
        writer.close()

    context = make_server_context(ec.generate_private_key(ec.SECP256R1()), "own", "127.0.0.1")
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    server.close()


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_host_that_the_profile_names_is_opened_and_said(browser, intranet, clock, caplog):
    world = await browser.world(profile=Profile(insecure=("127.0.0.1",)))
    page = await world.reset(Task("t/wiki@1", intranet, clock=clock))
    assert "THE CERTIFICATES OF 127.0.0.1 ARE NOT CHECKED" in caplog.text
    assert str(len(PAGE)) in [node.name for node in page.nodes]
    for link, tabs in (("Two", 1), ("Send", 1), ("In a tab", 2)):
        page = await world.step(act.Click(mark_of(page, link)))
        assert (page.url, page.title, page.outcome) == (f"{intranet}two", "Wiki", "")
        assert len(page.tabs) == tabs
    await world.close()


async def test_no_other_host_is_opened(browser: Browser, intranet: str) -> None:
    for profile in (Profile(), Profile(insecure=("wiki.intranet",))):
        world = await browser.world(profile=profile)
        with pytest.raises(WorldError, match="ERR_CERT_AUTHORITY_INVALID"):
            await world.reset(Task("t/wiki@1", intranet, clock="real"))
        await world.close()


@pytest.mark.parametrize("inspects", [False, True])
async def test_a_guard_asks_such_a_host_before_requests_from_elsewhere(intranet, inspects):
    start = Reply(f"""<button onclick="fetch('{intranet}', {{ method: 'PUT' }}).then(
      () => {{ document.title = 'sent'; }}, () => {{ document.title = 'no'; }})">Put</button>""")
    policy = GuardPolicy(other_sites="allow", open_networks=("127.0.0.0/8",), inspect_tls=inspects)
    guard = Guard.of(policy)
    async with serving() as other, Browser(guard=guard) as browser:
        other.pages["/"] = lambda _: start
        for insecure, title in ((("127.0.0.1",), "sent"), ((), "no")):
            world = await browser.world(profile=Profile(insecure=insecure))
            page = await world.reset(Task("t/put@1", f"{other.address}/", clock="real"))
            assert (await world.step(act.Click(mark_of(page, "Put")))).title == title
            await world.close()
