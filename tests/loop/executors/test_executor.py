"""Worlds in other processes: the same episodes, none lost and none doubled when one is killed."""

import asyncio
import multiprocessing
import re
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from loop.executors.executor import ExecutorName, check_workers, open_executor
from loop.executors.pool import WorkerPool
from loop.executors.worker import WorkerReply, WorldHost
from tests.fakes.policy import ScriptedPolicy
from tests.fakes.world import fake_plan
from tests.fakes.worlds import PICTURE, FakeSetup
from webagent.errors import SetupError, UsageError, WorldError
from webagent.records import Ending, Provenance, Trajectory
from webagent.rollout import INTERRUPTED, StepBudget, collect, plan_episodes
from webagent.store import Store
from webagent.store.database import MemoryImages

PLAN = plan_episodes(fake_plan(12), Provenance(run="r", phase="collect"))


@asynccontextmanager
async def opened(setup, executor, workers, images=None):
    async with open_executor(setup, executor, workers) as open_worlds:
        keep = (images or MemoryImages()).add
        yield open_worlds(keep, keep, None)


def untimed(played: list[Trajectory]) -> list[Trajectory]:
    """Without what differs from one time to another; attempts that were cut off are not counted."""
    return [
        replace(
            each,
            id=each.id.rpartition("-")[0],
            attempt=0,
            seconds=0,
            steps=tuple(replace(step, seconds=0) for step in each.steps),
        )
        for each in played
    ]


async def play(executor: ExecutorName, workers: int, setup: FakeSetup) -> list[Trajectory]:
    images = MemoryImages()
    async with opened(setup, executor, workers, images) as open_world:
        played = await collect(PLAN, ScriptedPolicy(), open_world, concurrency=4)
    assert images.get(MemoryImages().add(PICTURE)) == PICTURE
    return untimed(played)


@pytest.mark.slow
async def test_two_processes_play_the_same_as_this_one_and_are_gone_afterwards() -> None:
    here = await play("process", 1, FakeSetup())
    assert len(here) == len(PLAN)
    assert await play("process", 2, FakeSetup()) == here
    assert not multiprocessing.active_children()


@pytest.mark.slow
async def test_a_worker_that_is_killed_loses_and_doubles_no_episode(tmp_path: Path) -> None:
    def kill() -> None:
        multiprocessing.active_children()[0].kill()

    await assert_a_kill_costs_nothing("process", 2, kill, tmp_path)


async def assert_a_kill_costs_nothing(executor, workers, kill, folder):
    """With a budget that holds just what is played undisturbed."""
    setup = FakeSetup(step_seconds=0.5)
    seen = list[Trajectory]()

    def see(episode: Trajectory) -> None:
        if not seen:  # in the middle of a step of the next episodes, of which every worker has some
            asyncio.get_running_loop().call_later(0.25, kill)
        seen.append(episode)

    undisturbed = await play("process", 1, FakeSetup())
    steps = sum(len(each.steps) for each in undisturbed)
    budget = StepBudget(steps + PLAN[0].task.max_steps)
    with Store.open(folder / "run", create=True) as store:
        async with opened(setup, executor, workers) as open_world:
            played = await collect(
                PLAN,
                ScriptedPolicy(),
                open_world,
                concurrency=2 * workers,
                recorder=store,
                budget_steps=budget,
                on_episode=see,
            )
        kept, attempts = list(store.trajectories()), list(store.trajectories("finished"))
    assert untimed(played) == untimed(kept) == undisturbed
    cut = [each for each in attempts if each.ending is Ending.WORLD_FAILED]
    assert cut and {each.error for each in cut} == {INTERRUPTED}
    assert len(attempts) == len(PLAN) + len(cut) and budget.spent == steps


@pytest.mark.slow
async def test_a_worker_that_cannot_play_says_why_before_anything_is_played() -> None:
    with pytest.raises(SetupError, match=r"worker \d, process \d+ cannot play: no browser here"):
        async with opened(FakeSetup(refusal="no browser here"), "process", 2):
            pass


async def test_a_full_disk_of_one_machine_is_a_failure_of_the_world_there() -> None:
    host = WorldHost(FakeSetup(full_disk=True))
    await host.answer(-1, "start")
    reply = await host.answer(0, "open", False, None, None)
    await host.close()
    assert isinstance(reply.error, WorldError)
    assert re.search(r"the machine \S+ cannot go on: .*No space left on device", str(reply.error))


async def test_a_worker_with_another_version_is_told_with_both() -> None:
    class OtherWorker:
        name = "worker 0"

        async def call(self, world: int, verb: str, *given: object) -> WorkerReply:
            return WorkerReply(("node-b", "Python 3.9 with webagent-loop 0.0"))

        async def end(self) -> None:
            """Nothing to end."""

    async def start(number: int) -> OtherWorker:
        return OtherWorker()

    with pytest.raises(SetupError, match=r"on node-b, which runs Python 3.9.*install the same"):
        async with WorkerPool.open(start, 1):
            pass


@pytest.mark.slow
async def test_a_defect_in_a_worker_is_told_with_its_traceback() -> None:
    async with opened(FakeSetup(defect="cannot be"), "process", 2) as open_world:
        with pytest.raises(RuntimeError, match=r"(?s)a defect in a worker.*fakes/world.py.*cannot"):
            await collect(PLAN[:1], ScriptedPolicy(), open_world)


@pytest.mark.slow
async def test_a_call_that_takes_too_long_is_cancelled_in_the_worker() -> None:
    async with opened(FakeSetup(step_seconds=60), "process", 2) as open_world:
        async with asyncio.timeout(20):
            played = list[Trajectory]()
            await collect(
                *(PLAN[:1], ScriptedPolicy(), open_world),
                retries=0,
                step_timeout=1,
                on_episode=played.append,
            )
    assert "step did not end within 1 seconds" in played[0].error


def test_no_workers_are_a_wrong_command_line() -> None:
    with pytest.raises(UsageError, match="--workers 0: must be at least 1"):
        check_workers(0)
