"""Every way an episode can end, and what is kept of it."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.task import Task
from tests.fakes import FakeWorld, ScriptedPolicy, fake_task
from tests.fakes.world import SUBMIT
from webagent.action import Action, Answer, GiveUp
from webagent.action.actions import Click, Fill, Hover
from webagent.errors import ModelError, PolicyError, StoppedError, StoreError, WorldError
from webagent.records import Decision, Ending, Observation, Provenance, Step, Trajectory
from webagent.rollout import episode_id, run_episode
from webagent.store import Store

NOTHING = Hover(SUBMIT)


async def play(
    *script: Action | Exception,
    faults: Mapping[str, Exception | float] | None = None,
    max_steps: int = 5,
) -> Trajectory:
    return await run_episode(
        fake_task(3, max_steps), ScriptedPolicy(script), FakeWorld(faults), step_timeout=0.2
    )


async def test_a_page_that_declares_the_end_ends_the_episode() -> None:
    played = await run_episode(fake_task(3), ScriptedPolicy(), FakeWorld())
    assert played.ending is Ending.TASK_OVER
    assert played.evidence == {"reward": 1.0}
    assert len(played.steps) == 3
    assert played.last is not None
    assert played.last.over
    assert played.goal == played.last.goal
    assert played.goal.startswith("Tick")


async def test_a_page_that_is_over_at_the_start_asks_for_no_action() -> None:
    class OverAtOnce(FakeWorld):
        async def reset(self, task: Task) -> Observation:
            return replace(await super().reset(task), over=True)

    played = await run_episode(fake_task(), ScriptedPolicy([]), OverAtOnce())
    assert (played.ending, played.steps) == (Ending.TASK_OVER, ())


async def test_what_was_stopped_before_its_first_page_is_no_failure_of_the_world() -> None:
    faults = {"reset": StoppedError("its time is up"), "evidence": WorldError("no page")}
    played = await play(faults=faults)
    assert (played.ending, played.error) == (Ending.STOPPED, "its time is up")


async def test_an_answer_ends_the_episode_without_touching_the_page() -> None:
    world = FakeWorld()
    played = await run_episode(fake_task(), ScriptedPolicy([NOTHING, Answer("fig")]), world)
    assert played.ending is Ending.ANSWERED
    assert played.steps[-1].decision.action == Answer("fig")
    assert played.last == played.steps[-1].observation
    assert world.calls["step"] == 1
    assert played.evidence == {"reward": 0.0}


async def test_the_step_limit_ends_the_episode_and_evidence_is_still_captured() -> None:
    played = await play(NOTHING, NOTHING, NOTHING, max_steps=2)
    assert (played.ending, len(played.steps)) == (Ending.STEP_LIMIT, 2)
    assert played.evidence == {"reward": 0.0}


@pytest.mark.parametrize(
    ("action", "ending"), [(Answer(), Ending.ANSWERED), (GiveUp("too hard"), Ending.GAVE_UP)]
)
async def test_a_final_action_on_the_last_step_counts_as_given(action, ending):
    assert (await play(NOTHING, action, max_steps=2)).ending is ending


async def test_the_limit_given_to_the_call_is_the_one_recorded() -> None:
    script = ScriptedPolicy([NOTHING] * 9)
    played = await run_episode(fake_task(max_steps=5), script, FakeWorld(), max_steps=1)
    assert (len(played.steps), played.task.max_steps) == (1, 1)


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (PolicyError("no action in 'hm'"), Ending.POLICY_UNREADABLE),
        (ModelError("endpoint down"), Ending.MODEL_FAILED),
    ],
)
async def test_a_policy_that_fails_is_an_ending_with_evidence(error, ending):
    played = await play(NOTHING, error)
    assert (played.ending, played.error) == (ending, str(error))
    assert len(played.steps) == 1
    assert played.evidence == {"reward": 0.0}


async def test_a_refused_action_is_an_ending_and_the_action_is_kept() -> None:
    played = await play(Fill(1, "forbidden"))
    assert played.ending is Ending.GUARD_REFUSED
    assert "not allowed" in played.error
    assert played.steps[-1].decision.action == Fill(1, "forbidden")
    assert played.evidence == {"reward": 0.0}


async def test_a_world_that_cannot_start_has_seen_nothing() -> None:
    played = await play(faults={"reset": WorldError("no browser")})
    assert (played.ending, played.error) == (Ending.WORLD_FAILED, "no browser")
    assert (played.steps, played.last, played.evidence) == ((), None, {})


async def test_a_world_that_breaks_keeps_the_action_that_broke_it() -> None:
    played = await play(NOTHING, Click(SUBMIT), faults={"step:2": WorldError("page crashed")})
    assert (played.ending, played.error) == (Ending.WORLD_FAILED, "page crashed")
    assert [step.decision.action for step in played.steps] == [NOTHING, Click(SUBMIT)]
    assert (played.last, played.evidence) == (None, {})


@pytest.mark.parametrize("verb", ["reset", "step", "evidence"])
async def test_a_call_that_hangs_is_a_failed_world(verb: str) -> None:
    played = await play(Answer() if verb == "evidence" else NOTHING, faults={verb: 60.0})
    assert played.ending is Ending.WORLD_FAILED
    assert f"{verb} did not end within 0.2 seconds" in played.error


async def test_a_world_that_breaks_under_the_evidence_is_never_scored() -> None:
    played = await play(Answer(), faults={"evidence": WorldError("gone")})
    assert (played.ending, played.evidence) == (Ending.WORLD_FAILED, {})
    assert played.last is not None  # the page itself was seen


async def test_a_defect_is_not_dressed_up_as_an_ending() -> None:
    with pytest.raises(ZeroDivisionError):
        await play(ZeroDivisionError())


async def test_the_policy_sees_the_steps_so_far_and_never_the_evidence() -> None:
    seen: list[Trajectory] = []

    def watch(trajectory: Trajectory, observation: Observation) -> Action:
        seen.append(trajectory)
        assert trajectory.last == observation
        return NOTHING

    await run_episode(fake_task(max_steps=3), ScriptedPolicy(watch), FakeWorld())
    assert [len(trajectory.steps) for trajectory in seen] == [0, 1, 2]
    assert not any(trajectory.evidence or trajectory.ending for trajectory in seen)


async def test_each_step_is_stored_as_it_happens(tmp_path: Path, store: Store) -> None:
    stored: list[int] = []

    def watch(trajectory: Trajectory, observation: Observation) -> Action:
        with Store.open(tmp_path / "run") as other:
            kept = other.load(trajectory.id)
            assert kept is not None
            stored.append(len(kept.steps))
        return NOTHING

    played = await run_episode(
        fake_task(max_steps=3), ScriptedPolicy(watch), FakeWorld(), recorder=store
    )
    assert stored == [0, 1, 2]
    assert store.load(played.id) == played


async def test_a_cancelled_episode_stays_under_way_with_its_steps(store: Store) -> None:
    world = FakeWorld({"step:3": 60.0})
    script = ScriptedPolicy([NOTHING] * 5)
    playing = asyncio.create_task(run_episode(fake_task(), script, world, recorder=store))
    while world.calls["step"] < 3:
        await asyncio.sleep(0)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    (kept,) = store.trajectories("any")
    assert kept.ending is None
    assert len(kept.steps) >= 2


async def test_a_recorder_that_cannot_write_stops_the_episode() -> None:
    class FullDisk:
        def begin(self, trajectory: Trajectory) -> None: ...

        def add_step(self, episode: str, position: int, step: Step) -> None:
            raise StoreError("the disk is full")

        def finish(self, trajectory: Trajectory) -> None: ...

        def load(self, episode: str) -> Trajectory | None: ...

    with pytest.raises(StoreError, match="full"):
        await run_episode(fake_task(), ScriptedPolicy(), FakeWorld(), recorder=FullDisk())


async def test_the_same_episode_has_the_same_name_at_every_address() -> None:
    here = Task("a@1", "http://localhost:4000/", seed=1)
    provenance = Provenance(run="r", index=1)
    assert episode_id(here, provenance) == episode_id(
        replace(here, start_url="http://localhost:5000/"), provenance
    )
    others = {
        episode_id(here, provenance, attempt=2),
        episode_id(replace(here, seed=2), provenance),
        episode_id(here, replace(provenance, index=2)),
        episode_id(here, replace(provenance, round=2)),
    }
    assert len(others - {episode_id(here, provenance)}) == 4


async def test_a_play_of_a_script_is_the_same_every_time() -> None:
    def outline(played: Trajectory) -> list[tuple[Observation, Decision]]:
        return [(step.observation, step.decision) for step in played.steps]

    first, second = [
        await run_episode(fake_task(7), ScriptedPolicy(), FakeWorld()) for _ in range(2)
    ]
    assert outline(first) == outline(second)
