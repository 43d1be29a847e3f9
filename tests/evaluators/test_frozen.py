"""A frozen judge is known by its content and is never trained."""

import shutil
from pathlib import Path

import pytest

from evaluators.evaluator import FunctionEvaluator, Verdict, evaluator
from evaluators.frozen import FrozenJudge, add_frozen, freeze, read_frozen, refuse_frozen, verify
from evaluators.rules import checks_hold
from webagent.errors import SetupError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of weights."""
    folder = tmp_path / "judge"
    (folder / "part").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"\x00\x01")
    (folder / "part" / "config.json").write_text("{}")
    return folder


def learned(version: str = "1") -> FunctionEvaluator:
    """An evaluator that stands for a learned one."""
    return evaluator("learned", version=version)(lambda trajectory: Verdict(1.0, "sure"))


def test_a_frozen_judge_is_the_same_wherever_it_lies(folder, tmp_path):
    frozen = freeze(learned(), folder)
    copy = folder.rename(tmp_path / "moved")
    (copy / ".DS_Store").write_text("left by a file browser")

    verify(frozen, learned(), copy)

    assert freeze(learned(), copy).hash == frozen.hash


@pytest.mark.parametrize("change", ["byte", "name", "extra", "missing"])
def test_any_change_to_the_weights_is_found(folder, change):
    frozen = freeze(learned(), folder)
    weights = folder / "model.safetensors"
    match change:
        case "byte":
            weights.write_bytes(b"\x00\x02")
        case "name":
            weights.rename(folder / "other.safetensors")
        case "extra":
            (folder / "adapter.json").write_text("")
        case "missing":
            weights.unlink()

    with pytest.raises(SetupError, match="weights of the frozen judge"):
        verify(frozen, learned(), folder)
    assert freeze(learned(), folder).hash != frozen.hash


def test_another_version_of_the_judge_is_not_the_frozen_one(folder):
    with pytest.raises(SetupError, match=r"'learned@1', found 'learned@2'"):
        verify(freeze(learned(), folder), learned("2"), folder)


def test_training_is_refused_for_frozen_weights_and_copies_of_them(folder, tmp_path):
    frozen = [freeze(checks_hold()), freeze(learned(), folder)]
    copy = shutil.copytree(folder, tmp_path / "copy")

    for place in (folder, copy):
        with pytest.raises(SetupError, match=r"frozen judge 'learned@1'.*never trained"):
            refuse_frozen(place, frozen)


def test_training_other_weights_or_from_nothing_is_allowed(folder, tmp_path):
    frozen = [freeze(learned(), folder)]
    other = tmp_path / "other"
    other.mkdir()
    (other / "model.safetensors").write_bytes(b"another")

    refuse_frozen(other, frozen)
    refuse_frozen(tmp_path / "not there yet", frozen)


def test_an_empty_folder_is_no_judge(tmp_path):
    with pytest.raises(SetupError, match="no weights"):
        freeze(learned(), tmp_path)


def test_the_records_of_a_run_are_read_back_and_not_replaced(folder, tmp_path):
    frozen = (freeze(checks_hold()), freeze(learned(), folder))
    path = tmp_path / "frozen.json"

    assert add_frozen(path, frozen) == add_frozen(path, frozen[:1]) == frozen
    with pytest.raises(SetupError, match="keeps the judge it began with"):
        add_frozen(path, [FrozenJudge(frozen[1].evaluator, "others")])
    assert read_frozen(path) == frozen


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"evaluator": "a", "colour": "b"}]'])
def test_a_damaged_record_is_said_plainly(tmp_path, text):
    path = tmp_path / "frozen.json"
    path.write_text(text)

    with pytest.raises(SetupError, match="not a list of frozen judges"):
        read_frozen(path)
