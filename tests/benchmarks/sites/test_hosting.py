"""Real browsers on sites of this machine: logged in, each on an instance of its own."""

import socket
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest

from benchmarks.sites import SITES, SiteError
from benchmarks.sites.hosting import Hosting
from benchmarks.sites.instance import first_state
from benchmarks.sites.state import ensure_built
from tasks.task import Task
from tests.fakes.diary import Diary, site
from tests.fakes.policy import ScriptedPolicy
from tests.fakes.site import Reply, serving
from webagent.action import Action
from webagent.action.actions import Answer, Click, Fill, Goto
from webagent.browser import Browser
from webagent.errors import SetupError
from webagent.guard import Guard
from webagent.records import Ending, Observation, Provenance, Trajectory
from webagent.rollout import collect, plan_episodes, run_episode
from webagent.serialize import dumps, to_json


def diary_task(seed: int = 0, login: str = "writer") -> Task:
    return Task(
        id="diary/write@1",
        start_url="http://diary.test/",
        goal=f"Write: entry {seed}",
        seed=seed,
        site="diary@1",
        login=login,
        records=("changes", "network"),
        max_steps=5,
    )


def write(trajectory: Trajectory, page: Observation) -> Action:
    """Type what the goal says, press the button, be done."""
    marks = {node.role: node.mark for node in page.nodes}
    turn = len(trajectory.steps)
    said = trajectory.goal.removeprefix("Write: ")
    return (Fill(marks["textbox"], said), Click(marks["button"]), Answer("done"))[turn]


@pytest.mark.site
@pytest.mark.browser
async def test_eight_browsers_write_at_once_and_none_sees_what_another_wrote(
    hosting, browser, caplog
):
    tasks = [diary_task(seed, "writer" if seed % 2 else "other") for seed in range(16)]
    await hosting.prepare(tasks)

    episodes = await collect(
        plan_episodes(tasks, Provenance()),
        ScriptedPolicy(write),
        hosting.worlds(partial(browser.world, logins=hosting.logins)),
        concurrency=8,
    )

    assert len(episodes) == 16 and hosting.starts <= 8
    assert "restarted" not in caplog.text
    for episode in episodes:
        author = "ann" if episode.task.seed % 2 else "bob"
        entry = {"id": 3, "author": author, "text": f"entry {episode.task.seed}"}
        changes = episode.evidence["changes"]
        assert changes == {"entry": {"added": [entry], "removed": [], "changed": []}}
        assert episode.last is not None and episode.last.url == "http://diary.test/"
        assert any(f"Hello {author}" in node.name for node in episode.last.nodes)
        posted = [each for each in episode.evidence["network"] if each["method"] == "POST"]
        assert [each["url"] for each in posted] == ["http://diary.test/entries"]
        assert b"127.0.0.1" not in dumps(to_json(episode))


@pytest.mark.site
@pytest.mark.browser
async def test_a_login_that_has_run_out_is_made_anew_or_the_world_failed(
    browser, monkeypatch, caplog
):
    monkeypatch.setitem(SITES, "closed@1", "tests.fakes.diary:closed")
    task = replace(diary_task(), site="closed@1")
    kept = ensure_built(site("closed"), first_state).state

    async def play() -> Trajectory:
        with closing(sqlite3.connect(kept / "diary.db")) as database:
            database.execute("DELETE FROM session")
            database.commit()
        async with Hosting() as hosting:
            world = await hosting.worlds(partial(browser.world, logins=hosting.logins))()
            played = await run_episode(task, ScriptedPolicy(write), world)
            again = await run_episode(task, ScriptedPolicy(write), world)
            assert again.evidence.get("changes") == played.evidence.get("changes")
            await world.close()
        return played

    played = await play()
    assert (played.ending, played.error) == (Ending.ANSWERED, "")
    entry = {"id": 3, "author": "ann", "text": "entry 0"}
    assert played.evidence["changes"] == {"entry": {"added": [entry], "removed": [], "changed": []}}
    assert caplog.text.count("the login 'writer' of closed@1 had run out") == 1

    def refuse(*_: object) -> None:
        raise SiteError("it did not accept the password of ann")

    monkeypatch.setattr(Diary, "log_in", refuse)
    failed = await play()
    assert failed.ending is Ending.WORLD_FAILED
    assert "it did not accept the password of ann" in failed.error


