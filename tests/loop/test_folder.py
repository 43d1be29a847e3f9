"""The run folder: begun once, found again, never overwritten."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from apps.live.settings import RunConfig
from loop.flat import compose
from loop.folder import RunFolder
from loop.measurement.settings import BenchmarkConfig
from loop.settings import ImproveConfig
from tests.fakes.networks import untrained
from webagent.errors import ModelError, StoreError

CONFIG = compose(ImproveConfig, rounds=7, tasks=("click-test", "login-user"))


def begun(path: Path) -> RunFolder:
    """A new run."""
    return RunFolder.create(path / "run", CONFIG, ["webagent", "improve", "--rounds", "7"])


def test_a_run_is_found_again_with_its_settings_commit_and_versions(tmp_path: Path) -> None:
    begun(tmp_path)
    folder = RunFolder.open(tmp_path / "run")
    assert folder.config(ImproveConfig) == CONFIG
    settings = folder.settings()
    assert settings["command"] == ["webagent", "improve", "--rounds", "7"]
    (origin,) = settings["origins"]
    assert origin["versions"]["torch"]


def test_a_source_that_changed_is_named_once_beside_the_one_it_began_with(tmp_path: Path) -> None:
    folder = begun(tmp_path)
    (first,) = folder.note_origin()
    settings = folder.settings()
    settings["origins"] = [first | {"commit": "0" * 40}]
    folder.write_json("run.json", settings)
    assert [origin["commit"] for origin in folder.note_origin()] == ["0" * 40, first["commit"]]
    assert folder.note_origin() == folder.note_origin()
    assert len(folder.settings()["origins"]) == 2


def test_a_run_is_not_begun_over_another_and_only_what_can_be_resumed_says_so(tmp_path):
    begun(tmp_path)
    with pytest.raises(StoreError, match=r"--resume .*, or choose another --name"):
        begun(tmp_path)
    with pytest.raises(StoreError, match="holds a run already; choose another --name"):
        RunFolder.create(tmp_path / "run", RunConfig(), ["webagent", "run"])


@pytest.mark.parametrize(
    ("text", "said"),
    [('{"version": 99}', "version 99"), ('{"vers', "not a run folder"), ("[]", "settings")],
)
def test_another_version_or_half_a_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    folder = begun(tmp_path)
    (folder.path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=said):
        RunFolder.open(folder.path)
    assert (folder.path / "run.json").read_text(encoding="utf-8") == text


def test_settings_that_do_not_fit_are_named(tmp_path: Path) -> None:
    folder = begun(tmp_path)
    settings = folder.settings()
    settings["config"]["rounds"] = "many"
    (folder.path / "run.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(StoreError, match="rounds"):
        folder.config(ImproveConfig)


@pytest.mark.parametrize(("was", "now"), [(False, "off"), (None, "auto"), (True, "on")])
def test_a_folder_with_removed_settings_at_their_defaults_is_read(tmp_path, was, now):
    folder = begun(tmp_path)
    settings = folder.settings()
    settings["config"] |= {"belief": 0.8, "trusted": 0.9, "recomputed": False, "bf16": was}
    settings["config"]["violations"] = None
    folder.write_json("run.json", settings)
    assert folder.config(ImproveConfig) == compose(
        ImproveConfig, rounds=7, tasks=CONFIG.selection.tasks, bf16=now
    )
    settings["config"]["belief"] = 0.7
    folder.write_json("run.json", settings)
    with pytest.raises(StoreError, match=r"with settings that are gone \(belief\); go on with"):
        folder.config(ImproveConfig)


def test_weights_are_saved_once_and_whole(tmp_path: Path) -> None:
    folder, model = begun(tmp_path), untrained()
    folder.save(model, "self", 0, 1, "policy")
    assert folder.has_weights("self", 0, 1)
    assert folder.load("self", 0, 1, "policy").version == model.version
    other = untrained()
    for parameter in other.network.parameters():
        parameter.data.add_(1.0)
    folder.save(other, "self", 0, 1, "policy")
    assert folder.load("self", 0, 1, "policy").version == model.version
    assert [p.name for p in folder.weights("self", 0, 1, "policy").parent.iterdir()] == ["policy"]


def test_weights_that_are_not_there_are_missed_in_words(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no built-in model"):
        begun(tmp_path).load("self", 0, 9, "policy")


def test_shared_settings_stand_among_a_run_s_own_and_are_found_again(tmp_path: Path) -> None:
    config = compose(BenchmarkConfig, model="m", policy="endpoint", max_cost=2.0, seeds=3)
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "benchmark"])
    kept = folder.settings()["config"]
    assert (kept["policy"], kept["model"], kept["max_cost"]) == ("endpoint", "m", 2.0)
    assert folder.config(BenchmarkConfig) == config


def test_runs_without_a_name_that_begin_in_the_same_second_get_folders_of_their_own(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("loop.folder.time.strftime", lambda form: form.partition("%")[0] + "now")
    made = [
        RunFolder.create_named(tmp_path / "runs", "", CONFIG, ["webagent", "run"]) for _ in range(3)
    ]
    assert [folder.path.name for folder in made] == ["run-now", "run-now-2", "run-now-3"]


def test_a_folder_of_runs_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(StoreError, match="no folder can be made in"):
        RunFolder.create_named(tmp_path / "runs", "", CONFIG, ["webagent", "run"])


def test_a_folder_left_by_a_kill_before_its_settings_is_begun_again(tmp_path: Path) -> None:
    folder = begun(tmp_path)
    (folder.path / "run.json").unlink()
    with pytest.raises(StoreError, match="begin it again with --name run"):
        RunFolder.open(folder.path)
    assert begun(tmp_path).config(ImproveConfig) == CONFIG


def test_a_store_with_something_in_it_is_not_begun_again(tmp_path: Path) -> None:
    folder = begun(tmp_path)
    (folder.path / "run.json").unlink()
    with folder.store() as store:
        store.put_state("done", True)
    with pytest.raises(StoreError, match="already holds a run"):
        begun(tmp_path)


def test_a_run_is_played_by_one_process_until_that_ends(tmp_path: Path) -> None:
    path = begun(tmp_path).path
    hold = (
        "import sys, time; from pathlib import Path; from loop.folder import RunFolder\n"
        "with RunFolder.open(Path(sys.argv[1])).locked():\n"
        "    print('locked', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", hold, path], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"locked\n"
        said = f"is being played by process {other.pid}"
        with pytest.raises(StoreError, match=said), RunFolder.open(path).locked():
            pass
        other.kill()
    with RunFolder.open(path).locked():
        assert (path / "playing.lock").read_text() == str(os.getpid())


def test_a_folder_that_is_gone_or_has_no_locks_is_named(tmp_path, monkeypatch, caplog):
    gone = RunFolder(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="nowhere cannot be written"), gone.locked():
        pass

    def refuse(file: object, how: int) -> None:
        raise OSError("Operation not supported")

    monkeypatch.setattr("loop.folder.fcntl.flock", refuse)
    with begun(tmp_path).locked():
        assert "cannot be locked" in caplog.text
