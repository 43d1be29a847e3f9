"""Figures sent to where people keep them, through accelerate's trackers."""

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from webagent.errors import SetupError

Tracker: TypeAlias = Literal["tensorboard", "wandb", "mlflow"]
PROJECT = "webagent"
"""W&B's project, unless WANDB_PROJECT names one; MLflow's, unless MLFLOW_EXPERIMENT_NAME does."""
_NOTE = "trackers.json"
"""Holds under which ids W&B and MLflow know the run, so that a resumed one goes on there."""


def check_trackers(names: Sequence[str]) -> None:
    """Raise `SetupError` where a tracker is asked for and not installed."""
    for name in names:
        missing = [module for module in ("accelerate", name) if find_spec(module) is None]
        if missing:
            raise SetupError(
                f"{name} is asked for but {' and '.join(missing)} not installed; install"
                f" webagent-loop[{name}], or leave --track off: a training's figures are in"
                " metrics.jsonl, a run's in summary.json"
            )


class Trackers:
    """The trackers of one run; nothing where none is asked for."""

    def __init__(
        self, names: Sequence[str] = (), folder: Path = Path(), run: str = "", *, after: int = 0
    ) -> None:
        """`run` is its name there; a run that goes on does so `after` this step.

        Raises `SetupError` when one is not installed or cannot be begun, as without a login.
        """
        self._open: list[Any] = []
        if not names:
            return
        check_trackers(names)
        from accelerate import PartialState  # type: ignore[import-untyped]
        from accelerate.tracking import LOGGER_TYPE_TO_CLASS  # type: ignore[import-untyped]

        PartialState()  # accelerate's log wants it
        note, known = folder / _NOTE, dict[str, str]()
        with suppress(OSError, ValueError):
            known = json.loads(note.read_text(encoding="utf-8"))
        known.setdefault("wandb", secrets.token_hex(8))
        project = os.environ.get("WANDB_PROJECT", PROJECT)
        given: dict[str, dict[str, Any]] = {
            "tensorboard": {
                "run_name": "tensorboard",
                "logging_dir": folder,
                "purge_step": after + 1 if after else None,
            },
            "wandb": {
                "run_name": project,
                "name": run,
                "id": known["wandb"],
                "resume": "allow",
                "dir": str(folder),
            },
            "mlflow": {"experiment_name": PROJECT, "run_name": run, "run_id": known.get("mlflow")},
        }
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            tracker = LOGGER_TYPE_TO_CLASS[name](**given[name])
            _start(name, tracker)
            self._open.append(tracker)
            if name == "mlflow":
                known["mlflow"] = tracker.tracker.info.run_id
        note.write_text(json.dumps(known), encoding="utf-8")

    def log(self, figures: Mapping[str, float], step: int) -> None:
        """Send the figures of a step."""
        for tracker in self._open:
            tracker.log(dict(figures), step=step)

    def close(self) -> None:
        """Send what is left."""
        for tracker in self._open:
            tracker.finish()


def _start(name: str, tracker: Any) -> None:
    """Begin a run there. Raises `SetupError` in the tracker's words."""
    failures: tuple[type[Exception], ...] = (OSError,)
    if name == "wandb":
        import wandb

        failures = (OSError, wandb.Error)
    elif name == "mlflow":
        import mlflow

        failures = (OSError, mlflow.MlflowException)
    try:
        tracker.start()
    except failures as error:
        raise SetupError(f"{name} cannot be begun: {error}") from error
