"""WebArena-Infinity: a checkout's tasks, its applications as sites, and its verifiers as a rule."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from benchmarks.catalogue import Options, TasksMissing, find_benchmark
from benchmarks.rules import checks_hold
from benchmarks.sites.described import SITES
from benchmarks.sites.hosting import Hosting
from benchmarks.task_files import UnreadableTasks
from benchmarks.webarena_infinity import VARIABLE
from benchmarks.webarena_infinity.rules import infinity_verified
from webagent.action.actions import Action, Answer, Click, Fill
from webagent.browser import Browser
from webagent.errors import UsageError
from webagent.policy import ScriptedPolicy
from webagent.records import Ending, Trajectory
from webagent.rollout.episode import run_episode

CHECKOUT = Path(__file__).parent / "checkout"
ON = {"on": True, "colour": "white"}


@pytest.fixture
def lamp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A checkout with one application, and a cache of its own."""
    monkeypatch.setenv(VARIABLE, str(CHECKOUT))
    monkeypatch.setenv("WEBAGENT_SITES", str(tmp_path / "sites"))
    monkeypatch.setitem(SITES, "lamp@1", "benchmarks.webarena_infinity.tasks:lamp")


async def play(name: str, *actions: Action) -> Trajectory:
    """An episode of the task in a browser, by these actions."""
    task = find_benchmark("webarena-infinity").load().task(name, 0, "test")
    async with Hosting(1) as hosting, Browser() as browser:
        await hosting.prepare([task])
        world = await hosting.worlds(partial(browser.world, logins=hosting.logins))()
        script = iter((*actions, Answer()))
        policy = ScriptedPolicy(lambda trajectory, observation: next(script, None))
        episode = await run_episode(task, policy, world)
        await world.close()
    return episode


@pytest.mark.usefixtures("lamp")
def test_tasks_of_both_suites_are_grouped_by_application_difficulty_and_suite() -> None:
    suite = find_benchmark("webarena-infinity").load()

    assert suite.names == ("lamp.e1", "lamp.h1", "lamp.function-1")
    assert suite.select(["hard"]) == suite.select(["lamp-hard"]) == ("lamp.h1",)
    assert suite.select(["lamp-function"]) == ("lamp.function-1",)
    assert suite.select(["lamp"]) == suite.names
    assert suite.task("lamp.e1", 0).goal == "Switch the lamp on."


@pytest.mark.browser
@pytest.mark.usefixtures("lamp")
async def test_an_episode_is_scored_by_the_verifier_and_the_next_finds_the_first_state() -> None:
    for _ in range(2):
        episode = await play("lamp.e1", Click(1))
        assert episode.evidence["state"] == ON
        verdict = await checks_hold()(episode)
        assert (verdict.value, verdict.reason) == (1, f"state: the lamp is {ON}")

    episode = await play("lamp.h1", Fill(2, "red"), Click(3))
    assert (await checks_hold()(episode)).value == 0
    assert episode.ending is not Ending.WORLD_FAILED


@pytest.mark.usefixtures("lamp")
def test_the_rule_rejects_what_was_never_opened_and_abstains_without_the_verifier(monkeypatch):
    file = "lamp/real-tasks/task_e1.py"
    assert infinity_verified(ON, file).value == 1
    assert infinity_verified(None, file).value == 0
    assert "TypeError" in infinity_verified([1], file).reason
    for other in ("lamp/real-tasks/task_e9.py", "lamp/../lamp/../../outside.py", "torch/x.py"):
        assert infinity_verified(ON, other).value is None
    monkeypatch.delenv(VARIABLE)
    assert infinity_verified(ON, file).value is None


def test_what_is_missing_or_wrong_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    load = find_benchmark("webarena-infinity").load
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(TasksMissing, match=f"git clone .* {VARIABLE}"):
        load()
    with pytest.raises(UsageError, match=VARIABLE):
        load(Options(files=CHECKOUT))

    shutil.copytree(CHECKOUT, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    tasks = tmp_path / "apps" / "lamp" / "real-tasks.json"
    for wrong, said in (
        ("{", "is not JSON"),
        ("{}", "has no list of tasks"),
        (json.dumps([{"id": "task_e1"}]), "lacks the key"),
        (json.dumps([{"id": "e", "instruction": "Go.", "verify": "no.py"}]), "verify is 'no.py'"),
    ):
        tasks.write_text(wrong)
        with pytest.raises(UnreadableTasks, match=said):
            load()
