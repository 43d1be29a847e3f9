"""What a round's draw is made from, and what is kept of it beside the run."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loop.arms import ARMS
from loop.folder import RunFolder, read_warnings
from loop.learners import ArmState
from loop.learners.builtin import BuiltinLearner
from loop.sampling import FIRST_FRESH, record_monitor, sample_tasks, write_draws
from loop.session import Session
from loop.settings import ImproveConfig
from loop.task_split import load_suite
from recipes.improve import _reopen
from tasks.curriculum.sampling import Reason
from webagent.action.actions import Click
from webagent.errors import SetupError, StoreError
from webagent.records import Decision, Ending, Observation, Provenance, Step, Trajectory
from webagent.rollout import INTERRUPTED

NAMES = ("click-test-2", "enter-text", "login-user", "click-widget")
PAGE = Observation("goal", "about:blank", "", ())


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """The arm `self` of the first repeat; nothing can be played."""
    config = ImproveConfig(tasks=NAMES, rounds=4, steps=40)
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    nothing = cast(Any, SimpleNamespace())
    with folder.store() as store:
        yield Session(config, folder, store, nothing, ARMS["self"], 0, lambda *said: None)


@pytest.fixture
def state(session: Session) -> ArmState:
    """That of an arm that knows nothing yet."""
    return ArmState(BuiltinLearner(session))


def played(  # noqa: PLR0913 - tests set one or two
    session: Session,
    state: ArmState,
    name: str,
    success: float | None,
    *,
    round: int = 1,
    source: str = "policy",
    ending: Ending = Ending.TASK_OVER,
    error: str = "",
) -> Trajectory:
    """An episode of this round, kept where such episodes are kept."""
    index = len(session.store.ids("finished"))
    place = Provenance(arm="self", repeat=0, round=round, phase="collect", index=index)
    task = session.suite.task(name, FIRST_FRESH + index)
    steps = (Step(PAGE, Decision(Click(1), source=source)),) * 2
    made = Trajectory(
        f"{round}-{index}", task, "goal", steps, PAGE, ending, provenance=place, error=error
    )
    session.store.add(made)
    if not ending.is_infrastructure:
        state.experience.append(made)
        state.success[made.id] = success
    return made


def why(session: Session, state: ArmState, name: str, round: int = 2) -> str:
    """The account of the first draw of a task; empty where it is not drawn."""
    drawn = sample_tasks(session, state, round)
    fresh = (one for one in drawn if one.task.name == name and not one.task.parent)
    return next((one.explanation.why for one in fresh), "")


def test_the_first_round_is_drawn_on_fresh_training_seeds(
    session: Session, state: ArmState
) -> None:
    drawn = sample_tasks(session, state, 1)
    assert len(drawn) == 40
    assert {one.task.name for one in drawn} == set(NAMES)
    assert min(one.task.seed for one in drawn) == FIRST_FRESH
    assert drawn == sample_tasks(session, state, 1) != sample_tasks(session, state, 2)


def test_a_seed_that_was_played_is_not_drawn_as_a_fresh_one_again(
    session: Session, state: ArmState
) -> None:
    used = [played(session, state, "enter-text", 1.0).task.seed for _ in range(4)]
    fresh = [one.task for one in sample_tasks(session, state, 2) if not one.task.parent]
    assert not {task.seed for task in fresh if task.name == "enter-text"} & set(used)


def test_what_went_well_and_badly_is_told(session: Session, state: ArmState) -> None:
    for success in (1.0, 0.0, 1.0, 0.0, None):
        played(session, state, "enter-text", success)
    said = why(session, state, "enter-text")
    assert "2 of 4 tries succeeded in the round before" in said
    assert "check could not be evaluated 1 times" in said


def test_a_failure_after_a_random_action_is_left_out_and_a_success_is_not(
    session: Session, state: ArmState
) -> None:
    for success in (1.0, 0.0, 0.0):
        played(session, state, "enter-text", success, source="explore")
    assert "1 of 1 tries succeeded" in why(session, state, "enter-text")


def test_a_world_that_failed_costs_validity_and_a_kill_does_not(
    session: Session, state: ArmState
) -> None:
    for _ in range(6):
        played(session, state, "enter-text", None, ending=Ending.WORLD_FAILED, error="crashed")
        played(session, state, "login-user", None, ending=Ending.WORLD_FAILED, error=INTERRUPTED)
    assert why(session, state, "enter-text") == ""
    assert "page failed" not in why(session, state, "login-user")


def test_tasks_that_a_proposer_made_say_nothing_of_their_kind(
    session: Session, state: ArmState
) -> None:
    retried = played(session, state, "enter-text", 1.0)
    state.experience[-1] = replace(retried, task=replace(retried.task, parent="somewhere:1"))
    assert "never tried" in why(session, state, "enter-text")


def test_without_a_curriculum_every_task_comes_up_as_often(
    session: Session, state: ArmState
) -> None:
    for arm, setting in (("uniform", "on"), ("self", "uniform")):
        config = replace(session.config, curriculum=cast(Any, setting))
        even = replace(session, arm=ARMS[arm], config=config)
        drawn = sample_tasks(even, state, 2)
        assert [sum(one.task.name == name for one in drawn) for name in NAMES] == [10] * 4
        assert {one.explanation.reason for one in drawn} == {Reason.EVEN}


def test_why_each_played_task_was_drawn_lies_beside_the_run(
    session: Session, state: ArmState
) -> None:
    drawn = sample_tasks(session, state, 1)
    done = played(session, state, drawn[2].task.name, 1.0)
    done = replace(done, task=drawn[2].task, provenance=replace(done.provenance, index=2))
    write_draws(session, drawn, [done], 1)
    [line] = (session.folder.path / "curriculum/self-0/1.jsonl").read_text().splitlines()
    found = json.loads(line)
    assert (found["episode"], found["index"]) == (done.id, 2)
    assert (found["task"], found["seed"]) == (drawn[2].task.id, drawn[2].task.seed)
    assert (found["reason"], found["why"]) == ("value", drawn[2].explanation.why)


def test_monitors_are_kept_and_the_last_warning_of_an_arm_is_told(
    session: Session, state: ArmState
) -> None:
    for number in (1, 2, 3):
        tries = [played(session, state, name, 1.0, round=number) for name in NAMES * 6]
        record_monitor(session, state, tries, [1.0] * len(tries), number)
    states = session.store.states("curriculum:self:0:")
    assert len(states) == 3
    [said] = read_warnings(session.store)
    assert said.startswith("self, repeat 0: round 4 is likely to be a plateau")
    again = dict(states)
    record_monitor(session, state, tries, [1.0] * len(tries), 3)
    assert session.store.states("curriculum:self:0:") == again


def test_half_of_the_tasks_are_withheld_others_in_each_repeat(session: Session) -> None:
    half = replace(session, config=replace(session.config, withhold=0.5))
    assert session.withheld == frozenset()
    assert len(half.withheld) == 2 and half.withheld < set(NAMES)
    assert half.withheld == half.withheld
    assert len({replace(half, repeat=repeat).withheld for repeat in range(8)}) > 1


def test_an_unknown_benchmark_is_named() -> None:
    with pytest.raises(SetupError, match="no benchmark is called 'minibob'"):
        load_suite(ImproveConfig(benchmark="minibob"))


def test_a_run_drawn_in_the_old_way_says_that_it_cannot_be_gone_on_with(tmp_path: Path) -> None:
    command = ["webagent", "improve", "--name", "old"]
    folder = RunFolder.create(tmp_path / "old", ImproveConfig(), command)
    settings = folder.settings()
    del settings["config"]["withhold"]
    folder.write_json("run.json", settings)
    with pytest.raises(StoreError, match=r"another curriculum.*webagent improve --name old"):
        _reopen(folder.path)


def test_monitored_exploration_acts_on_the_rounds_of_the_arm_itself(
    session: Session, state: ArmState
) -> None:
    failed = [played(session, state, name, 0.0) for name in NAMES]
    record_monitor(session, state, failed, [0.0] * len(failed), 1)
    monitored = replace(session, config=replace(session.config, explore="monitored"))

    assert session.exploration == (1.2, 0.1)
    assert monitored.exploration == pytest.approx((0.96, 0.08))
    assert replace(monitored, arm=ARMS["uniform"]).exploration == (1.2, 0.1)
