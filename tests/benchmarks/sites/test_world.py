"""Worlds on sites: fresh for every episode, under an address that stays, failures named."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from benchmarks.sites import Lease
from benchmarks.sites.hosting import HostedWorld, Hosting
from tasks.task import Probe, Task, TaskCheck
from tests.benchmarks.sites.conftest import FakeRunning
from tests.fakes.policy import ScriptedPolicy
from tests.fakes.reader import ReaderWorld
from webagent.action import Action
from webagent.action.actions import Answer, Fill, Goto
from webagent.errors import GuardError, WorldError
from webagent.records import Ending, Observation, Provenance, Trajectory
from webagent.rollout import collect, plan_episodes, run_episode
from webagent.rollout.world import World
from webagent.serialize import dumps, to_json

FIRST_ENTRIES = [["ann", "It rained."], ["bob", "It shone."]]


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


@pytest.mark.site
async def test_what_an_episode_wrote_is_told_and_gone_for_the_next(hosting):
    first = await play(hosting, diary_task(), [Fill(1, "Fog."), Answer("done")])
    second = await play(hosting, diary_task(1), [Answer("done")])

    row = {"id": 3, "author": "ann", "text": "Fog."}
    assert first.evidence["changes"] == {"entry": {"added": [row], "removed": [], "changed": []}}
    assert first.evidence["entries"] == [*FIRST_ENTRIES, ["ann", "Fog."]]
    assert second.evidence["changes"] == {}
    assert second.evidence["entries"] == FIRST_ENTRIES
    assert hosting.starts == 1


@pytest.mark.site
async def test_the_record_has_the_sites_own_address_and_no_other(hosting):
    script = [Goto("http://diary.test/?from=http%3A%2F%2Fdiary.test%2F"), Answer("done")]
    trajectory = await play(hosting, diary_task(), script)

    assert trajectory.task == diary_task()
    assert trajectory.steps[0].observation.url == "http://diary.test/"
    assert "Diary of http://diary.test/" in trajectory.steps[0].observation.title
    assert trajectory.last.url == "http://diary.test/?from=http%3A%2F%2Fdiary.test%2F"
    assert b"127.0.0.1" not in dumps(to_json(trajectory))


@pytest.mark.site
async def test_eight_parallel_episodes_leave_no_trace_in_one_another(hosting):
    tasks = [diary_task(seed) for seed in range(24)]

    def write(trajectory: Trajectory, page: object) -> Action:
        said = f"entry {trajectory.task.seed}"
        return Fill(1, said) if len(trajectory.steps) < 2 else Answer("done")

    episodes = await collect(
        plan_episodes(tasks, Provenance()),
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


@pytest.mark.site
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


@pytest.mark.site
async def test_a_query_that_fails_is_left_out_with_its_reason(hosting):
    task = diary_task(queries={"wrong": "SELECT colour FROM entry", "gone": "DELETE FROM entry"})
    trajectory = await play(hosting, task, [Answer("done")])

    assert "wrong" not in trajectory.evidence and "gone" not in trajectory.evidence
    assert "no such column: colour" in trajectory.evidence["uncaptured"]["wrong"]
    assert "not authorized" in trajectory.evidence["uncaptured"]["gone"]
    assert trajectory.evidence["changes"] == {}


@pytest.mark.site
async def test_checks_on_changes_hold_for_what_was_asked_and_nothing_more(hosting):
    from benchmarks.rules import checks_hold

    wanted = {"entry": {"added": [{"author": "ann", "text": "Fog."}]}}
    task = diary_task(checks=(TaskCheck("changes", "changes_are", wanted),))
    right = await play(hosting, task, [Fill(1, "Fog."), Answer("done")])
    twice = await play(hosting, task, [Fill(1, "Fog."), Fill(1, "Fog."), Answer("done")])
    nothing = await play(hosting, task, [Answer("done")])

    scores = [await checks_hold()(each) for each in (right, twice, nothing)]
    assert [score.value for score in scores] == [1.0, 0.0, 0.0]


class FakeHost:
    """Lends one fake after another."""

    def __init__(self) -> None:
        self.lent: list[FakeRunning] = []
        self.doubtful: list[FakeRunning] = []
        self.failures: list[list[str]] = []

    async def lease(self, site: str) -> Lease:
        self.lent.append(FakeRunning())
        self.lent[-1].failures = self.failures.pop() if self.failures else []
        return Lease(self.lent[-1], site, 60)

    async def give_back(self, lease: Lease) -> None:
        if lease.is_doubtful:
            self.doubtful.append(lease.running)

    def address(self, site: str) -> str:
        return "http://diary.test"

    def passing(self, site: str) -> dict[str, tuple[str, ...]]:
        return {}


class FakeInner:
    """Notes what it is told; `error` is raised by its next step."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.error: Exception | None = None

    async def reset(self, task: Task) -> Observation:
        self.told.append(f"reset {task.start_url}")
        return Observation("", task.start_url, "", ())

    async def step(self, action: Action) -> Observation:
        if self.error:
            raise self.error
        return Observation("", "", "", ())

    async def evidence(self, task: Task) -> dict[str, object]:
        self.told.append(f"evidence {','.join(task.records)}")
        return {"uncaptured": {"network": "it is cut"}}

    async def prepare(self, task: Task) -> None:
        self.told.append(f"prepare {task.start_url}")

    async def close(self) -> None:
        self.told.append("close")


