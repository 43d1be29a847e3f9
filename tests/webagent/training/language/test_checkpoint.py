"""Checkpoints are whole or not there; a killed run ends as one that was not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.webagent.training.language import course_under_fire
from webagent.errors import StoreError
from webagent.training.language.checkpoint import Checkpoint, CheckpointFolder, load_checkpoint

ROOT = Path(__file__).parents[4]


def some(value: float) -> Checkpoint:
    """A checkpoint that is told by one number."""
    state = {"step": torch.tensor(value), "plain": [1, "two"]}
    return Checkpoint({"w": torch.full((3,), value)}, state, {"value": value})


def test_what_is_saved_is_loaded_and_the_newest_are_kept(tmp_path):
    folder = CheckpointFolder(tmp_path / "c", keep=2)
    assert folder.last() is None
    for step in (1, 2, 3):
        folder.save(step, some(step))
    found = load_checkpoint(folder.last())
    assert found.tensors["w"].tolist() == [3, 3, 3]
    assert found.states["step"] == 3 and found.states["plain"] == [1, "two"]
    assert found.facts == {"value": 3}
    names = sorted(path.name for path in (tmp_path / "c").iterdir())
    assert names == ["last", "step-00000002", "step-00000003"]


@pytest.mark.parametrize("name", ["tensors.safetensors", "states.pt", "facts.json"])
def test_a_damaged_or_missing_file_is_named(tmp_path, name):
    path = CheckpointFolder(tmp_path).save(1, some(1)) / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(StoreError, match=f"{name} is damaged"):
        load_checkpoint(path.parent)
    path.unlink()
    with pytest.raises(StoreError, match=f"{name} is missing"):
        load_checkpoint(path.parent)


def test_a_folder_without_a_manifest_and_a_pointer_to_nothing_are_named(tmp_path):
    folder = CheckpointFolder(tmp_path)
    path = folder.save(1, some(1))
    (path / "manifest.json").write_text("{")
    with pytest.raises(StoreError, match=r"manifest\.json is missing or damaged"):
        load_checkpoint(path)
    (tmp_path / "last").write_text("step-00000009\n")
    with pytest.raises(StoreError, match=r"'step-00000009', which is not there.*step-00000001"):
        folder.last()


def test_a_checkpoint_that_cannot_be_written_says_that_the_one_before_is_whole(tmp_path):
    folder = CheckpointFolder(tmp_path / "c")
    folder.save(1, some(1))
    (tmp_path / "c" / ".step-00000002.draft").touch()
    folder.save(2, some(2))
    (tmp_path / "c").rename(tmp_path / "gone")
    (tmp_path / "c").touch()
    with pytest.raises(StoreError, match="the one before is whole"):
        folder.save(3, some(3))


def fire(folder: Path, kind: str, moments: list[str]) -> list[dict[str, object]]:
    """What was left of a run killed at each moment."""
    script = Path(course_under_fire.__file__)
    done = subprocess.run(
        [sys.executable, str(script), str(folder), kind, *moments],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_ended_alike(folder: Path, undisturbed: Path) -> None:
    """Weights, optimiser and random numbers are the same, bit by bit."""
    ended, whole = (
        load_checkpoint(CheckpointFolder(each / "checkpoints").last())
        for each in (folder, undisturbed)
    )
    assert ended.facts == whole.facts
    assert ended.tensors.keys() == whole.tensors.keys()
    assert all(torch.equal(ended.tensors[name], whole.tensors[name]) for name in whole.tensors)
    assert_equal(ended.states, whole.states)
    lines = [(each / "metrics.jsonl").read_text().splitlines() for each in (folder, undisturbed)]
    steps = [[json.loads(line)["step"] for line in each] for each in lines]
    losses = [[json.loads(line)["loss"] for line in each] for each in lines]
    assert steps[0] == steps[1] == list(range(1, len(steps[1]) + 1)) and losses[0] == losses[1]


def assert_equal(one, other) -> None:
    """The same, all the way down."""
    if isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key, value in one.items():
            assert_equal(value, other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_equal(a, b)
    else:
        assert one == other


@pytest.mark.very_slow
def test_a_run_killed_at_any_operation_of_a_checkpoint_ends_as_if_it_had_not_been(tmp_path):
    whole = "1000000"
    moments = [str(n) for n in (6, 7, 8, 10, 14, 18, 25, 42, 57)]
    left = fire(tmp_path, "bigram", [whole, *moments])
    assert not left[0]["killed"] and all(each["killed"] for each in left[1:])
    assert all(each["resumed"] == 0 for each in left)
    assert {0, 1, 2} <= {each["left"] for each in left}
    halves = {"half of tensors.safetensors", "half of states.pt", "half of a text"}
    assert halves | {"replace", "fsync"} <= {each["at"] for each in left}
    for moment in moments:
        assert_ended_alike(tmp_path / moment, tmp_path / whole)


@pytest.mark.very_slow
@pytest.mark.parametrize("kind", ["adapter", "full"])
def test_a_real_model_killed_at_many_operations_and_at_any_time_ends_alike(tmp_path, kind):
    whole = "1000000"
    moments = [str(n) for n in range(2, 86, 4)] + [f"t{n}" for n in range(60, 460, 80)]
    left = fire(tmp_path, kind, [whole, *moments])
    assert all(each["resumed"] == 0 for each in left)
    assert all(each["killed"] for each in left[1:] if str(each["moment"]).isdigit())
    assert len({each["left"] for each in left}) > 3
    for moment in moments:
        assert_ended_alike(tmp_path / moment, tmp_path / whole)
