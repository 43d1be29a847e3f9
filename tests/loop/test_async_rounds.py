"""Rounds that are collected while a language model is still trained on earlier ones."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loop.arms import ARMS
from loop.flat import compose, laid_upon
from loop.folder import RunFolder
from loop.learners import ArmState
from loop.learners.choice import check_learner
from loop.learners.language import LanguageLearner
from loop.learners.language_training import RoundTraining, list_versions
from loop.session import SHARED, Session
from loop.settings import ImproveConfig
from tasks.task import Task
from webagent.errors import ModelError, UsageError
from webagent.models.weight_notes import write_role
from webagent.records import Decision, Provenance, Step, Trajectory


@pytest.mark.parametrize(
    ("behind", "every", "acting"),
    [
        (0, 1, [0, 1, 2, 3, 4, 5]),
        (0, 3, [0, 1, 2, 3, 4, 5]),
        (1, 3, [0, 0, 1, 3, 3, 4]),
        (2, 3, [0, 0, 0, 3, 3, 3]),
        (2, 6, [0, 0, 0, 1, 2, 3]),
    ],
)
def test_which_weights_collect_a_round_follows_from_the_settings(behind, every, acting):
    config = compose(ImproveConfig, rounds=6, async_rounds=behind, evaluate_every=every)
    assert [config.acting_round(number) for number in range(1, 7)] == acting
    assert config.is_measured(6)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"async_rounds": 1}, "changes nothing where every round is evaluated"),
        ({"async_rounds": -1, "evaluate_every": 2}, "--async-rounds -1"),
        ({"evaluate_every": 0}, "--evaluate-every 0: at least 1"),
        ({"async_rounds": 1, "policy": "builtin"}, "learn in moments"),
    ],
)
def test_what_cannot_be_collected_beside_a_training_is_named(tmp_path, more, complaint):
    write_role(tmp_path, "policy")
    config = compose(ImproveConfig, policy=f"local:{tmp_path}", evaluate_every=2)
    check_learner(replace(config, async_rounds=1))
    with pytest.raises(UsageError, match=complaint):
        check_learner(laid_upon(config, {"evaluate_every": 1, **more}))


class Saved:
    """Weights without any content."""

    def save(self, folder: Path) -> None:
        """Write nothing."""


class Trainings:
    """Stands for the trainings: each waits until it may end, or until the learner is closed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.starts: list[tuple[int, str]] = []
        self.lengths: list[int] = []
        self.may_end = threading.Event()
        self.failure: Exception | None = None
        monkeypatch.setattr(RoundTraining, "run", lambda training, state: self.run(training, state))

    def run(self, training: RoundTraining, state: ArmState) -> tuple[None, str]:
        self.starts.append((training.round, Path(training.start).parent.name))
        self.lengths.append(len(state.experience))
        while training.round and not self.may_end.is_set():
            training.progress(0.5, 1.0)
            time.sleep(0.01)
        if training.round and self.failure is not None:
            raise self.failure
        place = training.arm, training.session.repeat, training.round, "policy"
        training.session.folder.save(Saved(), *place)
        return None, ""


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> Trainings:
    """Trainings that end when they are let."""
    return Trainings(monkeypatch)


@pytest.fixture
async def learner(tmp_path: Path) -> AsyncIterator[LanguageLearner]:
    """A learner of four rounds, evaluated at the end, that acts with weights a round older."""
    (tmp_path / "base").mkdir()
    config = compose(
        ImproveConfig,
        policy=f"local:{tmp_path / 'base'}",
        rounds=4,
        evaluate_every=4,
        async_rounds=1,
    )
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    nothing = cast(Any, SimpleNamespace())
    with folder.store() as store:
        session = Session(config, folder, store, ARMS["self"], 0, lambda *said: None, nothing)
        opened = LanguageLearner(session)
        yield opened
        await opened.close()


async def test_a_round_is_collected_while_the_one_before_is_trained_on(learner, trainings):
    state = ArmState(learner)
    await learner.learn(state, SHARED, 0)
    await learner.learn(state, "self", 1)
    assert Path(learner._place).parent.name == "0", "the first training goes on"
    state.experience.append(Trajectory("later", Task("a/b@1", "https://a.example/")))
    second = asyncio.create_task(learner.learn(state, "self", 2))
    await asyncio.sleep(0.1)
    assert not second.done() and [number for number, _ in trainings.starts] == [0, 1]
    trainings.may_end.set()
    await second
    assert Path(learner._place).parent.name == "1"
    await learner.learn(state, "self", 3)
    await learner.learn(state, "self", 4)
    assert Path(learner._place).parent.name == "4", "an evaluation waits for the newest"
    assert trainings.starts[1:] == [(1, "0"), (2, "1"), (3, "2"), (4, "3")]
    assert trainings.lengths == [0, 0, 1, 1, 1], "each as much as was known when it was begun"


async def test_a_training_under_way_ends_with_its_learner(learner, trainings):
    state = ArmState(learner)
    await learner.learn(state, SHARED, 0)
    await learner.learn(state, "self", 1)
    while len(trainings.starts) < 2:
        await asyncio.sleep(0.01)
    async with asyncio.timeout(5):
        await learner.close()


async def test_a_training_that_fails_behind_a_round_is_told_after_it(learner, trainings):
    trainings.failure = ModelError("the loss was no number")
    trainings.may_end.set()
    state = ArmState(learner)
    await learner.learn(state, SHARED, 0)
    await learner.learn(state, "self", 1)
    with pytest.raises(ModelError, match="no number"):
        await learner.learn(state, "self", 2)


def test_versions_are_named_by_the_episodes_that_they_collected() -> None:
    config = compose(ImproveConfig, rounds=4, evaluate_every=4, async_rounds=1)
    session = cast(Any, SimpleNamespace(config=config))
    experience = [
        replace(
            Trajectory("e", Task("a/b@1", "https://a.example/")),
            provenance=Provenance(round=number),
            steps=(
                cast(Step, SimpleNamespace(decision=cast(Decision, SimpleNamespace(weights=w)))),
            ),
        )
        for number, w in ((1, "w0"), (2, "w0"), (3, "w1"))
    ]
    assert list_versions(session, experience, 3) == ("w0", "w1", "round 2")