SITE_TASK = Task(id="diary/x@1", start_url="http://diary.test/", site="diary@1")
PLAIN_TASK = Task(id="page/x@1", start_url="about:blank")


@pytest.fixture
def faked():
    """A hosted world with a fake host, and the inner worlds that it opened."""
    host, inners = FakeHost(), []

    async def open_inner() -> FakeInner:
        inners.append(FakeInner())
        return inners[-1]

    return HostedWorld(open_inner, host), host, inners


async def test_a_sites_page_is_never_prepared_and_a_plain_one_is(faked):
    world, _, inners = faked
    await world.reset(PLAIN_TASK)
    await world.prepare(SITE_TASK)
    await world.prepare(PLAIN_TASK)

    assert inners[0].told == ["reset about:blank", "prepare about:blank"]


async def test_the_pages_of_an_episode_are_closed_before_its_site_is_reset(faked):
    world, host, inners = faked
    await world.reset(SITE_TASK)
    await world.prepare(PLAIN_TASK)
    await world.reset(SITE_TASK)
    await world.reset(PLAIN_TASK)

    assert [inner.told for inner in inners] == [
        ["reset http://127.0.0.1:4321/", "close"],
        ["reset http://127.0.0.1:4321/", "close"],
        ["reset about:blank"],
    ]
    assert [running.resets for running in host.lent] == [2]


async def test_a_site_that_cannot_be_reset_is_changed_for_another_once(faked):
    world, host, _ = faked
    host.failures = [["it is dead"]]
    await world.reset(SITE_TASK)
    assert len(host.lent) == 2 and host.doubtful == host.lent[:1]

    host.lent[1].failures = ["dead, too"]
    host.failures = [["and this one"]]
    with pytest.raises(WorldError, match="and this one"):
        await world.reset(SITE_TASK)


async def test_a_site_that_does_not_answer_at_the_end_leaves_nothing_to_score(faked):
    world, host, _ = faked
    await world.reset(SITE_TASK)
    host.lent[0].is_ill = True

    with pytest.raises(WorldError, match="diary@1 no longer responds"):
        await world.evidence(SITE_TASK)
    await world.close()
    assert host.doubtful == host.lent


async def test_without_a_database_what_is_asked_of_it_is_uncaptured_with_other_reasons(faked):
    world, _, inners = faked
    task = replace(SITE_TASK, queries={"count": "SELECT 1"}, records=("changes", "network"))
    await world.reset(task)

    reason = "diary@1 has no database that can be read from here"
    assert await world.evidence(task) == {
        "uncaptured": {"network": "it is cut", "count": reason, "changes": reason}
    }
    assert inners[0].told[-1] == "evidence network"


@pytest.mark.parametrize("kind", [WorldError, GuardError])
async def test_errors_have_the_sites_own_address_too(faked, kind):
    world, _, inners = faked
    await world.reset(SITE_TASK)
    inners[0].error = kind("http://127.0.0.1:4321/x broke")

    with pytest.raises(kind, match=r"^http://diary\.test/x broke$"):
        await world.step(Goto("http://diary.test/x"))


async def test_before_a_reset_there_is_nothing_to_step_in(faked):
    with pytest.raises(WorldError, match="call reset first"):
        await faked[0].step(Answer(""))
    await faked[0].close()
