"""The log of requests that a task asks for: whole, in order, or said to be cut."""

import json
from typing import Any

import pytest

from tests.fakes.site import Reply, Request
from tests.local_pages import mark_of
from tests.webagent.browser.evidence.shop import Shop, probe
from webagent.action import actions as act
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
def asking(shop: Shop) -> Shop:
    """The shop with a page that asks for much."""
    site = shop.site
    site.page("/ask", PAGE)
    site.page("/order", "", 303, Location="/account")
    site.page("/count", "", 204)
    site.page("/upload", "kept")
    site.page("/raw", "kept")
    site.pages["/star"] = star
    return shop


async def play(shop: Shop, *names: str, path: str = "/ask", **fields: Any) -> list[dict[str, Any]]:
    """The log after these elements were clicked."""
    log = (await shop.play(shop.task(path, records=("network",), **fields), *names))["network"]
    assert isinstance(log, list)
    return [each for each in log if isinstance(each, dict)]


def one(log: list[dict[str, Any]], ending: str) -> dict[str, Any]:
    """The only request to such an address."""
    (found,) = [each for each in log if each["url"].endswith(ending)]
    return found


async def test_a_form_and_its_redirect_are_two_requests_that_know_each_other(asking: Shop) -> None:
    log = await play(asking, "Order")
    order, account = one(log, "/order?day=1"), one(log, "/account")
    assert (order["method"], order["status"], order["kind"]) == ("POST", 303, "document")
    assert order["body"] == "what=a+book+%26+more"
    assert order["request_headers"]["referer"] == asking.url("/ask")
    assert order["response_headers"]["location"] == "/account"
    assert order["redirected_from"] is None and order["failure"] is None
    assert (account["method"], account["status"]) == ("GET", 200)
    assert account["redirected_from"] == order["url"]
    assert account["seconds"] >= order["seconds"] > one(log, "/ask")["seconds"] == 0
    assert account["mime"] == "text/html" and account["content"] is None


async def test_kinds_bodies_and_answers_of_what_scripts_send(asking: Shop) -> None:
    log = await play(asking, "Send", clock="real")
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


async def test_credentials_are_withheld_and_other_cookies_are_not(asking: Shop) -> None:
    task = asking.task("/login", records=("network",), clock="real")
    await asking.world.reset(task)
    page = await asking.step(act.Goto(asking.url("/ask")))
    await asking.step(act.Click(mark_of(page, "Send")))
    log: Any = (await asking.world.evidence(task))["network"]
    assert "ann" not in json.dumps(log) and "Bearer" not in json.dumps(log)
    logged_in = one(log, "/login")["response_headers"]["set-cookie"]
    assert logged_in == "who=(withheld); HttpOnly; Path=/"
    starred = one(log, "/star")
    assert starred["request_headers"]["cookie"] == "who=(withheld); taste=sweet"
    assert starred["request_headers"]["authorization"] == "(withheld)"
    assert starred["response_headers"]["set-cookie"] == "seen=yes; Path=/"


async def test_all_tabs_are_heard_and_probes_are_not(asking: Shop) -> None:
    probes = (probe("account", asking.url("/account")),)
    log = await play(asking, "Window", probes=probes)
    assert one(log, "/second?new")["status"] == 200
    assert not [each for each in log if each["url"].endswith("/account")]
    assert len([each for each in asking.site.requests if each.path == "/account"]) == 1
    assert await play(asking, probes=probes) != log


async def test_a_prepared_page_is_heard_from_its_first_request(asking: Shop) -> None:
    await asking.world.prepare(asking.task())
    await asking.world.prepare(asking.task(records=("network",)))
    assert [each["url"] for each in await play(asking, path="/")] == [asking.url("/")]


@pytest.mark.parametrize("limit", ["MOST_REQUESTS", "MOST_CHARACTERS"])
async def test_a_log_that_would_be_too_long_is_missing_rather_than_cut(asking, monkeypatch, limit):
    monkeypatch.setattr(network, limit, 2)
    evidence = await asking.play(asking.task("/ask", records=("network",)))
    assert "network" not in evidence
    assert "the log is cut: the" in str(evidence["uncaptured"])


async def test_a_frozen_site_is_heard_as_the_live_one_and_so_is_its_recording(
    browser, asking, tmp_path
):
    logs = []
    for profile in (Profile(har_record=tmp_path), Profile(har_replay=tmp_path / "shop-0.har")):
        world = await browser.world(profile=profile)
        logs.append(await play(Shop(asking.site, world), "Order"))
        await world.close()
    logs.append([each for each in har_events(tmp_path / "shop-0.har") if isinstance(each, dict)])
    told = ("method", "url", "status", "kind", "body", "mime", "redirected_from", "content")
    live, frozen, recorded = (
        sorted(tuple(str(each[name]) for name in told) for each in log) for log in logs
    )
    assert live == frozen
    assert live == recorded


async def test_nothing_is_heard_that_was_not_asked_for(shop: Shop) -> None:
    assert await shop.find() == {}
    tabs = shop.world.tabs()
    assert tabs.recording is not None and tabs.recording.network is None
    evidence = await shop.world.evidence(shop.task(records=("network", "elements", "sounds")))
    assert evidence == {
        "uncaptured": {
            "network": "it was not recorded: the task did not request it at its start",
            "elements": "it was not recorded: the task did not request it at its start",
            "sounds": "a browser has no such record; it has network, elements",
        }
    }
