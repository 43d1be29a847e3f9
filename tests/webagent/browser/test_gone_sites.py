"""Sites that are gone: refused, reset, without an answer, cut off; by every way there."""

import socket
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest

from tasks.task import Task, TaskCheck
from tests.fakes.listening import Handler, listening
from webagent.action import parse_action
from webagent.browser import BrowserWorld
from webagent.errors import ServerError

pytestmark = pytest.mark.browser
WAYS = {
    "link": '<a href="{to}">Go</a>',
    "tab": '<a target=_blank href="{to}">Go</a>',
    "form": '<form action="{to}"><button>Go</button></form>',
    "script": "<button onclick=\"location.href='{to}'\">Go</button>",
}
WINDOW = (
    "<title>Shop</title><button onclick=\"open('{to}', 'p', 'width=300')\">Go</button>"
    "<script>onmessage = (event) => {{ document.title = event.data; }}</script>"
)
CLOSING = "<script>opener.postMessage('done', '*'); setTimeout(() => close(), {after})</script>"


class Failing(Handler):
    """Answers `/WAY-FAILURE` with a page that leads to `/FAILURE`, which fails in that way."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Fail as the path says."""
        path = self.path.strip("/?")
        way, _, failure = path.partition("-")
        if path == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.connection.close()
            self.close_connection = True
        elif path == "hang":
            time.sleep(20)
        elif path == "cut":
            self.send("<h1>Half", headers={"Content-Length": "500"})
            self.close_connection = True
        elif path == "loop":
            self.send("", 302, {"Location": "/loop"})
        elif path.isdigit():
            self.send("" if path == "404" else "<h1>Sorry</h1>", int(path))
        elif path.startswith("closes"):
            self.send(CLOSING.format(after=path.removeprefix("closes")))
        else:
            dead = {"refused": self.server.closed, "unknown": "http://nowhere.invalid/"}  # type: ignore[attr-defined]
            dead["mail"] = "mailto:a@b.c"
            self.send((WAYS.get(way) or WINDOW).format(to=dead.get(failure, f"/{failure}")))


@pytest.fixture(scope="module")
def failing() -> Iterator[str]:
    """The address of a server that fails."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}/"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    server.daemon_threads = True
    server.closed = closed  # type: ignore[attr-defined]
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}"


def task(base: str, way: str, failure: str, clock: str, is_tested: bool) -> Task:
    """A task on the page that leads to a failure; it is scored where the site is under test."""
    checks = (TaskCheck("text", "equals", "x"),) if is_tested else ()
    return Task("gone/x@1", f"{base}/{way}-{failure}", clock=clock, checks=checks)


SAID = {
    "refused": "cannot be opened: net::ERR_CONNECTION_REFUSED",
    "reset": "cannot be opened: net::ERR_CONNECTION_RESET",
    "cut": "was cut off: net::ERR_CONTENT_LENGTH_MISMATCH",
    "502": "with status 502",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.parametrize("way", list(WAYS))
async def test_a_site_that_is_gone_is_said_and_is_no_failure_of_the_agents(
    world, failing, way, clock
):
    for failure, said in SAID.items():
        await world.reset(task(failing, way, failure, clock, is_tested=False))
        assert said in (await world.step(parse_action("click(1)"))).outcome, failure
        await world.reset(task(failing, way, failure, clock, is_tested=True))
        with pytest.raises(ServerError, match=said):
            await world.step(parse_action("click(1)"))


@pytest.mark.parametrize("clock", ["real", "virtual"])
async def test_what_a_page_leads_to_elsewhere_and_what_a_server_says_is_for_the_agent(
    world, failing, clock
):
    for failure, said in {
        "unknown": "net::ERR_NAME_NOT_RESOLVED",
        "loop": "net::ERR_TOO_MANY_REDIRECTS",
        "404": "with status 404",
        "500": "with status 500",
    }.items():
        await world.reset(task(failing, "link", failure, clock, is_tested=True))
        assert said in (await world.step(parse_action("click(1)"))).outcome
        page = await world.step(parse_action("go_back()"))
        assert page.outcome == "" and page.nodes[0].name == "Go"


@pytest.mark.parametrize("clock", ["real", "virtual"])
async def test_a_page_that_stays_though_another_was_asked_for_says_why(world, failing, clock):
    leads = [(way, "204", "with no content (204)") for way in WAYS]
    leads += [(way, "mail", "is for another program to open") for way in WAYS]
    for way, failure, said in leads:
        await world.reset(task(failing, way, failure, clock, is_tested=True))
        page = await world.step(parse_action("click(1)"))
        assert said in page.outcome, (way, failure)
        assert page.nodes[0].name == "Go" and len(page.tabs) == 1
    page = await world.step(parse_action(f'goto("{failing}/204")'))
    assert (
        page.outcome == f"the server answered {failing}/204 with no content (204): the page stays"
    )


async def test_an_address_that_the_agent_made_up_is_its_own(world, failing):
    await world.reset(task(failing, "link", "refused", "real", is_tested=True))

    page = await world.step(parse_action('goto("http://127.0.0.1:9/")'))
    assert "ERR_" in page.outcome
    page = await world.step(parse_action("wait(1)"))
    assert "http://127.0.0.1:9/ cannot be opened" in page.outcome


@pytest.mark.very_slow
@pytest.mark.parametrize("clock", ["real", "virtual"])
async def test_a_site_that_hangs_is_said(world: BrowserWorld, failing: str, clock: str) -> None:
    await world.reset(task(failing, "form", "hang", clock, is_tested=False))
    assert "/hang? gives no answer" in (await world.step(parse_action("click(1)"))).outcome

    await world.reset(task(failing, "link", "hang", clock, is_tested=True))
    with pytest.raises(ServerError, match="/hang gives no answer"):
        await world.step(parse_action("click(1)"))


@pytest.mark.sample(2)
@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.parametrize("milliseconds", [0, 50, 150, 250])
async def test_a_window_that_closes_itself_ends_nothing(world, failing, clock, milliseconds):
    await world.reset(task(failing, "window", f"closes{milliseconds}", clock, is_tested=False))

    await world.step(parse_action("click(1)"))
    page = await world.step(parse_action("wait(400)"))

    assert (page.title, len(page.tabs)) == ("done", 1)
