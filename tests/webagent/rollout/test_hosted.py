"""Worlds on sites: fresh for every episode, under an address that stays, failures named."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from recipes.hosting import Hosting
from tasks.sites import SITES
from tasks.task import Check, Probe, Task
from tests.fakes.policy import ScriptedPolicy
from tests.fakes.reader import ReaderWorld
from webagent.action import Action
from webagent.action.actions import Answer, Fill, Goto
from webagent.records import Ending, Provenance, Trajectory
from webagent.rollout import collect, planned, run_episode
from webagent.rollout.world import World
from webagent.serialize import dumps, to_json

pytestmark = pytest.mark.site

FIRST_ENTRIES = [["ann", "It rained."], ["bob", "It shone."]]


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sites")


@pytest.fixture
async def hosting(builds: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hosting]:
    monkeypatch.setenv("WEBAGENT_SITES", str(builds))
    monkeypatch.setitem(SITES, "diary@1", "tests.fakes.diary")
    async with Hosting(concurrency=8) as opened:
        yield opened


def diary_task(seed: int = 0, **fields: object) -> Task:
    task = Task(
        id="diary/write@1",
        start_url="http://diary.test/",
        goal="Write an entry.",
        seed=seed,
        site="diary@1",
        login="writer",
        queries={"entries": "SELECT author, text FROM entry ORDER BY id"},
        records=("changes",),
        probes=(Probe("shown", url="http://diary.test/entries"),),
    )
    return replace(task, **fields)  # type: ignore[arg-type]


async def play(hosting: Hosting, task: Task, script: Sequence[Action]) -> Trajectory:
    world = await open_reader(hosting)
    try:
        return await run_episode(task, ScriptedPolicy(script), world)
    finally:
        await world.close()


async def open_reader(hosting: Hosting) -> World:
    async def reader() -> World:
        return ReaderWorld(hosting.logins)

    return await hosting.worlds(reader)()


async def test_what_an_episode_wrote_is_told_and_gone_for_the_next(hosting):
    first = await play(hosting, diary_task(), [Fill(1, "Fog."), Answer("done")])
    second = await play(hosting, diary_task(1), [Answer("done")])

    row = {"id": 3, "author": "ann", "text": "Fog."}
    assert first.evidence["changes"] == {"entry": {"added": [row], "removed": [], "changed": []}}
    assert first.evidence["entries"] == [*FIRST_ENTRIES, ["ann", "Fog."]]
    assert second.evidence["changes"] == {}
    assert second.evidence["entries"] == FIRST_ENTRIES
    assert hosting.starts == 1


async def test_the_record_has_the_sites_own_address_and_no_other(hosting):
    script = [Goto("http://diary.test/?from=http%3A%2F%2Fdiary.test%2F"), Answer("done")]
    trajectory = await play(hosting, diary_task(), script)

    assert trajectory.task == diary_task()
    assert trajectory.steps[0].observation.url == "http://diary.test/"
    assert "Diary of http://diary.test/" in trajectory.steps[0].observation.title
    assert trajectory.last.url == "http://diary.test/?from=http%3A%2F%2Fdiary.test%2F"
    assert b"127.0.0.1" not in dumps(to_json(trajectory))


async def test_eight_parallel_episodes_leave_no_trace_in_one_another(hosting):
    tasks = [diary_task(seed) for seed in range(24)]

    def write(trajectory: Trajectory, page: object) -> Action:
        said = f"entry {trajectory.task.seed}"
        return Fill(1, said) if len(trajectory.steps) < 2 else Answer("done")

    episodes = await collect(
        planned(tasks, Provenance()),
        ScriptedPolicy(write),
        partial(open_reader, hosting),
        concurrency=8,
    )

    assert len(episodes) == 24
    for episode in episodes:
        said = ["ann", f"entry {episode.task.seed}"]
        assert episode.evidence["entries"] == [*FIRST_ENTRIES, said, said]
        assert len(episode.evidence["changes"]["entry"]["added"]) == 2
    assert hosting.starts == 8


async def test_a_site_that_dies_fails_the_episode_and_the_next_gets_another(hosting):
    task = diary_task()
    died = await play(hosting, task, [Goto("http://diary.test/crash"), Answer("done")])
    after = await play(hosting, task, [Answer("done")])

    assert died.ending is Ending.WORLD_FAILED
    assert "diary@1 has died: the server ended with status 3" in died.error
    assert after.ending is Ending.ANSWERED
    assert hosting.starts == 2


async def test_tasks_without_a_site_start_nothing(hosting):
    inner = ReaderWorld()

    async def reader() -> World:
        return inner

    world = await hosting.worlds(reader)()
    task = Task(id="page/plain@1", start_url="http://127.0.0.1:9/")
    seen = await world.reset(task)
    await world.close()

    assert inner.tasks == [task]
    assert seen.url == "http://127.0.0.1:9/"
    assert hosting.starts == 0


async def test_a_query_that_fails_is_left_out_with_its_reason(hosting):
    task = diary_task(queries={"wrong": "SELECT colour FROM entry", "gone": "DELETE FROM entry"})
    trajectory = await play(hosting, task, [Answer("done")])

    assert "wrong" not in trajectory.evidence and "gone" not in trajectory.evidence
    assert "no such column: colour" in trajectory.evidence["uncaptured"]["wrong"]
    assert "not authorized" in trajectory.evidence["uncaptured"]["gone"]
    assert trajectory.evidence["changes"] == {}


async def test_checks_on_changes_hold_for_what_was_asked_and_nothing_more(hosting):
    from evaluators.rules import checks_hold

    wanted = {"entry": {"added": [{"author": "ann", "text": "Fog."}]}}
    task = diary_task(checks=(Check("changes", "changes_are", wanted),))
    right = await play(hosting, task, [Fill(1, "Fog."), Answer("done")])
    twice = await play(hosting, task, [Fill(1, "Fog."), Fill(1, "Fog."), Answer("done")])
    nothing = await play(hosting, task, [Answer("done")])

    scores = [await checks_hold()(each) for each in (right, twice, nothing)]
    assert [score.value for score in scores] == [1.0, 0.0, 0.0]
