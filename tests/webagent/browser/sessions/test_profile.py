"""Profiles: sites see what a profile says, TOML is checked, and the default changes nothing."""

import asyncio
import json
import os
import signal
import subprocess
import time
import urllib.request
import zipfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.task import Task
from tests.fakes.site import Reply, Request, Site, serving
from tests.local_pages import make_page_task, mark_of
from webagent.action import actions as act
from webagent.browser import Browser, BrowserWorld
from webagent.browser.chromium import find_chromium
from webagent.browser.sessions.login import Login, LoginStore
from webagent.browser.sessions.profile import Profile, read_profile
from webagent.errors import SetupError

WHO = """<title>Who</title><script>
(async () => {
  const place = await new Promise((resolve) => navigator.geolocation.getCurrentPosition(
    (position) => resolve([position.coords.latitude, position.coords.longitude]),
    () => resolve(null)));
  window.seen = {
    language: navigator.language, zone: Intl.DateTimeFormat().resolvedOptions().timeZone, place,
    agent: navigator.userAgent, width: innerWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
  };
})();
</script>"""


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site that looks at its visitors."""
    async with serving() as running:
        running.page("/", WHO)
        yield running


def task_at(site: Site, **evidence: str) -> Task:
    """A task on the site's first page."""
    return Task(id="t/who@1", start_url=f"{site.address}/", evidence=evidence)


COPYING = """<button onclick="navigator.clipboard.writeText('token-7').then(
  () => { document.title = 'copied'; }, (error) => { document.title = error.name; })">Copy</button>
<button onclick="navigator.clipboard.readText().catch(() => 0)">Paste</button>
<input aria-label="Code">"""


@pytest.mark.browser
@pytest.mark.parametrize("clock", ["real", "virtual"])
async def test_a_copy_button_copies_and_keys_paste(world: BrowserWorld, site: Site, clock: str):
    site.page("/", COPYING)
    page = await world.reset(replace(task_at(site), clock=clock))
    page = await world.step(act.Click(mark_of(page, "Copy")))
    assert page.title == "copied"
    pasted = await world.step(act.Press(mark_of(page, "Code"), "Control+v"))
    assert pasted.node(mark_of(page, "Code")).value == "token-7"
    page = await world.step(act.Click(mark_of(page, "Paste")))
    assert page.nodes[-1].name.startswith("the page may not read the clipboard")


@pytest.mark.browser
async def test_a_site_sees_what_the_profile_says(browser: Browser, site: Site) -> None:
    profile = Profile(
        locale="de-DE",
        timezone="Asia/Tokyo",
        geolocation=(48.5, 9.0),
        user_agent="Something else",
        viewport=(500, 400),
        headers={"X-From": "a test"},
        color_scheme="dark",
    )
    world = await browser.world(profile=profile)
    task = task_at(site, seen="seen")
    await world.reset(task)
    for _ in range(50):  # the browser says where it is when it pleases
        if (await world.evidence(task))["seen"]:
            break
        await world.step(act.Wait(100))
    assert await world.evidence(task) == {
        "seen": {
            "language": "de-DE",
            "zone": "Asia/Tokyo",
            "place": [48.5, 9.0],
            "agent": "Something else",
            "width": 500,
            "dark": True,
        }
    }
    assert site.requests[0].headers["x-from"] == "a test"
    assert site.requests[0].headers["accept-language"].startswith("de-DE")
    await world.close()


@pytest.mark.browser
async def test_requests_go_through_the_proxy_with_its_name_and_password(browser: Browser) -> None:
    def answer(request: Request) -> Reply:
        if "proxy-authorization" not in request.headers:
            return Reply(status=407, headers={"Proxy-Authenticate": 'Basic realm="proxy"'})
        return Reply("<title>By proxy</title>")

    async with serving() as proxy:
        proxy.pages["/"] = answer
        address = proxy.address.replace("http://", "http://ada:pass%20word@")
        world = await browser.world(profile=Profile(proxy=address))
        page = await world.reset(Task(id="t/far@1", start_url="http://nowhere.test/"))
        assert page.title == "By proxy"
        assert proxy.requests[-1].headers["host"] == "nowhere.test"
        await world.close()


@pytest.mark.browser
async def test_a_trace_is_kept_of_each_episode_and_of_nothing_else(browser, site, tmp_path):
    world = await browser.world(profile=Profile(trace=tmp_path))
    for _ in range(2):
        await world.reset(task_at(site))
    await world.close()
    traces = sorted(tmp_path.iterdir())
    assert [path.name for path in traces] == ["who-0 (2).zip", "who-0.zip"]
    assert all("trace.trace" in zipfile.ZipFile(path).namelist() for path in traces)


