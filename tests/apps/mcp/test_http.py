"""Assistants at one server by HTTP: apart from each other, and nobody but this machine's."""

import http.client
import io
import json
import socket
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import pytest
from PIL.Image import open as open_image

from recipes import cli
from tests.apps.mcp.conftest import Assistant, assistant, http_server, staying, text_of
from tests.fakes.site import Site

pytestmark = pytest.mark.browser

_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture(scope="module")
def server(site: Site) -> Iterator[str]:
    """The address of a server with three places."""
    with http_server("--allow", site.address, "--max-sessions", "3") as address:
        yield address


@pytest.fixture
async def two(server: str) -> AsyncIterator[tuple[Assistant, Assistant]]:
    """Two assistants, one for each of the protocol's ways."""
    async with (
        staying(assistant(server, "legacy")) as one,
        staying(assistant(server, "auto")) as other,
    ):
        yield one, other


def knock(server: str, **headers: str) -> int:
    """The status of a first request with these headers."""
    place = urlsplit(server)
    assert place.hostname is not None
    line = http.client.HTTPConnection(place.hostname, place.port or 0, timeout=20)
    try:
        accept = "application/json, text/event-stream"
        sent = {"Content-Type": "application/json", "Accept": accept, **headers}
        line.request("POST", place.path, json.dumps(_HELLO), sent)
        return line.getresponse().status
    finally:
        line.close()


def test_only_names_of_this_machine_are_answered(server: str) -> None:
    assert knock(server) == 200
    assert knock(server, Host="evil.example") == 421
    assert knock(server, Host="127.0.0.1.evil.example:80") == 421
    assert knock(server, Origin="https://evil.example") == 403


async def test_assistants_know_nothing_of_each_other(two, site):
    one, other = two
    await one.open(f"{site.address}/login")
    await one.call("fill", mark=1, text="mine")
    assert "mine" not in await other.open(f"{site.address}/login")
    assert 'value="mine"' in await one.call("observe")
    await one.call("close_session")
    assert "Login" in await other.call("observe")
    await other.call("close_session")


async def test_there_are_no_more_sessions_than_places(two, site):
    one, other = two
    sessions = []
    for _ in range(3):
        await one.open()
        sessions.append(one.session)
    refused = await other.client.call_tool("open_session", {})
    assert refused.is_error and "3 sessions are open, the maximum" in text_of(refused)
    for one.session in sessions:
        await one.call("close_session")
    await other.open()
    await other.call("close_session")


async def test_a_screenshot_is_a_picture_of_the_page(two, site):
    one, _ = two
    await one.open(f"{site.address}/")
    result = await one.client.call_tool("screenshot", {"session": one.session})
    (block,) = result.content
    assert block.type == "image" and block.mime_type == "image/png"
    with open_image(io.BytesIO(b64decode(block.data))) as image:
        assert image.size == (1280, 720)
    await one.call("close_session")


async def test_without_a_guard_this_machine_and_its_files_are_closed(two, site, server):
    one, _ = two
    await one.open(f"{site.address}/")
    for url in ("file:///etc/passwd", server, "http://10.0.0.1/"):
        assert "outcome: refused: " in await one.fail("goto", url=url)
        assert "420 euros" in await one.call("observe")
    port = urlsplit(site.address).port
    result = await one.client.call_tool(
        "goto", {"session": one.session, "url": f"http://localhost:{port}/"}
    )
    assert "refused: localhost at 127.0.0.1 is in a closed network" in text_of(result)
    await one.call("close_session")


def test_a_port_that_is_taken_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert cli.main(["mcp", "--http", str(taken.getsockname()[1])]) == 3
    assert (
        "is in use (Address already in use); name another with --http, or 0 for any"
        in capsys.readouterr().err
    )