@pytest.mark.browser
async def test_a_stored_login_that_has_run_out_is_no_failure_of_the_agents(browser):
    async with (
        serving() as shop,
        Hosting(saved=lambda _: {"cookies": [], "origins": []}) as hosting,
    ):
        shop.page("/login", "<label>Password <input type=password></label>")
        shop.pages["/orders"] = lambda _: Reply("", status=302, headers={"Location": "/login"})
        task = Task("shop/orders@1", f"{shop.address}/orders", login="ann", max_steps=1)
        world = await hosting.worlds(partial(browser.world, logins=hosting.logins))()
        played = await run_episode(task, ScriptedPolicy([Answer("none")]), world)
        await world.close()
    assert played.ending is Ending.WORLD_FAILED
    assert "asks for a password: the login 'ann' has run out" in played.error


@pytest.mark.site
@pytest.mark.browser
async def test_a_site_that_dies_under_a_browser_fails_the_episode_and_is_replaced(hosting, browser):
    world = await hosting.worlds(partial(browser.world, logins=hosting.logins))()
    script = [Goto("http://diary.test/crash"), Answer("done")]
    died = await run_episode(diary_task(), ScriptedPolicy(script), world)
    after = await run_episode(diary_task(), ScriptedPolicy(write), world)
    await world.close()

    assert died.ending is Ending.WORLD_FAILED
    assert "diary@1 has died" in died.error
    assert after.ending is Ending.ANSWERED and hosting.starts == 2


@pytest.mark.site
@pytest.mark.browser
@pytest.mark.parametrize(
    ("kept", "failed_at"),
    [("pooled", "GET http://diary.test/"), ("pooled writes", "POST http://diary.test/entries")],
)
async def test_what_the_server_cannot_do_after_a_reset_is_no_failure_of_the_agent(
    hosting, browser, monkeypatch, kept, failed_at
):
    monkeypatch.setattr("tests.fakes.diary.site", partial(Diary, argument=kept))
    world = await hosting.worlds(partial(browser.world, logins=hosting.logins))()
    episodes = [
        await run_episode(diary_task(seed), ScriptedPolicy(write), world) for seed in range(3)
    ]
    await world.close()

    endings = [episode.ending for episode in episodes]
    assert endings == [Ending.ANSWERED, Ending.WORLD_FAILED, Ending.ANSWERED]
    assert f"the server answered {failed_at} with status 500" in episodes[1].error
    assert hosting.starts == 2, "the one that failed is started anew"


@pytest.mark.site
@pytest.mark.browser
async def test_a_policy_names_a_site_by_its_name_whatever_port_it_is_on(hosting, tmp_path):
    policy = tmp_path / "guard.toml"
    policy.write_text(
        "[[sites]]\nmatch = 'diary@1'\n\n"
        "[[sites]]\nmatch = 'diary@1/crash'\nverdict = 'deny'\n\n"
        "[[actions]]\nverdict = 'deny'\nactions = ['fill']\nsites = ['diary@1']\n"
    )
    script = [Goto("http://diary.test/crash"), Fill(1, "no"), Answer("done")]
    async with Browser(guard=Guard.read(policy)) as guarded:
        world = await hosting.worlds(partial(guarded.world, logins=hosting.logins))()
        episode = await run_episode(diary_task(), ScriptedPolicy(script), world)
        await world.close()

    assert episode.ending is Ending.ANSWERED, "the site lives, since it was not told to crash"
    assert any("Hello ann" in node.name for node in episode.steps[0].observation.nodes)
    assert "http://diary.test/crash is closed" in episode.steps[1].observation.outcome
    assert "refused" in episode.steps[2].observation.outcome
    rules = [each["rule"] for each in episode.evidence["guard"]["refusals"]]
    assert "sites: http://diary.test/crash" in rules


def test_what_a_task_names_is_looked_for_before_anything_is_spent(hosting: Hosting):
    with pytest.raises(SetupError, match="logs in as 'admin'; diary@1 has the accounts other, wri"):
        hosting.check([diary_task(login="admin")])
    with pytest.raises(SetupError, match="no site is called 'dairy@1'; there is diary@1"):
        hosting.check([Task(id="x/y@1", start_url="", site="dairy@1")])
    hosting.check([Task(id="x/y@1", start_url="about:blank", login="somebody")])


async def test_that_a_hosted_site_is_never_reset_is_said_when_the_run_begins(tmp_path, caplog):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        file = tmp_path / "sites.toml"
        file.write_text(f'[sites."shop@1"]\nhosted = "{address}"\nreset = "never"\n')
        async with Hosting(files=[file]) as hosting:
            await hosting.prepare([Task(id="shop/x@1", start_url=address, site="shop@1")])

    assert "shop@1 is never reset" in caplog.text


def answer(server: socket.socket) -> None:
    """An empty page for each who asks."""
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
