"""What an action sets going is over when the page is seen, or said to be going on."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tasks.task import Task
from webagent.action import Wait
from webagent.action import actions as act
from webagent.browser import BrowserWorld
from webagent.observation import render
from webagent.records import Observation

pytestmark = pytest.mark.browser

PAGE = b"""<!DOCTYPE html><title>Clock</title>
<style>@keyframes k { to { left: 50px } } #box { position: relative }</style>
<button onclick="fetch('/late').then(() => say('answered'))">Ask</button>
<button onclick="setTimeout(() => say('chimed'), 450)">Soon</button>
<button onclick="box.style.animation = 'k 0.7s'">Move</button>
<button onclick="fetch('/never')">Never</button>
<button onclick="setTimeout(() => { location = '/other' }, 300)">Leave</button>
<button onclick="setInterval(() => say(Math.random()), 20)">Restless</button>
<button onclick="location = '/never'">Away</button>
<button onclick="setInterval(() => { for (let i = 1e8; i; i--); say(++ticks) }, 9)">Slow</button>
<button onclick="reveal(this)">Reveal</button>
<button onclick="this.hidden = true">Hide</button>
<button onclick="(function poll() { setTimeout(poll, 50) })()">Poll</button>
<button onclick="new EventSource('/events').onmessage = (event) => say(event.data)">Listen</button>
<p id=said>nothing</p><p id=box>box</p>
<script>
  let ticks = 0;
  function say(text) { document.getElementById("said").textContent = text; }
  function reveal(button) {
    const other = document.createElement("button");
    other.onmouseenter = () => setTimeout(() => say("entered"), 300);
    other.textContent = "what was behind it";
    button.replaceWith(other);
  }
  box.addEventListener("animationend", () => say("moved"));
</script>"""
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nConnection: close\r\n\r\n"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The page, an answer that is late, one that never comes, and a message after a while."""
    try:
        await answer_path(reader, writer, (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1])
    except (ConnectionError, asyncio.IncompleteReadError):
        pass  # a connection that the browser opened in advance, or one it has left
    finally:
        writer.close()


async def answer_path(reader, writer, path):
    """The answer to one address."""
    kind = "text/event-stream" if path == b"/events" else "text/html"
    if path == b"/never":
        await reader.read()
    elif path == b"/late":
        await asyncio.sleep(0.7)
    writer.write(HEAD.format(kind).encode() + (PAGE if path == b"/" else b""))
    await writer.drain()
    if path == b"/events":
        await asyncio.sleep(0.5)
        writer.write(b"data: news\n\n")
        await reader.read()


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """Where the page is served."""
    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    listening.close()


def clock_task(url: str, **fields: Any) -> Task:
    """A task on the page, by the real clock unless told otherwise."""
    return Task(id="page/clock@1", start_url=url, **{"clock": "real", **fields})


async def click(world: BrowserWorld, page: Observation, name: str) -> Observation:
    """What is seen after a click on the button of this name."""
    return await world.step(act.Click(next(n.mark for n in page.nodes if n.name == name)))


@pytest.mark.parametrize(
    ("button", "said"), [("Ask", "answered"), ("Soon", "chimed"), ("Move", "moved"), ("Leave", "")]
)
async def test_requests_short_timers_and_animations_are_waited_for(world, url, button, said):
    page = await world.reset(clock_task(url))
    after = await click(world, page, button)
    assert said in render(after) and after.outcome == ""
    assert after.url == (url if said else f"{url}other")


async def test_a_page_at_rest_or_that_polls_is_not_waited_for_long(world, url) -> None:
    page = await world.reset(clock_task(url))
    started = time.monotonic()
    await world.step(act.Focus(1))
    assert time.monotonic() - started < 1.5
    started = time.monotonic()
    assert "still" not in (await click(world, page, "Poll")).outcome
    assert time.monotonic() - started < 3


async def test_a_request_that_is_never_answered_is_named_and_waited_for_once(
    world, url, monkeypatch
):
    monkeypatch.setattr("webagent.browser.page.clock._SETTLE_SECONDS", 2.0)
    page = await world.reset(clock_task(url))
    after = await click(world, page, "Never")
    assert after.outcome == f"the page is still waiting for {url}never after 2 s"
    started = time.monotonic()
    assert "waiting" not in (await world.step(act.Focus(1))).outcome
    assert time.monotonic() - started < 1.5


