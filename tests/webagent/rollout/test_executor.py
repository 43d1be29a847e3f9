"""A plan is played in order, within its budget, over failures, and goes on where it stopped."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tasks.task import Task
from tests.fakes import FakeWorld, ScriptedPolicy, fake_plan, oracle
from tests.fakes.world import SUBMIT
from webagent.action import Action
from webagent.action.actions import Hover
from webagent.errors import CaptchaError, ModelError, StoreError, WorldError
from webagent.records import Decision, Ending, Observation, Provenance, Step, Trajectory
from webagent.rollout import (
    INTERRUPTED,
    PlannedEpisode,
    StepBudget,
    collect,
    episode_id,
    plan_episodes,
    run_episode,
)
from webagent.store import Store

Faults = Mapping[str, Exception | float]
IDLE = ScriptedPolicy([Hover(SUBMIT)] * 100)


def entries(count: int, max_steps: int = 5) -> list[PlannedEpisode]:
    return plan_episodes(
        fake_plan(count, max_steps), Provenance(run="r", arm="self", phase="collect")
    )


class Worlds:
    """Opens fake worlds, the first ones with the faults given, and remembers them all."""

    def __init__(self, *faults: Faults) -> None:
        self.opened: list[FakeWorld] = []
        self._faults = list(faults)

    async def __call__(self) -> FakeWorld:
        self.opened.append(FakeWorld(self._faults.pop(0) if self._faults else None))
        return self.opened[-1]

    @property
    def are_closed(self) -> bool:
        return all(world.is_closed for world in self.opened)


def seeds(trajectories: list[Trajectory]) -> list[int]:
    return [trajectory.task.seed for trajectory in trajectories]


def outline(trajectories: list[Trajectory]) -> list[Trajectory]:
    """Without what time and retries change."""
    bare = {"id": "", "seconds": 0.0, "attempt": 1}
    steps = [tuple(replace(step, seconds=0.0) for step in one.steps) for one in trajectories]
    return [replace(one, **bare, steps=each) for one, each in zip(trajectories, steps, strict=True)]


async def test_the_plan_is_played_in_order_by_no_more_worlds_than_allowed() -> None:
    worlds = Worlds()
    played = await collect(entries(10), ScriptedPolicy(), worlds, concurrency=3)
    assert seeds(played) == list(range(10))
    assert all(one.evidence == {"reward": 1.0} for one in played)
    assert len(worlds.opened) == 3
    assert worlds.are_closed


async def test_episodes_run_at_the_same_time() -> None:
    together = 0

    class Meeting(FakeWorld):
        running = 0

        async def step(self, action: Action) -> Observation:
            nonlocal together
            Meeting.running += 1
            together = max(together, Meeting.running)
            await asyncio.sleep(0.001)
            Meeting.running -= 1
            return await super().step(action)

    async def open_world() -> Meeting:
        return Meeting()

    await collect(entries(8), ScriptedPolicy(), open_world, concurrency=4)
    assert together == 4


async def test_what_is_played_does_not_depend_on_how_many_play_at_once() -> None:
    alone = await collect(entries(9), ScriptedPolicy(), Worlds())
    many = await collect(entries(9), ScriptedPolicy(), Worlds(), concurrency=5)
    assert outline(alone) == outline(many)


async def test_two_entries_of_one_name_are_refused() -> None:
    (entry,) = entries(1)
    with pytest.raises(ValueError, match=r"number Provenance\.index"):
        await collect([entry, entry], ScriptedPolicy(), Worlds())


# --- failures ---------------------------------------------------------------------------------


async def test_a_failed_world_is_replaced_and_its_episode_played_again(store: Store) -> None:
    worlds = Worlds({"step:5": WorldError("crashed")})
    seen: list[Trajectory] = []
    played = await collect(
        entries(4), ScriptedPolicy(), worlds, recorder=store, on_episode=seen.append
    )
    assert seeds(played) == [0, 1, 2, 3]
    assert [one.attempt for one in played] == [1, 2, 1, 1]
    assert not any(one.ending and one.ending.is_infrastructure for one in played)
    assert [(one.task.seed, one.ending) for one in seen][1] == (1, Ending.WORLD_FAILED)
    assert len(seen) == 5
    ended = [one.ending for one in store.trajectories("finished")]
    assert ended.count(Ending.TASK_OVER) == 4 and ended.count(Ending.WORLD_FAILED) == 1
    assert list(store.trajectories()) == played
    assert len(worlds.opened) == 2
    assert worlds.are_closed


async def test_a_world_that_cannot_be_opened_is_a_failed_episode_played_again() -> None:
    opened = 0

    async def open_world() -> FakeWorld:
        nonlocal opened
        opened += 1
        if opened == 1:
            raise WorldError("the browser did not start")
        return FakeWorld()

    seen: list[Trajectory] = []
    played = await collect(entries(2), ScriptedPolicy(), open_world, on_episode=seen.append)
    assert seeds(played) == [0, 1]
    assert seen[0].error == "the browser did not start"


@pytest.mark.parametrize(
    ("error", "ending", "attempts"),
    [
        (WorldError("this page always crashes"), Ending.WORLD_FAILED, [1, 2, 3]),
        (CaptchaError("a captcha stands in place of the page"), Ending.CAPTCHA, [1]),
    ],
    ids=["beyond the retries", "a person is wanted, who is not asked again"],
)
async def test_failures_are_masked_and_the_rest_is_played(error, ending, attempts):
    class Failing(FakeWorld):
        async def reset(self, task: Task) -> Observation:
            if task.seed == 1:
                raise error
            return await super().reset(task)

    async def open_world() -> Failing:
        return Failing()

    seen: list[Trajectory] = []
    played = await collect(
        entries(4), ScriptedPolicy(), open_world, retries=2, on_episode=seen.append
    )
    assert seeds(played) == [0, 2, 3]
    failed = [(one.attempt, one.ending) for one in seen if one.task.seed == 1]
    assert failed == [(attempt, ending) for attempt in attempts]


async def test_a_failing_model_is_retried_in_the_same_world() -> None:
    class Flaky(ScriptedPolicy):
        failures = 0

        async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
            if trajectory.task.seed == 1 and self.failures < 2:
                self.failures += 1
                raise ModelError("busy")
            return await super().act(trajectory, observation)

    worlds = Worlds()
    played = await collect(entries(3), Flaky(), worlds)
    assert [one.attempt for one in played] == [1, 3, 1]
    assert len(worlds.opened) == 1


@pytest.mark.parametrize("before", [[{}, {}], [{"step": 30.0}]], ids=["quick", "still playing"])
async def test_a_defect_in_one_world_closes_all_the_others_at_once(before: list[Faults]) -> None:
    worlds = Worlds(*before, {"step:2": ZeroDivisionError("a bug")})
    async with asyncio.timeout(5):
        with pytest.raises(ZeroDivisionError, match="a bug"):
            await collect(entries(9), ScriptedPolicy(), worlds, concurrency=len(before) + 1)
    assert len(worlds.opened) == len(before) + 1
    assert worlds.are_closed


async def test_a_world_that_fails_to_close_does_not_fail_the_collection() -> None:
    worlds = Worlds({"close": WorldError("already gone")})
    assert seeds(await collect(entries(2), ScriptedPolicy(), worlds)) == [0, 1]


async def test_a_full_disk_stops_the_collection_and_closes_the_worlds(store: Store) -> None:
    class FillingUp:
        def __init__(self, store: Store) -> None:
            self.begin, self.finish, self.load = store.begin, store.finish, store.load
            self._store = store

        def add_step(self, episode: str, position: int, step: Step) -> None:
            if self._store.count_real_steps() == 7:
                raise StoreError("the disk is full")
            self._store.add_step(episode, position, step)

    worlds = Worlds()
    with pytest.raises(StoreError, match="full"):
        await collect(
            entries(9), ScriptedPolicy(), worlds, concurrency=2, recorder=FillingUp(store)
        )
    assert store.count_real_steps() == 7
    assert worlds.are_closed


async def test_cancelling_closes_the_worlds_and_keeps_the_steps(store: Store) -> None:
    worlds = Worlds({"step:5": 60.0}, {"step:5": 60.0})
    playing = asyncio.create_task(
        collect(entries(9), ScriptedPolicy(), worlds, concurrency=2, recorder=store)
    )
    while sum(world.calls["step"] for world in worlds.opened) < 10:
        await asyncio.sleep(0)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert worlds.are_closed
    assert store.count_real_steps() >= 8
    resumed = await collect(entries(9), ScriptedPolicy(), Worlds(), recorder=store)
    assert seeds(resumed) == list(range(9))


# --- the budget -------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 3, 8])
async def test_the_budget_is_never_exceeded_and_decides_alike_at_any_concurrency(concurrency):
    """Each episode takes 3 steps of the 5 it may take: 32 holds 10 of them, 30 + 5 > 32."""
    played = await collect(
        entries(40), ScriptedPolicy(), Worlds(), concurrency=concurrency, budget_steps=32
    )
    assert seeds(played) == list(range(10))
    assert sum(len(one.steps) for one in played) == 30


async def test_no_episode_is_cut_short_by_the_budget() -> None:
    played = await collect(entries(9), IDLE, Worlds(), concurrency=4, budget_steps=23)
    assert [len(one.steps) for one in played] == [5, 5, 5, 5]


async def test_failed_attempts_spend_the_budget_too(store: Store) -> None:
    worlds = Worlds({"step:3": WorldError("crashed")})
    played = await collect(entries(9), IDLE, worlds, recorder=store, budget_steps=20)
    assert seeds(played) == [0, 1, 2]
    assert store.count_real_steps() == 3 + 15


async def test_a_resumed_collection_spends_only_what_is_left(store: Store) -> None:
    await collect(entries(3), ScriptedPolicy(), Worlds(), recorder=store)
    played = await collect(entries(40), ScriptedPolicy(), Worlds(), recorder=store, budget_steps=20)
    assert store.count_real_steps() == 18
    assert seeds(played) == list(range(6))


async def test_a_kill_does_not_cost_the_steps_that_it_cut_off(store: Store) -> None:
    [whole] = await collect(entries(1), ScriptedPolicy(), Worlds(), recorder=store)
    [other] = await collect(entries(2)[1:], ScriptedPolicy(), Worlds())
    store.add(replace(other, ending=Ending.WORLD_FAILED, error=INTERRUPTED, steps=other.steps[:2]))
    played = await collect(entries(40), ScriptedPolicy(), Worlds(), recorder=store, budget_steps=20)
    assert store.count_real_steps() == 2 + 18
    assert seeds(played) == list(range(6))
    assert played[0] == whole


async def test_calls_that_share_a_budget_play_together_what_one_would(store: Store) -> None:
    plan, budget, played = entries(40), StepBudget(32), list[int]()
    for start in range(0, 40, 4):
        part = plan[start : start + 4]
        played += seeds(
            await collect(part, ScriptedPolicy(), Worlds(), recorder=store, budget_steps=budget)
        )
        if budget.is_used_up:
            break
    assert played == list(range(10))
    resumed = StepBudget(32)
    await collect(plan[:4], ScriptedPolicy(), Worlds(), recorder=store, budget_steps=resumed)
    assert (resumed.spent, resumed.is_used_up) == (12, False)


async def test_imagined_steps_cost_no_real_ones() -> None:
    dreams = plan_episodes(fake_plan(4), Provenance(world="imagined"))
    assert len(await collect(dreams, ScriptedPolicy(), Worlds(), budget_steps=0)) == 4


# --- resumption -------------------------------------------------------------------------------


async def test_finished_episodes_are_loaded_not_played_again(store: Store) -> None:
    first = await collect(entries(3), ScriptedPolicy(), Worlds(), recorder=store)
    worlds, seen = Worlds(), list[Trajectory]()
    both = await collect(
        entries(5), ScriptedPolicy(), worlds, recorder=store, on_episode=seen.append
    )
    assert both[:3] == first
    assert seen == both
    assert sum(world.calls["reset"] for world in worlds.opened) == 2
    finished = Worlds()
    assert await collect(entries(5), ScriptedPolicy(), finished, recorder=store) == both
    assert finished.opened == []


async def test_an_interrupted_episode_is_kept_closed_and_played_again(store: Store) -> None:
    plan = entries(2)
    name = episode_id(plan[0].task, plan[0].provenance)
    whole = await run_episode(
        plan[0].task, ScriptedPolicy(), FakeWorld(), provenance=plan[0].provenance
    )
    store.begin(replace(whole, steps=(), last=None, ending=None, evidence={}))
    store.add_step(name, 0, whole.steps[0])
    played = await collect(plan, ScriptedPolicy(), Worlds(), recorder=store, retries=0)
    cut_off = store.load(name)
    assert cut_off is not None
    assert (cut_off.ending, cut_off.error) == (Ending.WORLD_FAILED, INTERRUPTED)
    assert cut_off.steps == whole.steps[:1]
    assert [one.attempt for one in played] == [2, 1]


async def test_used_up_retries_are_not_tried_again_on_resumption(store: Store) -> None:
    broken: Faults = {"reset": WorldError("no")}
    await collect(entries(1), IDLE, Worlds(broken, broken), recorder=store, retries=1)
    worlds = Worlds()
    assert await collect(entries(1), IDLE, worlds, recorder=store, retries=1) == []
    assert worlds.opened == []


# --- preparing --------------------------------------------------------------------------------


class Preparing(FakeWorld):
    """Remembers what it was told to prepare and what it was then asked to play."""

    def __init__(self, faults: Faults | None = None) -> None:
        super().__init__(faults)
        self.log: list[str] = []

    async def prepare(self, task: Task) -> None:
        self.log.append(f"prepare {task.seed}")

    async def reset(self, task: Task) -> Observation:
        self.log.append(f"play {task.seed}")
        return await super().reset(task)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_a_world_is_told_of_exactly_the_task_it_plays_next(concurrency: int) -> None:
    opened: list[Preparing] = []

    async def open_world() -> Preparing:
        opened.append(Preparing())
        return opened[-1]

    played = await collect(entries(9), ScriptedPolicy(oracle), open_world, concurrency=concurrency)
    assert seeds(played) == list(range(9))
    for world in opened:
        plays = [line.split()[1] for line in world.log if line.startswith("play")]
        hints = [line.split()[1] for line in world.log if line.startswith("prepare")]
        assert hints == plays[1:]


async def test_a_prepared_task_within_the_budget_is_played_even_if_others_wait() -> None:
    async def open_world() -> Preparing:
        return Preparing()

    played = await collect(
        entries(40), ScriptedPolicy(), open_world, concurrency=3, budget_steps=32
    )
    assert seeds(played) == list(range(10))
