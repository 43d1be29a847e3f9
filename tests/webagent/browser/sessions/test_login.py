"""Logins: saved encrypted, loaded into fresh contexts, and plain words where they cannot be."""

import asyncio
import json
import logging
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tasks.task import Task
from tests.fakes.site import Reply, Request, Site, serving
from webagent.action import Wait
from webagent.browser.sessions.login import Login, LoginStore, read_storage_state
from webagent.browser.sessions.profile import Profile, open_for_person
from webagent.errors import SetupError
from webagent.observation import render

pytestmark = pytest.mark.slow  # seconds together

COOKIE = {"name": "session", "value": "s3cret-cookie", "expires": -1}
STATE = {"cookies": [COOKIE], "origins": []}
LOGIN = Login("shop", "http://x.test", STATE, 12.5)

FORM = """<title>Log in</title><form method="post" action="/login">
<input name="user" aria-label="User"><button>Go</button></form>"""
ENTERED = """<title>In</title><script>
localStorage.setItem("theme", "dark");
const opening = indexedDB.open("notes", 1);
opening.onupgradeneeded = () => opening.result.createObjectStore("kept");
opening.onsuccess = () => {
  const writing = opening.result.transaction("kept", "readwrite");
  writing.objectStore("kept").put("a note", "first");
  writing.oncomplete = () => { document.title = "Ready"; };
};
</script>"""
HOME = """<title>Home</title><p id="who">%s</p><p id="more"></p><script>
const more = document.getElementById("more");
more.textContent = "theme " + localStorage.getItem("theme");
const opening = indexedDB.open("notes", 1);
opening.onsuccess = () => {
  if (!opening.result.objectStoreNames.contains("kept")) return;
  const reading = opening.result.transaction("kept").objectStore("kept").get("first");
  reading.onsuccess = () => { more.textContent += ", " + reading.result; };
};
</script>"""


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site where one logs in with a name."""

    def enter(request: Request) -> Reply:
        name = request.body.removeprefix("user=")
        return Reply(status=303, headers={"Location": "/in", "Set-Cookie": f"who={name}; Path=/"})

    def home(request: Request) -> Reply:
        who = request.headers.get("cookie", "").removeprefix("who=") or "nobody"
        return Reply(HOME % f"Hello {who}")

    async with serving() as running:
        running.page("/", FORM)
        running.page("/in", ENTERED)
        running.pages |= {"/login": enter, "/home": home}
        yield running


@pytest.mark.browser
async def test_a_login_made_by_a_person_is_there_in_every_fresh_episode(browser, site, tmp_path):
    store = LoginStore(tmp_path, "a passphrase")
    async with open_for_person(site.address, Profile(), headless=True) as context:
        page = context.pages[0]
        await page.get_by_label("User").fill("ada")
        await page.get_by_role("button").click()
        await page.wait_for_function("document.title === 'Ready'")
        state = await context.storage_state(indexed_db=True)
    store.save(Login("shop", site.address, state, time.time()))

    world = await browser.world(profile=Profile(storage=store.load("shop").storage))
    task = Task(id="t/home@1", start_url=f"{site.address}/home")
    for _ in range(2):
        page = await world.reset(task)
        assert "Hello ada" in render(page)
        async with asyncio.timeout(30):
            while "theme dark, a note" not in render(page):  # a database is read beside the page
                page = await world.step(Wait(200))
    await world.close()
    stranger = await browser.world()
    assert "Hello nobody" in render(await stranger.reset(task))
    await stranger.close()


def test_a_saved_login_holds_nothing_in_clear(tmp_path: Path) -> None:
    path = LoginStore(tmp_path, "a passphrase").save(LOGIN)
    everything = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"s3cret" not in everything and b"x.test" not in everything
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "s3cret" not in repr(LoginStore(tmp_path, "a passphrase").load("shop"))
    assert "s3cret" not in repr(Profile(storage=STATE))


@pytest.mark.parametrize("passphrase", ["", "a passphrase"])
def test_a_login_is_read_back_as_it_was(tmp_path: Path, passphrase: str) -> None:
    store = LoginStore(tmp_path, passphrase)
    store.save(LOGIN)
    assert store.load("shop") == LOGIN
    assert store.sites() == ("shop",)


def test_a_wrong_key_is_said_plainly(tmp_path: Path) -> None:
    LoginStore(tmp_path, "right").save(LOGIN)
    with pytest.raises(SetupError, match="does not open with this passphrase"):
        LoginStore(tmp_path, "wrong").load("shop")
    with pytest.raises(SetupError, match="give it in WEBAGENT_LOGINS_PASSPHRASE"):
        LoginStore(tmp_path).load("shop")


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    store = LoginStore(tmp_path)
    store.save(LOGIN)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(SetupError, match="chmod 600"):
        store.load("shop")


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b"not json"])
def test_a_damaged_login_is_said_to_be_one(tmp_path: Path, damage: bytes) -> None:
    store = LoginStore(tmp_path, "right")
    store.save(LOGIN).write_bytes(damage)
    with pytest.raises(SetupError, match=r"damaged|not a login of this version"):
        store.load("shop")


def test_a_login_that_has_run_out_is_said_with_how_to_renew_it(tmp_path, caplog):
    cookies = [COOKIE, {**COOKIE, "expires": time.time() - 60}, {**COOKIE, "expires": 4e9}]
    store = LoginStore(tmp_path, "right")
    store.save(Login("shop", "http://x.test", {"cookies": cookies, "origins": []}, time.time()))
    with caplog.at_level(logging.WARNING):
        store.load("shop")
    assert "1 of its 2 dated cookies have expired" in caplog.text
    assert "webagent login http://x.test --site shop" in caplog.text


def test_a_login_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    store = LoginStore(tmp_path, "right")
    store.save(LOGIN)
    with pytest.raises(SetupError, match=r"no login is saved for 'forum' \(saved: shop\)"):
        store.load("forum")
    with pytest.raises(SetupError, match="a site is named by letters"):
        store.load("../shop")


def test_a_storage_state_of_playwright_is_read_or_said_not_to_be_one(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    with pytest.raises(SetupError, match="cannot be read"):
        read_storage_state(file)
    file.write_text("[]")
    with pytest.raises(SetupError, match="is not a storage state"):
        read_storage_state(file)
    file.write_text(json.dumps(STATE))
    assert read_storage_state(file) == STATE
