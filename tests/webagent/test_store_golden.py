"""A run folder that an earlier version wrote (commit 3eec70f) is read as it was read then.

Four episodes were played in a browser; three others hold every field of every record and every
action. `expected.json` is what that version's own `to_json` said of them.
"""

import hashlib
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webagent.action import ACTIONS
from webagent.action.actions import CustomAction, PrintPage, ReadFile
from webagent.records import Ending
from webagent.serialize import dumps, from_json, to_json
from webagent.store import Store

ARCHIVE = Path(__file__).parent.parent / "golden" / "run_at_3eec70f.tar.gz"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder, unpacked."""
    folder = tmp_path_factory.mktemp("run")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def store(run: Path) -> Iterator[Store]:
    """The run, open."""
    with Store.open(run) as opened:
        yield opened


@pytest.fixture(scope="module")
def expected(run: Path) -> Any:
    """What the earlier version read."""
    return json.loads((run / "expected.json").read_text(encoding="utf-8"))


def test_every_episode_is_read_as_it_was(store: Store, expected: Any) -> None:
    ids = store.ids("any", phase=("collect", "imagine"))
    read = {episode: to_json(trajectory) for episode in ids if (trajectory := store.load(episode))}
    assert json.loads(json.dumps(read)) == expected["trajectories"]
    assert len(read) == 7


def test_every_score_is_read_as_it_was(store: Store, expected: Any) -> None:
    found = store.scores("any", phase=("collect", "imagine"))
    read = {episode: [to_json(score) for score in scores] for episode, scores in found.items()}
    assert read == expected["scores"]


def test_every_action_is_read(store: Store) -> None:
    trajectory = store.load("golden-1")
    assert trajectory is not None and trajectory.ending is Ending.ANSWERED
    newer = (ReadFile, PrintPage)
    own = [cls for cls in ACTIONS.values() if issubclass(cls, CustomAction)]
    then = [cls for cls in ACTIONS.values() if cls not in (*newer, *own)]
    assert [type(step.decision.action) for step in trajectory.steps] == then


def test_what_is_written_again_is_the_same_bytes(store: Store) -> None:
    trajectory = store.load("golden-1")
    assert trajectory is not None
    for step in trajectory.steps:
        assert from_json(type(step.observation), to_json(step.observation)) == step.observation
        digest = hashlib.blake2b(dumps(to_json(step.observation)), digest_size=16).digest()
        assert store._first("SELECT 1 FROM observations WHERE hash = ?", digest) == (1,)


def test_the_run_can_be_gone_on_with(store: Store) -> None:
    under_way = store.load("golden-3")
    assert under_way is not None and under_way.ending is None and len(under_way.steps) == 1
    assert store.get_state("asking") == {"prompt": "act"}
    assert store.images.get(under_way.steps[0].observation.screenshot).startswith(b"\x89PNG")
