"""What a round's draw is made from, and what is kept of it beside the run."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loop.arms import ARMS
from loop.flat import compose, laid_upon
from loop.folder import RunFolder
from loop.learners import ArmState
from loop.learners.builtin import BuiltinLearner
from loop.session import Session
from loop.settings import ImproveConfig
from loop.stages import FIRST_FRESH, sample_tasks
from loop.task_split import load_suite
from webagent.action.actions import Click
from webagent.errors import SetupError, StoreError
from webagent.records import Decision, Ending, Observation, Provenance, Step, Trajectory

NAMES = ("click-test-2", "enter-text", "login-user", "click-widget")
PAGE = Observation("goal", "about:blank", "", ())


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """The arm `self` of the first repeat; nothing can be played."""
    config = compose(ImproveConfig, tasks=NAMES, rounds=4, steps=40)
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    nothing = cast(Any, SimpleNamespace())
    with folder.store() as store:
        yield Session(config, folder, store, ARMS["self"], 0, lambda *said: None, nothing)


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


def test_the_first_round_is_drawn_on_fresh_training_seeds(session, state):
    drawn = sample_tasks(session, state, 1)
    assert len(drawn) == 40
    assert {task.name for task in drawn} == set(NAMES)
    assert min(task.seed for task in drawn) == FIRST_FRESH
    assert drawn == sample_tasks(session, state, 1) != sample_tasks(session, state, 2)


def test_a_seed_that_was_played_is_not_drawn_as_a_fresh_one_again(session, state):
    used = [played(session, state, "enter-text", 1.0).task.seed for _ in range(4)]
    fresh = [task for task in sample_tasks(session, state, 2) if not task.parent]
    assert not {task.seed for task in fresh if task.name == "enter-text"} & set(used)


def test_half_of_the_tasks_are_withheld_others_in_each_repeat(session: Session) -> None:
    half = replace(session, config=laid_upon(session.config, {"withhold": 0.5}))
    assert session.withheld == frozenset()
    assert len(half.withheld) == 2 and half.withheld < set(NAMES)
    assert half.withheld == half.withheld
    assert len({replace(half, repeat=repeat).withheld for repeat in range(8)}) > 1


def test_an_unknown_benchmark_is_named() -> None:
    with pytest.raises(SetupError, match="no benchmark is called 'minibob'"):
        load_suite(compose(ImproveConfig, benchmark="minibob"))


def test_a_run_drawn_in_the_old_way_says_that_it_cannot_be_gone_on_with(tmp_path: Path) -> None:
    command = ["webagent", "improve", "--name", "old"]
    folder = RunFolder.create(tmp_path / "old", ImproveConfig(), command)
    settings = folder.settings()
    settings["config"]["curriculum"] = "on"
    folder.write_json("run.json", settings)
    with pytest.raises(StoreError, match=r"settings that are gone \(curriculum\)"):
        folder.begun_by("improve", ImproveConfig)


def test_verdicts_on_the_task_itself_decide_how_often_it_is_sampled(session, state):
    for _ in range(20):
        played(session, state, "enter-text", 1.0)
        played(session, state, "click-widget", None)
        variant = played(session, state, "login-user", 1.0)
        state.experience[-1] = replace(variant, task=replace(variant.task, parent="somewhere:1"))
    found = Counter(task.name for task in sample_tasks(session, state, 2))
    assert found["enter-text"] < min(found[name] for name in NAMES if name != "enter-text")
    assert max(found.values()) - min(n for name, n in found.items() if name != "enter-text") <= 1


def test_failures_are_tried_again_on_their_own_seed(session: Session, state: ArmState) -> None:
    seeds = {played(session, state, "click-widget", 0.0).task.seed for _ in range(3)}
    again = [task for task in sample_tasks(session, state, 2) if task.parent]
    assert {task.name for task in again} == {"click-widget"}
    assert {task.seed for task in again} <= seeds