async def test_a_page_that_never_rests_gets_less_time_each_step(world, url, monkeypatch):
    monkeypatch.setattr("webagent.browser.page.clock._SETTLE_SECONDS", 2.0)
    page = await world.reset(clock_task(url))
    outcomes = [(await click(world, page, "Restless")).outcome]
    outcomes += [(await world.step(act.Focus(1))).outcome for _ in range(2)]
    assert outcomes == [f"the page is still changing after {each} s" for each in ("2", "1", "0.5")]


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_page_that_loads_for_ever_gets_less_time_each_step(world, url, monkeypatch, clock):
    monkeypatch.setattr("webagent.browser.page.clock.LOAD_SECONDS", 2.0)
    monkeypatch.setattr("webagent.browser.page.clock._LEAST_LOAD_SECONDS", 0.1)
    page = await world.reset(clock_task(url, clock=clock))
    outcomes = [(await click(world, page, "Away")).outcome for _ in range(2)]
    assert [each.partition(";")[0] for each in outcomes] == [
        f"the page was still loading after {each} s and was stopped" for each in ("2", "1")
    ]
    assert all(each.endswith("/never gives no answer") for each in outcomes)


async def test_a_page_slower_than_the_wall_clock_gets_less_virtual_time_each_step(
    world, url, monkeypatch
):
    monkeypatch.setattr("webagent.browser.page.clock._SLOW_SECONDS", 0.0)
    page = await world.reset(clock_task(url, clock="virtual", settle_ms=100))
    slow = [await click(world, page, "Slow"), *[await world.step(act.Focus(1)) for _ in range(2)]]
    assert slow[0].outcome == (
        "the page is slower than the wall clock and gets less time after an action"
    )
    ticks = [int(node.name) for each in slow for node in each.nodes if node.name.isdigit()]
    assert ticks[0] > ticks[1] - ticks[0] > ticks[2] - ticks[1]


async def test_what_comes_to_lie_under_the_mouse_is_told_before_time_runs(world, url):
    for _ in range(5):
        page = await world.reset(clock_task(url, clock="virtual", settle_ms=500))
        after = await click(world, page, "Reveal")
        assert "entered" in [node.name for node in after.nodes]


@pytest.mark.parametrize("field", ["<input value=kept>", "<textarea>kept</textarea>"])
async def test_telling_of_the_mouse_types_nothing_over_a_selection(world, tmp_path, field):
    (tmp_path / "page.html").write_text(
        f"""<!DOCTYPE html>{field}<button onclick="swap(this)">Swap</button><p id=said>nothing</p>
        <script>function swap(button) {{
          const other = document.createElement("button");
          other.onmouseenter = () => said.textContent = "entered";
          other.textContent = "what was behind it";
          button.replaceWith(other);
          document.querySelector("input, textarea").select();
        }}</script>"""
    )
    seen = await world.reset(Task(id="page/swap@1", start_url=(tmp_path / "page.html").as_uri()))
    swap = next(node.mark for node in seen.nodes if node.name == "Swap")
    seen = await world.step(act.Click(swap))
    assert "entered" in render(seen)
    assert [node.value for node in seen.nodes if node.role == "textbox"] == ["kept"]


async def test_an_element_that_is_hidden_has_lost_the_focus(world: BrowserWorld, url: str) -> None:
    for _ in range(5):
        page = await world.reset(clock_task(url, clock="virtual"))
        assert (await click(world, page, "Hide")).focus == 0


async def test_a_live_connection_takes_a_page_to_the_wall_clock(world, url):
    page = await world.reset(clock_task(url, clock="virtual"))
    after = await click(world, page, "Listen")
    assert after.outcome == (
        "the page holds a live connection; its time goes on with the wall clock"
    )
    seen = [render(await world.step(Wait(1500))) for _ in range(2)]
    assert "news" in seen[-1]
    chimed = await click(world, page, "Soon")
    assert "chimed" in render(await world.step(Wait(500))) or "chimed" in render(chimed)


STREAM = """<!DOCTYPE html><title>Stream</title><button>Go</button><p id=said></p><script>
  const feed = new EventSource("data:text/event-stream," + "data: x%0A%0A".repeat(MESSAGES));
  let count = 0;
  feed.onmessage = () => { said.textContent = `${++count} came, state ${feed.readyState}`; };
</script>"""


