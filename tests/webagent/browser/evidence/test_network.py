"""The log of requests that a task asks for: whole, in order, or said to be cut."""

import json
from pathlib import Path
from typing import Any

import pytest

from perf.fakes.site import Reply, Request, Site
from tasks.task import Probe, Task
from tests.local_pages import MakeTask
from webagent.action import actions as act
from webagent.browser import Browser, BrowserWorld
from webagent.browser.sessions import network
from webagent.browser.sessions.network import har_events
from webagent.browser.sessions.profile import Profile

pytestmark = pytest.mark.browser

PAGE = """<title>Ask</title><img src="/picture.png"><iframe src="/second"></iframe>
<form method="post" action="/order?day=1"><input name="what" value="a book & more">
<button>Order</button></form>
<button onclick="send()">Send</button><button onclick="window.open('/second?new')">Window</button>
<script>
document.cookie = "taste=sweet";
async function send() {
  const form = new FormData();
  form.append("note", "héllo");
  form.append("file", new File([new Uint8Array([0, 255, 254, 65])], "a.bin"));
  await fetch("/upload", { method: "POST", body: form });
  await fetch("/raw", { method: "POST", body: new Uint8Array([0, 255, 254, 65]) });
  form.delete("file");
  await fetch("/star", { method: "POST", body: form, headers: { Authorization: "Bearer secret" } });
  await fetch("/count", { method: "PUT", body: JSON.stringify({ n: 2 }) });
  await fetch("http://127.0.0.1:9/").catch(() => 0);
  document.title = "sent";
}
</script>"""


def star(_: Request) -> Reply:
    """Says how many stars there are."""
    headers = {"Content-Type": "application/json; charset=utf-8", "Set-Cookie": "seen=yes; Path=/"}
    return Reply('{"star_count": 53}', headers=headers)


@pytest.fixture
def asking(site: Site) -> Site:
    """The shop with a page that asks for much."""
    site.page("/ask", PAGE)
    site.page("/order", "", 303, Location="/account")
    site.page("/count", "", 204)
    site.page("/upload", "kept")
    site.page("/raw", "kept")
    site.pages["/star"] = star
    return site


async def play(world: BrowserWorld, task: Task, *names: str) -> list[dict[str, Any]]:
    """The log after these elements were clicked."""
    page = await world.reset(task)
    for name in names:
        mark = next(node.mark for node in page.nodes if node.name == name)
        page = await world.step(act.Click(mark))
    log = (await world.evidence(task))["network"]
    assert isinstance(log, list)
    return [each for each in log if isinstance(each, dict)]


def one(log: list[dict[str, Any]], ending: str) -> dict[str, Any]:
    """The only request to such an address."""
    (found,) = [each for each in log if each["url"].endswith(ending)]
    return found


async def test_a_form_and_its_redirect_are_two_requests_that_know_each_other(
    world: BrowserWorld, shop_task: MakeTask, asking: Site
) -> None:
    log = await play(world, shop_task("/ask", records=("network",)), "Order")
    order, account = one(log, "/order?day=1"), one(log, "/account")
    assert (order["method"], order["status"], order["kind"]) == ("POST", 303, "document")
    assert order["body"] == "what=a+book+%26+more"
    assert order["request_headers"]["referer"] == f"{asking.address}/ask"
    assert order["response_headers"]["location"] == "/account"
    assert order["redirected_from"] is None and order["failure"] is None
    assert (account["method"], account["status"]) == ("GET", 200)
    assert account["redirected_from"] == order["url"]
    assert account["seconds"] >= order["seconds"] > one(log, "/ask")["seconds"] == 0
    assert account["mime"] == "text/html" and account["content"] is None


