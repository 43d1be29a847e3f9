"""A language model that is trained after each round, and acts with what came of it."""

import asyncio
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from loop.arms import ARMS
from loop.flat import compose, laid_upon
from loop.folder import RunFolder
from loop.learners import ArmState
from loop.learners.choice import check_learner
from loop.learners.language import LanguageLearner
from loop.learners.language_training import RoundTraining
from loop.session import SHARED, Session
from loop.settings import ImproveConfig
from tests.fakes import tiny_models
from webagent.errors import UsageError
from webagent.models.local import LocalModel
from webagent.models.weight_notes import write_role


def test_evaluations_between_no_rounds_are_refused(tmp_path):
    write_role(tmp_path, "policy")
    config = compose(ImproveConfig, policy=f"local:{tmp_path}", evaluate_every=2)
    check_learner(config)
    with pytest.raises(UsageError, match="--evaluate-every 0: at least 1"):
        check_learner(laid_upon(config, {"evaluate_every": 0}))


class Saved:
    """Weights without any content."""

    def save(self, folder: Path) -> None:
        """Write nothing."""


async def test_a_round_starts_from_the_weights_before_and_ends_with_its_learner(
    tmp_path, monkeypatch
):
    starts, ended, may_end = [], threading.Event(), threading.Event()

    def run(training: RoundTraining, state: ArmState) -> tuple[None, str]:
        starts.append((training.round, Path(training.start).parent.name))
        try:
            while training.round == 2 and not may_end.is_set():
                training.progress(0.5, 1.0)
                time.sleep(0.01)
        finally:
            ended.set()
        place = training.arm, training.session.repeat, training.round, "policy"
        training.session.folder.save(Saved(), *place)
        return None, ""

    monkeypatch.setattr(RoundTraining, "run", run)
    (tmp_path / "base").mkdir()
    config = compose(ImproveConfig, policy=f"local:{tmp_path / 'base'}", rounds=2)
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    with folder.store() as store:
        nothing = cast(Any, SimpleNamespace())
        session = Session(config, folder, store, ARMS["self"], 0, lambda *said: None, nothing)
        learner = LanguageLearner(session)
        state = ArmState(learner)
        await learner.learn(state, SHARED, 0)
        await learner.learn(state, "self", 1)
        ended.clear()
        second = asyncio.create_task(learner.learn(state, "self", 2))
        while len(starts) < 3:
            await asyncio.sleep(0.01)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert await asyncio.to_thread(ended.wait, 5), "the training goes on"
        assert not folder.has_weights("self", 0, 2)
        may_end.set()
        await learner.learn(state, "self", 2)
        await learner.close()
    assert [number for number, _ in starts] == [0, 1, 2, 2]
    assert [place for _, place in starts[1:]] == ["0", "1", "1"]


@pytest.mark.parametrize(("lora", "dtype"), [(4, torch.bfloat16), (0, torch.float32)])
async def test_what_is_trained_in_half_precision_acts_in_it(tmp_path, lora, dtype):
    base = tiny_models.causal(tmp_path / "base")
    config = compose(ImproveConfig, policy=f"local:{base}", lora=lora, bf16="on")
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    with folder.store() as store:
        nothing = cast(Any, SimpleNamespace())
        session = Session(config, folder, store, ARMS["self"], 0, lambda *said: None, nothing)
        learner = LanguageLearner(session)
        assert cast(LocalModel, learner.language_model()).weights.module.dtype == dtype
        await learner.close()
