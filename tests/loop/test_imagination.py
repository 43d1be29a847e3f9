"""Imagined episodes that may be learned from."""

from typing import Any, cast

from loop.imagination import leave_out_refuted
from loop.learners import ArmState
from tasks.task import Task
from webagent.action.actions import Click
from webagent.records import Decision, Observation, Step, Trajectory


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
