"""A world model asked about a stored episode: what it foresaw, and what is to be known of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from apps.view.episode import foresight
from apps.view.episode.foresight import StoredWorldModel, predict
from tests.fakes.toy import blank_world, toy_episodes
from webagent.errors import ModelError
from webagent.records import Provenance, Trajectory
from worldmodel.accuracy import is_held_back


@pytest.fixture
def met(tmp_path: Path) -> tuple[Trajectory, StoredWorldModel]:
    """An episode, and a world model that was trained on it."""
    episodes, _ = toy_episodes(40, seed=3)
    place = Provenance(arm="self", round=1, phase="collect")
    named = [replace(one, id=f"{i:08x}", provenance=place) for i, one in enumerate(episodes)]
    chosen = next(one for one in named if len(one.steps) > 1 and not is_held_back(one))
    blank_world(episodes).model.save(tmp_path / "world")
    return chosen, StoredWorldModel(tmp_path / "world", "self", 0, 1)


def test_every_step_has_its_prediction_and_what_was_trained_on_is_said(met) -> None:
    episode, world_model = met
    told = predict(episode, world_model)
    assert len(told.steps) == len(episode.steps) == told.total.steps
    assert all(0 <= one.outcome.succeeds <= 1 for one in told.steps)
    assert told.steps[-1].ended
    assert told.caution.startswith("It was trained on this episode, too")
    assert predict(episode, replace(world_model, round=0)).caution == ""


def test_an_episode_is_predicted_once(met, monkeypatch: pytest.MonkeyPatch) -> None:
    episode, world_model = met
    first = predict(episode, world_model)
    monkeypatch.setattr(foresight, "_load", lambda folder: pytest.fail("asked again"))
    assert predict(episode, world_model).steps is first.steps


def test_weights_that_cannot_be_read_are_an_error_with_a_name(met, tmp_path: Path) -> None:
    episode, world_model = met
    with pytest.raises(ModelError, match="no built-in model can be loaded"):
        predict(episode, replace(world_model, folder=tmp_path / "nothing"))
