"""A site recorded once is played again without it, the same to the last element."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tasks.task import Task
from tests.fakes.site import Reply, Request, Site, serving
from webagent.action import Action, parse_action
from webagent.browser import Browser
from webagent.browser.sessions.profile import Profile
from webagent.browser.sessions.traffic import RecordedRequest, read_replay
from webagent.errors import SetupError
from webagent.observation import render
from webagent.records import Observation

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
SHOP = """<title>Shop</title><img src="/picture.png" alt="A picture" width="50" height="50">
<link rel="stylesheet" href="/style.css">
<p id="cart">?</p><button id="add">Add</button><a href="/old">Moved</a>
<form method="post" action="/order"><input name="what" aria-label="What">
<button>Order</button></form>
<button id="lost">Lost</button>
<script>
const show = async () => {
  const cart = await (await fetch("/cart")).json();
  document.getElementById("cart").textContent = `${cart.length} in the cart at ${cart.at}`;
};
document.getElementById("add").onclick = async () => {
  await fetch("/cart", { method: "POST", body: JSON.stringify({ add: 1 }) });
  setTimeout(show, 500);
};
document.getElementById("lost").onclick = () => fetch("/lost", { method: "PUT", body: "x" }).catch(
  (error) => { document.getElementById("cart").textContent = String(error); });
show();
</script>"""
STEPS = ("click(add)", "click(add)", "fill(what)", "click(order)", "go_back()", "click(moved)")


@pytest.fixture
async def shop() -> AsyncIterator[Site]:
    """A shop that remembers: the same question gets other answers later."""
    cart: list[str] = []

    def visit(request: Request) -> Reply:
        if request.method == "POST":
            cart.append(request.body)
        state = {"length": len(cart), "at": "noon"}
        return Reply(json.dumps(state), headers={"Content-Type": "application/json"})

    def order(request: Request) -> Reply:
        cart.append(request.body)
        return Reply(status=303, headers={"Location": "/thanks"})

    def thanks(request: Request) -> Reply:
        return Reply(f"<title>Thanks</title><p>{cart[-1]}</p>")

    async with serving() as running:
        running.page("/", SHOP)
        running.page("/picture.png", PNG, Content_Type="image/png")
        running.page("/style.css", "button { color: red }", Content_Type="text/css")
        running.page("/old", "", 302, Location="/new")
        running.page("/new", "<title>New</title><p>Here now</p>")
        running.pages |= {"/cart": visit, "/order": order, "/thanks": thanks}
        yield running


def action_on(page: Observation, step: str) -> Action:
    """The action of a step, with the mark of the element it names."""
    names = {"add": "Add", "order": "Order", "what": "What", "moved": "Moved", "lost": "Lost"}
    for short, name in names.items():
        if f"({short})" in step:
            mark = next((node.mark for node in page.nodes if node.name == name), 0)
            text = ', "a book"' if step.startswith("fill") else ""
            return parse_action(step.replace(short, f"{mark}{text}"))
    return parse_action(step)


async def play(browser: Browser, profile: Profile, url: str, *more: str) -> list[Observation]:
    """All that is seen while the steps are done."""
    world = await browser.world(profile=profile)
    seen = [await world.reset(Task(id="t/shop@1", start_url=url))]
    for step in (*STEPS, *more):
        seen.append(await world.step(action_on(seen[-1], step)))
    await world.close()
    return seen


@pytest.mark.browser
async def test_a_recorded_site_is_seen_again_the_same_when_it_is_gone(browser, shop, tmp_path):
    url = f"{shop.address}/"
    live = await play(browser, Profile(har_record=tmp_path), url)
    await shop.close()
    asked = len(shop.requests)
    assert "2 in the cart at noon" in render(live[2])
    assert [page.title for page in live[4:]] == ["Thanks", "Shop", "New"]

    frozen = Profile(har_replay=tmp_path / "shop-0.har")
    for _ in range(2):
        assert await play(browser, frozen, url) == live
    assert len(shop.requests) == asked


@pytest.mark.browser
async def test_what_was_never_recorded_fails_and_is_named(browser, shop, tmp_path):
    url = f"{shop.address}/"
    await play(browser, Profile(har_record=tmp_path), url)
    profile = Profile(har_replay=tmp_path / "shop-0.har")
    seen = await play(browser, profile, url, "go_back()", "click(lost)", f'goto("{url}nowhere")')
    assert "Failed to fetch" in render(seen[-2])
    assert seen[-2].outcome == f"not in the recording, so it failed: PUT {url}lost"
    assert f"cannot open {url}nowhere" in seen[-1].outcome
    assert not any(request.path in ("/lost", "/nowhere") for request in shop.requests)


def entry(url: str, text: str, method: str = "GET", **request: object) -> dict[str, object]:
    """One entry of a HAR file."""
    return {
        "request": {"method": method, "url": url, "headers": [], **request},
        "response": {
            "status": 200,
            "statusText": "OK",
            "headers": [
                {"name": "Content-Type", "value": "text/html"},
                {"name": "content-encoding", "value": "br"},
                {"name": "set-cookie", "value": "a=1\nb=2"},
            ],
            "content": {"text": text},
        },
    }


def write(folder: Path, *entries: dict[str, object]) -> Path:
    """A HAR file of these entries."""
    file = folder / "some.har"
    file.write_text(json.dumps({"log": {"entries": entries}}))
    return file


@pytest.mark.browser
async def test_a_site_behind_https_is_replayed_without_its_certificate(browser, tmp_path):
    page = "<title>Safe</title><script>document.title += document.cookie</script>"
    file = write(tmp_path, entry("https://bank.test/", page))
    world = await browser.world(profile=Profile(har_replay=file))
    seen = await world.reset(Task(id="t/bank@1", start_url="https://bank.test/"))
    assert (seen.title, seen.url) == ("Safea=1; b=2", "https://bank.test/")
    await world.close()


def test_each_asking_gets_the_next_answer_and_then_the_last(tmp_path: Path) -> None:
    file = write(tmp_path, entry("http://x/", "one"), entry("http://x/#a", "two"))
    asked = RecordedRequest.of("get", "http://x/#b", b"", "")
    for _ in range(2):
        replay = read_replay(file)
        answers = [replay.answer(asked) for _ in range(3)]
        assert [answer.body for answer in answers if answer] == [b"one", b"two", b"two"]
    assert answers[0] is not None
    assert answers[0].headers == (
        ("Content-Type", "text/html"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
    )


def test_forms_are_the_same_whatever_their_boundary(tmp_path: Path) -> None:
    kind = "multipart/form-data; boundary="
    sent = {"mimeType": f"{kind}abc", "text": "--abc\r\nhello\r\n--abc--"}
    replay = read_replay(write(tmp_path, entry("http://x/", "ok", "POST", postData=sent)))
    same = RecordedRequest.of("POST", "http://x/", b"--xyz\r\nhello\r\n--xyz--", f"{kind}xyz")
    other = RecordedRequest.of("POST", "http://x/", b"--xyz\r\nbye\r\n--xyz--", f"{kind}xyz")
    assert replay.answer(same) is not None
    assert replay.answer(other) is None
    assert replay.take_notes() == [
        "not in the recording, so it failed: POST http://x/ with this content"
    ]
    assert replay.take_notes() == []


@pytest.mark.parametrize("text", ["", "{}", '{"log": {"entries": [{}]}}', "[1]"])
def test_a_file_that_is_no_recording_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "some.har"
    file.write_text(text)
    with pytest.raises(SetupError, match="is not a usable HAR file"):
        read_replay(file)
