"""Imagined episodes that may be learned from."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from evaluators.evaluator import FunctionEvaluator, Verdict
from loop.arms import ARMS
from loop.flat import compose
from loop.folder import RunFolder
from loop.imagination import imagine, leave_out_refuted
from loop.judging.named import CALIBRATING, LearningJudge
from loop.learners import ArmState
from loop.notes import read_warnings
from loop.session import Session
from loop.settings import ImproveConfig
from tasks.task import Task
from webagent.action.actions import Click
from webagent.models.spending import Ledger
from webagent.records import Decision, Ending, Observation, Step, Trajectory
from worldmodel.recall import RememberedWorld


def play(name: str, seed: int, *marks: int) -> Trajectory:
    page = Observation("press", "https://a.example/", "", ())
    steps = tuple(Step(page, Decision(Click(mark))) for mark in marks)
    return Trajectory(name, Task("a/press@1", "https://a.example/", seed=seed), steps=steps)


def test_what_failed_for_real_is_not_learned_from_in_imagination():
    state = ArmState(cast(Any, None))
    state.experience = [play("failed", 1, 3), play("passed", 2, 3), play("unjudged", 3, 3)]
    state.success = {"failed": 0.0, "passed": 1.0, "unjudged": None}
    imagined = [
        play("the same", 1, 3),
        play("another element", 1, 4),
        play("one step more", 1, 3, 4),
        play("another seed", 4, 3),
        play("what passed", 2, 3),
        play("what nobody judged", 3, 3),
    ]
    assert [one.id for one in leave_out_refuted(imagined, state)] == [
        *("another element", "one step more", "another seed", "what passed", "what nobody judged")
    ]


@pytest.mark.parametrize("named", ["judge:evidence", "reward"])
async def test_nothing_is_imagined_for_a_judge_that_passes_everything(tmp_path: Path, named: str):
    """With `reward` checks decide about real episodes, so its model is asked about them anew."""
    config = compose(ImproveConfig, judge=named, policy="local:FOLDER")
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    reported = list[str]()
    with folder.store() as store:
        judge = FunctionEvaluator("kind@1", "success", lambda one: Verdict(1.0, ""))
        session = Session(
            *(config, folder, store, ARMS["imagined"], 0),
            lambda stage, done, text: reported.append(text),
            cast(Any, None),
            judge=LearningJudge(judge, store, Ledger()),
        )
        state = ArmState(cast(Any, None), RememberedWorld())
        played = (play(f"e{seed}", seed, 3) for seed in range(CALIBRATING))
        state.experience = [replace(one, ending=Ending.TASK_OVER) for one in played]
        by_checks = float(named == "judge:evidence")
        state.success = {one.id: by_checks for one in state.experience}
        await imagine(session, state, 2)
        noted = read_warnings(store)
    fault = "nothing is imagined in round 2: kind@1 passes all of 12 real episodes"
    assert reported == [fault]
    assert noted == [f"imagined, repeat 0: {fault}"]
