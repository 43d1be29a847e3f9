"""Figures reach TensorBoard, Weights & Biases and MLflow; a resumed run goes on where it was."""

import importlib.util
import re
from pathlib import Path

import pytest

from webagent.errors import SetupError
from webagent.training.tracking import Trackers, check_trackers

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def log_losses(names: tuple[str, ...], folder: Path, *losses: float, after: int = 0) -> None:
    """Send a loss a step."""
    trackers = Trackers(names, folder, "runs/r", after=after)
    for step, loss in enumerate(losses, after + 1):
        trackers.log({"train/loss": loss}, step)
    trackers.close()


@pytest.mark.slow
def test_mlflow_holds_the_figures_and_a_resumed_run_is_the_same_run(tmp_path, monkeypatch):
    client = pytest.importorskip("mlflow", reason="needs mlflow-skinny").MlflowClient
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")

    log_losses(("mlflow",), tmp_path / "out", 3.0, 2.0)
    log_losses(("mlflow",), tmp_path / "out", 1.0, after=2)

    (experiment,) = client().search_experiments(filter_string="name = 'webagent'")
    (run,) = client().search_runs([experiment.experiment_id])
    found = client().get_metric_history(run.info.run_id, "train/loss")
    assert run.info.run_name == "runs/r"
    assert [(each.step, each.value) for each in found] == [(1, 3.0), (2, 2.0), (3, 1.0)]


@pytest.mark.very_slow
def test_wandb_holds_the_figures_of_a_run_that_went_on_under_one_id(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="needs wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")

    log_losses(("wandb",), tmp_path, 3.0, 2.0)
    log_losses(("wandb",), tmp_path, 1.0, after=2)
    wandb.teardown()  # what it has not yet written is on the disk then

    files = sorted(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    assert len({path.stem for path in files}) == 1 and len(files) == 2
    text = b"".join(path.read_bytes() for path in files)
    found = re.findall(rb"train/loss\x82\x01\x01(\d)", text)
    assert list(dict.fromkeys(found)) == [b"3", b"2", b"1"]


def test_a_tracker_that_is_missing_is_named_with_its_extra(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "webagent.training.tracking.find_spec",
        lambda name: None if name == "wandb" else found(name),
    )
    check_trackers(("tensorboard",))
    with pytest.raises(SetupError, match=r"wandb is asked for but wandb not .*loop\[wandb\]"):
        check_trackers(("tensorboard", "wandb"))


def test_without_a_tracker_nothing_is_written(tmp_path):
    log_losses((), tmp_path / "out", 1.0)
    assert not list(tmp_path.iterdir())
