"""A whole training over given rows, which goes on where it was when it is started again."""

import hashlib
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from webagent.errors import ModelError, StoreError
from webagent.training.language.adapters import fingerprint, is_adapted
from webagent.training.language.checkpoint import Checkpoint, CheckpointFolder, load
from webagent.training.language.intake import Accepted, Unit, accept
from webagent.training.language.metrics import Metrics
from webagent.training.language.rows import TokenRow
from webagent.training.language.schedule import Progress, fraction, learning_rate, order
from webagent.training.language.trainer import Trainer

_MAY_CHANGE = {"checkpoint_every", "keep", "tensorboard", "most_skipped", "micro_batch_tokens"}
"""Settings that a resumed run may have otherwise, since they change nothing that is learnt."""

Offered = Sequence[TokenRow | Unit]


@dataclass(frozen=True, slots=True)
class TrainReport:
    """What a training did."""

    updates: int
    tokens: int
    seconds: float
    """Of this process; what an earlier one spent before it was killed is not in it."""
    loss: float
    """Of the last update, in the objective's own measure."""
    skipped: int
    """Updates left out because their loss or gradient was no number."""
    dropped: Mapping[str, int]
    """Units left out, by reason."""
    imagined: float
    """Share of imagined tokens."""
    resumed: int
    """The update after which it went on; 0 for a run from the start."""


def train(
    trainer: Trainer,
    offered: Offered,
    folder: Path | None = None,
    *,
    versions: Sequence[str] = (),
    progress: Callable[[float, Mapping[str, float]], None] = lambda fraction, figures: None,
) -> TrainReport:
    """Train over the units, as the trainer's config says; with a folder, its metrics and
    checkpoints lie there, and a run that was killed goes on from the last whole one.

    `versions` are the names of the weights so far, the newest last, by which rows are stale.
    Raises `SetupError` when nothing may be trained on, `StoreError` when the folder is damaged or
    another run's, `ModelError` when several updates in a row come to no number.
    """
    accepted = accept(offered, trainer.model, trainer.config, versions)
    return _Course(trainer, accepted, folder).run(progress)


class _Course:
    """One run: where it is and where that is written down."""

    def __init__(self, trainer: Trainer, accepted: Accepted, folder: Path | None) -> None:
        self.trainer = trainer
        self.config = trainer.config
        self.accepted = accepted
        self.progress = Progress()
        self.loss = float("nan")
        config = asdict(trainer.config)
        self.facts = {
            "config": config | {"betas": list(trainer.config.betas)},
            "objective": repr(trainer.objective),
            "data": _data_digest(accepted.units),
            "base": fingerprint(trainer.model) if is_adapted(trainer.model) else "",
            "processes": trainer.accelerator.num_processes,
        }
        self.checkpoints = None
        if folder is not None:
            self.checkpoints = CheckpointFolder(folder / "checkpoints", self.config.keep)
            self._resume()
        self.resumed = self.progress.step
        self.metrics = None
        if folder is not None and trainer.accelerator.is_main_process:
            board = self.config.tensorboard
            self.metrics = Metrics(folder, after=self.resumed, tensorboard=board)

    def run(self, report: Callable[[float, Mapping[str, float]], None]) -> TrainReport:
        """All updates that are left."""
        started = time.monotonic()
        units = self.accepted.units
        done = fraction(self.progress, self.config, len(units))
        while done < 1:
            figures = self._update(units, done)
            done = fraction(self.progress, self.config, len(units))
            report(done, figures)
            every = self.config.checkpoint_every
            if done >= 1 or (every and self.progress.step % every == 0):
                self._keep()
        if self.metrics is not None:
            self.metrics.close()
        return TrainReport(
            updates=self.progress.step,
            tokens=self.progress.tokens,
            seconds=time.monotonic() - started,
            loss=self.loss,
            skipped=self.progress.skipped,
            dropped=self.accepted.dropped,
            imagined=self.accepted.imagined,
            resumed=self.resumed,
        )

    def _update(self, units: Sequence[Unit], done: float) -> Mapping[str, float]:
        now = self.progress
        drawn = order(len(units), now.epoch, self.config.seed)
        here = [units[i] for i in drawn[now.place : now.place + self.config.units_per_step]]
        updated = self.trainer.update(here, learning_rate(done, self.config, now.step))
        tokens = sum(unit.tokens for unit in here)
        self.progress = now.after(len(here), tokens, len(units), updated.skipped)
        self.loss = updated.figures["loss"]
        figures = updated.figures | {
            "skipped": float(self.progress.skipped),
            "epoch": float(now.epoch),
            "total_tokens": float(self.progress.tokens),
        }
        if self.metrics is not None:
            self.metrics.write(self.progress.step, figures)
        if self.progress.skipped_in_row >= self.config.most_skipped:
            raise ModelError(
                f"the loss or the gradient was no number in {self.progress.skipped_in_row} updates"
                f" in a row, until update {self.progress.step}; lower the learning rate, look at"
                " the rows' log-probabilities, or train in float32; the last checkpoint is whole"
            )
        return figures

    def _keep(self) -> None:
        """Write a checkpoint: the main process alone, whose weights all share."""
        accelerator = self.trainer.accelerator
        if self.checkpoints is None:
            return
        dice = _gathered_dice(accelerator)
        if accelerator.is_main_process:
            states = {"optimizer": self.trainer.optimizer.state_dict(), "dice": dice}
            facts = self.facts | {
                "progress": asdict(self.progress),
                "micro_batch_tokens": self.trainer.micro_batch_tokens,
                "loss": self.loss,
            }
            checkpoint = Checkpoint(_weights(self.trainer), states, facts)
            self.checkpoints.save(self.progress.step, checkpoint)
        accelerator.wait_for_everyone()

    def _resume(self) -> None:
        assert self.checkpoints is not None
        folder = self.checkpoints.last()
        if folder is None:
            return
        found = load(folder)
        _check_same(folder, found.facts, self.facts)
        _put_back(self.trainer, found, folder)
        self.progress = Progress(**found.facts["progress"])
        self.loss = float(found.facts["loss"])
        if self.config.micro_batch_tokens == found.facts["config"]["micro_batch_tokens"]:
            self.trainer.micro_batch_tokens = int(found.facts["micro_batch_tokens"])