async def test_kinds_bodies_and_answers_of_what_scripts_send(
    world: BrowserWorld, shop_task: MakeTask, asking: Site
) -> None:
    log = await play(world, shop_task("/ask", records=("network",), clock="real"), "Send")
    assert (one(log, "/picture.png")["kind"], one(log, "/picture.png")["status"]) == ("image", 404)
    assert one(log, "/second")["kind"] == "iframe"
    starred, count = one(log, "/star"), one(log, "/count")
    assert 'name="note"\r\n\r\nhéllo' in starred["body"]
    assert one(log, "/raw")["body"] == "\0\ufffd\ufffdA"
    upload, page = one(log, "/upload"), one(log, "/ask")
    assert (upload["body"], upload["has_body"]) == (None, True)
    assert (page["body"], page["has_body"]) == (None, False)
    assert starred["request_headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert starred["request_headers"]["sec-fetch-dest"] == "empty"
    assert (starred["kind"], starred["mime"]) == ("fetch", "application/json")
    assert starred["content"] == '{"star_count": 53}'
    assert (count["method"], count["status"], count["body"]) == ("PUT", 204, '{"n":2}')
    failed = one(log, ":9/")
    assert failed["status"] is None and failed["failure"] == "net::ERR_UNSAFE_PORT"


async def test_credentials_are_withheld_and_other_cookies_are_not(
    world: BrowserWorld, shop_task: MakeTask, asking: Site
) -> None:
    task = shop_task("/login", records=("network",), clock="real")
    page = await world.reset(task)
    page = await world.step(act.Goto(f"{asking.address}/ask"))
    mark = next(node.mark for node in page.nodes if node.name == "Send")
    await world.step(act.Click(mark))
    log: Any = (await world.evidence(task))["network"]
    assert "ann" not in json.dumps(log) and "Bearer" not in json.dumps(log)
    logged_in = one(log, "/login")["response_headers"]["set-cookie"]
    assert logged_in == "who=(withheld); HttpOnly; Path=/"
    starred = one(log, "/star")
    assert starred["request_headers"]["cookie"] == "who=(withheld); taste=sweet"
    assert starred["request_headers"]["authorization"] == "(withheld)"
    assert starred["response_headers"]["set-cookie"] == "seen=yes; Path=/"


async def test_all_tabs_are_heard_and_probes_are_not(
    world: BrowserWorld, shop_task: MakeTask, asking: Site
) -> None:
    probes = (Probe("account", url=f"{asking.address}/account", script="document.title"),)
    task = shop_task("/ask", records=("network",), probes=probes)
    log = await play(world, task, "Window")
    assert one(log, "/second?new")["status"] == 200
    assert not [each for each in log if each["url"].endswith("/account")]
    assert len([request for request in asking.requests if request.path == "/account"]) == 1
    assert await play(world, task) != log


async def test_a_prepared_page_is_heard_from_its_first_request(
    world: BrowserWorld, shop_task: MakeTask, asking: Site
) -> None:
    task = shop_task(records=("network",))
    await world.prepare(shop_task())
    await world.prepare(task)
    assert [each["url"] for each in await play(world, task)] == [f"{asking.address}/"]


@pytest.mark.parametrize("limit", ["MOST_REQUESTS", "MOST_CHARACTERS"])
async def test_a_log_that_would_be_too_long_is_missing_rather_than_cut(
    world: BrowserWorld,
    shop_task: MakeTask,
    asking: Site,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
) -> None:
    monkeypatch.setattr(network, limit, 2)
    task = shop_task("/ask", records=("network",))
    await world.reset(task)
    evidence = await world.evidence(task)
    assert "network" not in evidence
    assert "the log is cut: the" in str(evidence["uncaptured"])


async def test_a_frozen_site_is_heard_as_the_live_one_and_so_is_its_recording(
    browser: Browser, shop_task: MakeTask, asking: Site, tmp_path: Path
) -> None:
    task = shop_task("/ask", records=("network",))
    logs = []
    for profile in (Profile(har_record=tmp_path), Profile(har_replay=tmp_path / "shop-0.har")):
        world = await browser.world(profile=profile)
        logs.append(await play(world, task, "Order"))
        await world.close()
    logs.append([each for each in har_events(tmp_path / "shop-0.har") if isinstance(each, dict)])
    told = ("method", "url", "status", "kind", "body", "mime", "redirected_from", "content")
    live, frozen, recorded = (
        sorted(tuple(str(each[name]) for name in told) for each in log) for log in logs
    )
    assert live == frozen
    assert live == recorded


async def test_nothing_is_heard_that_was_not_asked_for(
    world: BrowserWorld, shop_task: MakeTask
) -> None:
    task = shop_task()
    await world.reset(task)
    tabs = world._tabs
    assert tabs is not None and tabs.recording is not None and tabs.recording.network is None
    assert await world.evidence(task) == {}
    evidence = await world.evidence(shop_task(records=("network", "elements", "sounds")))
    assert evidence == {
        "uncaptured": {
            "network": "it was not noted: the task did not ask for it when its episode began",
            "elements": "it was not noted: the task did not ask for it when its episode began",
            "sounds": "a browser keeps no such record; it keeps network, elements",
        }
    }