@pytest.mark.parametrize("clock", ["virtual", "real"])
@pytest.mark.parametrize(("messages", "said"), [(900, "900 came, state 1"), (3000, "state 2")])
async def test_a_connection_that_floods_the_page_is_closed(world, tmp_path, clock, messages, said):
    (tmp_path / "stream.html").write_text(STREAM.replace("MESSAGES", str(messages)))
    url = (tmp_path / "stream.html").as_uri()
    await world.reset(Task(id="page/stream@1", start_url=url, clock=clock))
    assert said in render(await world.step(Wait(300)))


async def test_data_that_never_come_take_a_page_to_the_wall_clock(world, url, monkeypatch):
    monkeypatch.setattr("webagent.browser.page.clock.DATA_SECONDS", 1.0)
    page = await world.reset(clock_task(url, clock="virtual"))
    after = await click(world, page, "Never")
    assert after.outcome == "the page still waits for data; its time goes on with the wall clock"
    started = time.monotonic()
    await click(world, page, "Soon")
    seen = await world.step(Wait(600))
    assert "chimed" in render(seen)
    assert time.monotonic() - started < 8


BORN = """<!DOCTYPE html><title>Born</title><script>const born = Date.now();</script>
<p id=said></p><script>
  const feed = LIVE;
  const tell = () => { said.textContent = `${born}, ${Math.round(performance.now())} ms, `; };
  addEventListener("load", tell);
  setTimeout(() => { said.textContent += `${Date.now() - born} ms later`; }, 1000);
</script>"""


async def test_the_first_page_has_the_time_of_the_episode_from_its_first_script_on(world, tmp_path):
    (tmp_path / "born.html").write_text(BORN.replace("LIVE", "null"))
    task = Task(id="page/born@1", start_url=(tmp_path / "born.html").as_uri())
    first, second = [render(await world.reset(task)) for _ in range(2)]
    assert "1767268800500, " in first and "1000 ms later" in first
    assert first == second


async def test_a_first_page_with_a_live_connection_is_not_waited_for(
    world, url, tmp_path, monkeypatch
):
    monkeypatch.setattr("webagent.browser.page.clock.DATA_SECONDS", 60.0)
    (tmp_path / "born.html").write_text(BORN.replace("LIVE", f"new EventSource('{url}events')"))
    started = time.monotonic()
    await world.reset(Task(id="page/born@1", start_url=(tmp_path / "born.html").as_uri()))
    assert time.monotonic() - started < 30, "data are waited for 60 s"


SOFT = """
<title>Soft</title><form><input type=hidden name=again value=yes><button>Send</button></form>
<a href="#more" onclick="event.preventDefault(); const more = document.createElement('div');
  more.style = 'height: 400px; background: #cde'; more.textContent = 'More';
  document.body.append(more); location.hash = 'more'">More</a>
"""


@pytest.mark.parametrize("how", ["mouse", "keyboard"])
async def test_a_page_that_another_led_to_may_change_its_address_when_acted_on(
    world, tmp_path, how
):
    (tmp_path / "soft.html").write_text(SOFT)
    seen = await world.reset(Task(id="page/soft@1", start_url=(tmp_path / "soft.html").as_uri()))
    marks = {node.name: node.mark for node in seen.nodes}
    seen = await world.step(act.Click(marks["Send"]))
    assert seen.url.endswith("?again=yes")
    marks = {node.name: node.mark for node in seen.nodes}
    more = act.Click(marks["More"]) if how == "mouse" else act.Press(marks["More"], "Enter")
    assert (await world.step(more)).url.endswith("#more")


async def test_a_list_that_loads_what_comes_into_view_goes_on_loading(local):
    page = await local.show(
        """<div id=list></div><div id=end style="height: 10px"></div><script>let n = 0
        const more = () => setTimeout(() => { for (let i = 0; i < 20; i++) { const item =
        document.createElement("div"); item.style.height = "40px"; item.textContent = ++n;
        list.append(item) } }, 300)
        new IntersectionObserver((all) => { if (all.some((each) => each.isIntersecting)) more() })
        .observe(end)</script>""",
        clock="virtual",
    )
    for seen in (20, 40, 60, 80):
        assert page.nodes[-1].name == str(seen)
        page = await local.step(act.Scroll(0, 0, 2000))
