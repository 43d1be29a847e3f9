"""`webagent replay` through its real entry point, on episodes that an oracle played."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from apps.view.contents import Archive
from loop.console.output import Status
from recipes import cli
from tasks.task import Task, TaskCheck
from webagent.action import Answer
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.browser.sessions.profile import Profile
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.records import Provenance
from webagent.rollout import run_episode
from webagent.store import Store


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which an oracle has logged in, and one step of a dream."""
    runs = tmp_path_factory.mktemp("runs")
    asked = ("--tasks", "login-user", "--seeds", "1", "--no-baselines", "--concurrency", "1")
    assert cli.main(["benchmark", "miniwob", *asked, "--runs", str(runs), "--name", "run"]) == 0
    with Store.open(runs / "run") as store:
        episode = next(store.trajectories())
        dream = Provenance(world="imagined", run="run", seeded_from=f"{episode.id}:0")
        store.add(replace(episode, id="dream-1", provenance=dream))
    return runs / "run"


@pytest.fixture
def run(recorded: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(copytree(recorded, tmp_path / "run"))


def replay(*arguments: str | Path) -> int:
    """The command."""
    return cli.main(["replay", *map(str, arguments)])


@pytest.mark.browser
def test_an_episode_is_replayed_and_stored_like_any_other(run, tmp_path, capsys):
    with Store.open(run) as store:
        episode = next(store.trajectories(world="browser"))
        moved = replace(episode.task, start_url="file:///elsewhere/login-user.html")
        store.add(replace(episode, id="moved", task=moved))
    assert replay(run, "moved", "--json", "--runs", tmp_path, "--name", "again") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["good"], told["refused"]) == (1, 0)
    done = told["episodes"][0]
    assert done["seed"] == episode.task.seed and done["score"] == 1.0
    with Store.open(tmp_path / "again") as store:
        kept = store.load(done["replay"])
        assert kept is not None and kept.steps[0].decision.source == "replay"
        assert store.scores()[kept.id][0].value == 1.0
        assert store.get_state(f"replay:{kept.id}") == done
    assert Archive(tmp_path).run("again").is_over(), "the viewer would call it interrupted"


@pytest.mark.browser
def test_a_page_that_cannot_be_opened_is_no_success(run, tmp_path, capsys):
    assert replay(run, "--url", "http://127.0.0.1:9/", "--runs", tmp_path) == 1
    said = capsys.readouterr().out
    assert "failed" in said and "world failed" in said


@pytest.mark.browser
def test_bad_input_is_said(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(status: Status, *arguments: str | Path) -> str:
        assert replay(*arguments, "--runs", tmp_path) == status
        return capsys.readouterr().err

    assert "expected a run" in refused(Status.USAGE)
    assert "is not a run folder" in refused(Status.SETUP, tmp_path)
    assert "0 of 2 episodes" in refused(Status.USAGE, run, "xyz")
    assert "was imagined" in refused(Status.SETUP, run, "dream-1")
    assert "do --learn" in refused(Status.USAGE, run, "--values", "username=ada")
    assert "do --learn" in refused(Status.USAGE, run, "--seed", "77")
    assert "is not a URL" in refused(Status.USAGE, run, "--url", "localhost")
    assert "which is not there" in refused(Status.SETUP, run, "--url", "file:///nowhere.html")
    with Store.open(run) as store:
        episode = next(iter(store.trajectories(world="browser")))
        for name, task_id in (("old", "miniwob/login-user@0"), ("gone", "miniwob/no-such@1")):
            task = replace(episode.task, id=task_id, start_url="file:///nowhere.html")
            store.add(replace(episode, id=name, task=task))
    assert "another version" in refused(Status.SETUP, run, "old")
    assert "another version" in refused(Status.SETUP, run, "gone")


async def _play(store, task, actions, profile=None):
    async with Browser() as browser:
        world = await browser.world(profile=profile)
        await run_episode(task, ScriptedPolicy(play_actions(actions)), world, recorder=store)


@pytest.mark.browser
def test_dialogs_that_were_answered_wait_again(tmp_path, capsys):
    page = tmp_path / "ask.html"
    page.write_text(
        "<button onclick=\"document.title = confirm('Sure?')\">Ask</button>", encoding="utf-8"
    )
    actions = (act.Click(1), act.AnswerDialog("accept"), Answer(""))
    checks = (TaskCheck("title", "equals", "true"),)
    task = Task(
        "own/ask@1", page.as_uri(), "Ask.", evidence={"title": "document.title"}, checks=checks
    )
    with Store.open(tmp_path / "run", create=True) as store:
        asyncio.run(_play(store, task, actions, Profile(dialogs="ask")))
    assert replay(tmp_path / "run", "--runs", tmp_path, "--name", "again") == 0
    assert "1 replayed: 1 good" in capsys.readouterr().out
