"""Tasks begin logged in: saved logins found by name, and never one episode's in another's."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.task import Task
from tests.fakes.site import Reply, Request, serving
from webagent.browser.sessions.login import Login, Logins, LoginStore, StorageState
from webagent.browser.sessions.profile import Profile, add_login
from webagent.errors import SetupError, WorldError
from webagent.observation import render

TASK = Task("t/shop@1", "http://shop.test/", login="anna")


def state(who: str, domain: str = "shop.test", name: str = "who") -> StorageState:
    """What a browser knows in which somebody has logged in."""
    terms = {"path": "/", "expires": -1, "httpOnly": False, "secure": False, "sameSite": "Lax"}
    cookie = {"name": name, "value": who, "domain": domain, **terms}
    origins = [{"origin": f"http://{domain}", "localStorage": [{"name": "theme", "value": who}]}]
    return {"cookies": [cookie], "origins": origins}


def test_a_login_is_a_file_of_playwrights_in_the_folder_or_one_that_was_saved(tmp_path):
    store = LoginStore(tmp_path / "saved")
    (tmp_path / "anna.json").write_text(json.dumps(state("anna")))
    store.save(Login("bert", "http://shop.test/", state("bert"), 0.0))
    logins = Logins(tmp_path, store)
    assert logins(TASK) == state("anna")
    assert logins(replace(TASK, login="bert")) == state("bert")
    own = Logins(tmp_path / "saved", LoginStore(tmp_path / "elsewhere"))
    assert own(replace(TASK, login="bert")) == state("bert")


def test_a_login_at_two_sites_is_both_of_them_where_it_is_not_saved_itself(tmp_path: Path) -> None:
    logins = Logins(tmp_path, LoginStore(tmp_path / "saved"))
    for name, domain in (("shop", "shop.test"), ("forum", "forum.test")):
        (tmp_path / f"{name}.json").write_text(json.dumps(state(name, domain)))
    both = logins.named("shop.forum")
    assert [each["value"] for each in both["cookies"]] == ["shop", "forum"]
    with pytest.raises(SetupError, match=r"no login is saved for 'wiki'"):
        logins.named("shop.wiki")
    (tmp_path / "forum.shop.json").write_text(json.dumps(state("together")))
    assert logins.named("forum.shop") == state("together")


def test_a_login_that_is_nowhere_is_named_with_where_it_was_looked_for(tmp_path: Path) -> None:
    logins = Logins(tmp_path, LoginStore(tmp_path / "saved"))
    with pytest.raises(SetupError, match=r"anna\.json, and .*webagent login URL --site anna"):
        logins.named("anna")
    with pytest.raises(WorldError, match=r"t/shop@1 needs the login 'anna'.*webagent login"):
        logins(TASK)
    (tmp_path / "anna.json").write_text("[]")
    with pytest.raises(SetupError, match="is not a storage state"):
        logins.named("anna")
    with pytest.raises(SetupError, match="a site is named by letters"):
        logins.named("../anna")


def test_a_task_whose_login_nobody_has_says_how_to_save_one() -> None:
    for logins in (None, lambda task: None):
        with pytest.raises(WorldError, match=r"webagent login http://shop\.test/ --site anna"):
            add_login(Profile(), TASK, logins)


def test_what_the_login_knows_comes_on_top_of_the_profile() -> None:
    below = {
        "cookies": [*state("old")["cookies"], *state("dark", name="look")["cookies"]],
        "origins": [*state("old")["origins"], *state("kept", "other.test")["origins"]],
    }
    profile = Profile(storage=below, locale="de-DE")
    joined = add_login(profile, TASK, lambda task: state("anna"))
    assert joined.locale == "de-DE"
    assert joined.storage is not None
    assert [each["value"] for each in joined.storage["cookies"]] == ["anna", "dark"]
    found = {each["origin"]: each["localStorage"][0]["value"] for each in joined.storage["origins"]}
    assert found == {"http://shop.test": "anna", "http://other.test": "kept"}
    assert add_login(profile, replace(TASK, login=""), lambda task: state("anna")) is profile


@pytest.fixture
async def task() -> AsyncIterator[Task]:
    """A task at a site that greets whoever has its cookie."""

    def home(request: Request) -> Reply:
        who = request.headers.get("cookie", "").removeprefix("who=") or "nobody"
        return Reply(f"<title>Home</title><p>Hello {who}</p>")

    async with serving() as running:
        running.pages["/"] = home
        yield replace(TASK, start_url=f"{running.address}/")


@pytest.mark.browser
async def test_every_episode_is_logged_in_as_its_own_task_says(browser, task):
    world = await browser.world(logins=lambda task: state(task.login, "127.0.0.1"))
    for prepared in (False, True):
        for who in ("anna", "bert", ""):
            wanted = replace(task, login=who)
            if prepared:
                await world.prepare(wanted)
            assert f"Hello {who or 'nobody'}" in render(await world.reset(wanted))
    await world.close()


@pytest.mark.browser
async def test_a_page_kept_ready_is_not_used_once_the_login_is_another(browser, task):
    now = "first"
    world = await browser.world(logins=lambda task: state(now, "127.0.0.1"))
    await world.prepare(task)
    await asyncio.sleep(0.2)
    now = "second"
    assert "Hello second" in render(await world.reset(task))
    await world.close()


@pytest.mark.browser
async def test_a_world_without_logins_fails_where_a_task_wants_one(browser, task):
    world = await browser.world()
    await world.prepare(task)
    with pytest.raises(WorldError, match="--site anna"):
        await world.reset(task)
    assert "Hello nobody" in render(await world.reset(replace(task, login="")))
    await world.close()