def _data_digest(units: Sequence[Unit]) -> str:
    digest = hashlib.sha256()
    for unit in units:
        digest.update(f"{len(unit.rows)} {unit.better}".encode())
        for row in unit.rows:
            digest.update(np.asarray(row.ids, dtype=np.int64).tobytes())
            for values in (row.weights, row.log_probs, row.advantages):
                digest.update(np.asarray(values, dtype=np.float64).tobytes())
            digest.update(f"{row.temperature} {row.allowed} {row.images}".encode())
    return digest.hexdigest()[:16]


def _check_same(folder: Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    """Raises `StoreError` naming what the checkpoint's run had otherwise."""
    before, now = _jsonable(theirs["config"]), _jsonable(ours["config"])
    changed = [
        f"{name} was {before.get(name)!r}, is {now.get(name)!r}"
        for name in sorted(before.keys() | now.keys())
        if name not in _MAY_CHANGE and before.get(name) != now.get(name)
    ]
    words = {
        "objective": "the objective",
        "data": "the rows",
        "base": "the base model",
        "processes": "the number of processes",
    }
    changed += [
        f"{word} changed from {theirs.get(name)} to {ours[name]}"
        for name, word in words.items()
        if theirs.get(name) != ours[name]
    ]
    if changed:
        raise StoreError(
            f"{folder} belongs to another run: {'; '.join(changed)}. Start it as it was, or train"
            " into an empty folder"
        )


def _jsonable(value: Mapping[str, Any]) -> dict[str, Any]:
    """As it is after a way through JSON, where tuples are lists."""
    plain: dict[str, Any] = json.loads(json.dumps(value))
    return plain


def _weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    """All that training may change: weights that are not frozen, and buffers that are saved."""
    saved = trainer.model.state_dict().keys()
    found = {n: p.detach() for n, p in trainer.model.named_parameters() if p.requires_grad}
    buffers = {n: b for n, b in trainer.model.named_buffers() if n in saved}
    return found | {} if is_adapted(trainer.model) else found | buffers


def _put_back(trainer: Trainer, found: Checkpoint, folder: Path) -> None:
    now = _weights(trainer)
    odd = now.keys() ^ found.tensors.keys()
    shapes = [n for n in now.keys() - odd if now[n].shape != found.tensors[n].shape]
    if odd or shapes:
        name = sorted(odd or shapes)[0]
        raise StoreError(
            f"{folder} holds the weights of another model: {name!r} is not in both, or of another"
            " shape; load the model the run was started with"
        )
    with torch.no_grad():
        for name, values in now.items():
            values.copy_(found.tensors[name])
    trainer.optimizer.load_state_dict(found.states["optimizer"])
    _restore_dice(found.states["dice"][trainer.accelerator.process_index])


def _gathered_dice(accelerator: Any) -> list[dict[str, Any]]:
    """The state of the random numbers of every process."""
    numbers: Any = np.random.get_state(legacy=True)
    name, keys, place, has_gauss, gauss = numbers
    mine = {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "python": list(random.getstate()),
        "numpy": [name, torch.from_numpy(keys.astype(np.int64)), place, has_gauss, gauss],
    }
    if accelerator.num_processes == 1:
        return [mine]
    from accelerate.utils import gather_object  # type: ignore[import-untyped]

    gathered: list[dict[str, Any]] = gather_object([mine])
    return gathered


def _restore_dice(dice: Mapping[str, Any]) -> None:
    torch.set_rng_state(dice["torch"])
    if dice["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(dice["cuda"])
    version, state, gauss = dice["python"]
    random.setstate((version, tuple(state), gauss))
    name, keys, place, has_gauss, spare = dice["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), place, has_gauss, spare))