@pytest.mark.browser
async def test_what_a_browser_cannot_do_is_refused_in_a_sentence(browser, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    with pytest.raises(SetupError, match="playwright install ffmpeg"):
        await browser.world(profile=Profile(video=tmp_path))
    with pytest.raises(SetupError, match="headless=False"):
        await browser.world(profile=Profile(headed=True))


@pytest.fixture
def running_chromium(tmp_path: Path) -> Iterator[str]:
    """The DevTools address of a browser that somebody else has started."""
    folder = tmp_path / "theirs"
    command = [find_chromium().path, "--remote-debugging-port=0", f"--user-data-dir={folder}"]
    with subprocess.Popen(
        [*command, "--no-sandbox", "about:blank"], stderr=subprocess.DEVNULL, start_new_session=True
    ) as p:
        try:
            port = folder / "DevToolsActivePort"
            deadline = time.monotonic() + 20
            while not (port.is_file() and port.read_text().count("\n")):
                assert time.monotonic() < deadline and p.poll() is None
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port.read_text().splitlines()[0]}"
            assert p.poll() is None, "the browser was ended"
        finally:
            os.killpg(p.pid, signal.SIGKILL)  # what was started may be a script around the browser


def pages_at(address: str) -> list[str]:
    """Addresses of the pages open in a browser."""
    with urllib.request.urlopen(f"{address}/json/list", timeout=5) as answer:
        return [target["url"] for target in json.load(answer) if target["type"] == "page"]


@pytest.mark.browser
async def test_a_running_browser_is_joined_and_left_as_it_was(running_chromium: str) -> None:
    before = await asyncio.to_thread(pages_at, running_chromium)
    async with Browser(connect=running_chromium) as browser:
        world: BrowserWorld = await browser.world()
        page = await world.reset(make_page_task("events"))
        mark = mark_of(page, "Field")
        filled = (await world.step(act.Fill(mark, "new"))).node(mark)
        assert filled is not None and filled.value == "new"
    assert await asyncio.to_thread(pages_at, running_chromium) == before


@pytest.mark.browser
async def test_where_no_browser_runs_it_is_said_how_to_start_one() -> None:
    with pytest.raises(SetupError, match="--remote-debugging-port"):
        async with Browser(connect="http://127.0.0.1:9"):
            pass


def write(folder: Path, text: str) -> Path:
    """A TOML file with one site."""
    file = folder / "sites.toml"
    file.write_text(f"[sites.shop]\n{text}\n")
    return file


def test_a_profile_is_read_from_toml_with_paths_beside_the_file(tmp_path: Path) -> None:
    text = (
        'locale = "de-DE"\ngeolocation = [48.5, 9]\nheaders = {X-From = "me"}\n'
        'viewport = [800, 600]\ndownloads = "files"\ndialogs = "ask"\nuser-agent = "Me"'
    )
    assert read_profile(write(tmp_path, text), "shop") == Profile(
        locale="de-DE",
        geolocation=(48.5, 9.0),
        headers={"X-From": "me"},
        viewport=(800, 600),
        downloads=tmp_path / "files",
        dialogs="ask",
        user_agent="Me",
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('local = "de"', r"unknown setting in .*\[sites.shop\] 'local'; did you mean .*locale"),
        ('viewport = "wide"', r"viewport is 'wide'"),
        ('dialogs = "maybe"', r"dialogs is 'maybe'; .*'dismiss' or 'ask'"),
        ('geolocation = ["x", 1]', r"geolocation.0 is 'x'"),
        ('proxy = "nowhere"', r"'nowhere' is not a proxy"),
        ('proxy = "http://me:secret@host:port"', r"has no port number"),
        ('storage_state = "none.json"', "none.json cannot be read"),
        ('storage_state = "a"\nlogin = "b"', "are both given"),
        ("storage = {}", "unknown setting"),
        ('insecure = ["https://wiki.intranet"]', "give a host alone"),
        ("locale = ", "is not TOML"),
    ],
)
def test_what_is_wrong_in_a_profile_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(SetupError, match=complaint) as raised:
        read_profile(write(tmp_path, text), "shop")
    assert "secret" not in str(raised.value)


def test_a_site_that_is_not_in_the_file_is_answered_with_the_close_ones(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="did you mean shop"):
        read_profile(write(tmp_path, ""), "shopp")
    with pytest.raises(SetupError, match="cannot be read"):
        read_profile(tmp_path / "none.toml", "shop")


def test_a_profile_may_name_a_saved_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBAGENT_LOGINS", str(tmp_path / "logins"))
    state = {"cookies": [], "origins": []}
    LoginStore.default().save(Login("ours", "http://x.test", state, 0.0))
    assert read_profile(write(tmp_path, 'login = "ours"'), "shop").storage == state


def test_the_default_profile_asks_playwright_for_what_it_always_did() -> None:
    assert Profile().context_options((1280, 720)) == {"viewport": {"width": 1280, "height": 720}}
