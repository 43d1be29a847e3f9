"""A whole training over given rows, which goes on where it was when it is started again."""

import hashlib
import json
import math
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from webagent.errors import ModelError, StoreError
from webagent.training.language.checkpoint import Checkpoint, CheckpointFolder, load_checkpoint
from webagent.training.language.config import DEFAULTS, TrainConfig
from webagent.training.language.preparation import is_adapted
from webagent.training.language.rows import TokenRow
from webagent.training.language.sharding import gather, part, part_states
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import AcceptedUnits, TrainingUnit, accept_units
from webagent.training.tracking import Trackers

FILE = "metrics.jsonl"
_MAY_CHANGE = {
    "checkpoint_every",
    "micro_batch_tokens",
    "tensorboard",  # what was there before `track`
    "track",
}
"""Settings that a resumed run may have otherwise, since they change nothing that is learnt."""
KEPT = 2
"""Checkpoints that are kept, so that one is whole if the process dies while it writes."""
MOST_SKIPPED = 5
"""Updates in a row whose loss or gradient was not finite, after which training gives up."""
Offered = Sequence[TokenRow | TrainingUnit]


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """Where a training is."""

    step: int = 0
    """Updates tried so far, skipped ones included."""
    epoch: int = 0
    place: int = 0
    """How many units of this epoch have been gone through."""
    tokens: int = 0
    """Tokens gone through, padding not counted."""
    imagined: int = 0
    """How many of them were never on a real page."""
    skipped: int = 0
    """Updates skipped because their loss or gradient was no number."""
    skipped_in_row: int = 0

    def after(self, units: Sequence[TrainingUnit], count: int, skipped: bool) -> "TrainingProgress":
        """Return the next place, after an update on these units out of `count`."""
        place = self.place + len(units)
        return replace(
            self,
            step=self.step + 1,
            epoch=self.epoch + (place >= count),
            place=0 if place >= count else place,
            tokens=self.tokens + sum(unit.tokens for unit in units),
            imagined=self.imagined + sum(unit.tokens for unit in units if unit.imagined),
            skipped=self.skipped + skipped,
            skipped_in_row=self.skipped_in_row + 1 if skipped else 0,
        )


def compute_fraction(progress: TrainingProgress, config: TrainConfig, count: int) -> float:
    """Return how much of the training is done, from 0 to 1: by updates or tokens, the further."""
    total = config.epochs * math.ceil(count / config.batch(count))
    total = min(total, config.steps) if config.steps else total
    done = progress.step / total
    if config.tokens:
        done = max(done, progress.tokens / config.tokens)
    return 1.0 if progress.epoch >= config.epochs else min(1.0, done)


def compute_learning_rate(done: float, config: TrainConfig, step: int = 0) -> float:
    """Return the rate of an update when this share of the training is done.

    The first has half a rate rather than none where there is a warm-up.
    """
    begin, end = config.span
    done = begin + done * (end - begin)
    if config.warmup and done < config.warmup:
        return config.learning_rate * max(done / config.warmup, 0.5 / (step + 1) if not step else 0)
    left = (done - config.warmup) / max(1e-9, 1 - config.warmup)
    return config.learning_rate * 0.5 * (1 + math.cos(math.pi * left))


def shuffle_units(count: int, epoch: int, seed: int) -> list[int]:
    """Return the order of the units in an epoch, the same for the same seed."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    order: list[int] = torch.randperm(count, generator=generator).tolist()
    return order


class Metrics:
    """Writes one line an update into `metrics.jsonl`, as it happens."""

    def __init__(self, folder: Path, *, after: int = 0, track: Sequence[str] = ()) -> None:
        """Lines of updates later than `after`, which a resumed run does again, are taken out.

        Raises `SetupError` when a tracker cannot be begun.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        if self._path.exists():
            kept = []
            for line in self._path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError, KeyError, TypeError):
                    if json.loads(line)["step"] <= after:
                        kept.append(line + "\n")
            draft = self._path.with_suffix(".draft")
            draft.write_text("".join(kept), encoding="utf-8")
            os.replace(draft, self._path)
        self._trackers = Trackers(track, folder, str(folder), after=after)

    def write(self, step: int, figures: Mapping[str, float]) -> None:
        """Append the figures of this update."""
        plain = {name: v if math.isfinite(v) else str(v) for name, v in figures.items()}
        line = json.dumps({"step": step} | plain)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        self._trackers.log({f"train/{name}": value for name, value in figures.items()}, step)

    def close(self) -> None:
        """Send what is left to the trackers."""
        self._trackers.close()


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
    imagined: int
    """How many of the tokens gone through are imagined."""
    resumed: int
    """The update after which it went on; 0 for a run from the start."""


def train(
    trainer: Trainer,
    offered: Offered,
    folder: Path | None = None,
    *,
    progress: Callable[[float, Mapping[str, float]], None] = lambda fraction, figures: None,
) -> TrainReport:
    """Train over the units, as the trainer's config says; with a folder, its metrics and
    checkpoints lie there, and a run that was killed goes on from the last whole one.

    Raises `SetupError` when nothing may be trained on, `StoreError` when the folder is damaged or
    another run's, `ModelError` when several updates in a row come to no number.
    """
    accepted = accept_units(offered, trainer.model, trainer.config)
    return _TrainingRun(trainer, accepted, folder).run(progress)


class _TrainingRun:
    """One run: where it is and where that is written down."""

    def __init__(self, trainer: Trainer, accepted: AcceptedUnits, folder: Path | None) -> None:
        self.trainer = trainer
        self.config = trainer.config
        self.accepted = accepted
        self.progress = TrainingProgress()
        self.loss = float("nan")
        config = asdict(trainer.config)
        digest = hashlib.sha256()
        for unit in accepted.units:
            digest.update(f"{len(unit.rows)} {unit.better}".encode())
            for row in unit.rows:
                digest.update(np.asarray(row.ids, dtype=np.int64).tobytes())
                for values in (row.weights, row.log_probs, row.advantages):
                    digest.update(np.asarray(values, dtype=np.float64).tobytes())
                digest.update(f"{row.temperature} {row.allowed} {row.images}".encode())
        self.facts = {
            "config": config,
            "objective": repr(trainer.objective),
            "data": digest.hexdigest()[:16],
            "base": trainer.base,
            "processes": trainer.accelerator.num_processes,
        }
        self.checkpoints = None
        if folder is not None:
            self.checkpoints = CheckpointFolder(folder / "checkpoints", KEPT)
            self._resume()
        self.resumed = self.progress.step
        self.metrics = None
        if folder is not None and trainer.accelerator.is_main_process:
            self.metrics = Metrics(folder, after=self.resumed, track=self.config.track)

    def run(self, report: Callable[[float, Mapping[str, float]], None]) -> TrainReport:
        """Make all updates that are left."""
        started = time.monotonic()
        units = self.accepted.units
        done = compute_fraction(self.progress, self.config, len(units))
        while done < 1:
            now = self.progress
            order = shuffle_units(len(units), now.epoch, self.config.seed)
            places = order[now.place : now.place + self.config.batch(len(units))]
            here = [units[place] for place in places]
            updated = self.trainer.update(here, compute_learning_rate(done, self.config, now.step))
            self.progress = now.after(here, len(units), updated.skipped)
            self.loss = updated.figures["loss"]
            figures = updated.figures | {
                "skipped": float(self.progress.skipped),
                "epoch": float(now.epoch),
                "total_tokens": float(self.progress.tokens),
            }
            if self.metrics is not None:
                self.metrics.write(self.progress.step, figures)
            if self.progress.skipped_in_row >= MOST_SKIPPED:
                raise ModelError(
                    f"the loss or the gradient was no number in {self.progress.skipped_in_row}"
                    f" updates in a row, until update {self.progress.step}; lower the learning"
                    " rate, look at the rows' log-probabilities, or train in float32; the last"
                    " checkpoint is whole"
                )
            done = compute_fraction(self.progress, self.config, len(units))
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
            imagined=self.progress.imagined,
            resumed=self.resumed,
        )

    def _keep(self) -> None:
        """Write a checkpoint: the main process alone, of whole weights, however they are held."""
        accelerator = self.trainer.accelerator
        if self.checkpoints is None:
            return
        states_of_all = _gather_random_states(accelerator)
        weights = gather(_weights(self.trainer))
        optimizer = gather(self.trainer.optimizer.state_dict())
        if accelerator.is_main_process:
            states = {"optimizer": optimizer, "dice": states_of_all}
            facts = self.facts | {
                "progress": asdict(self.progress),
                "micro_batch_tokens": self.trainer.micro_batch_tokens,
                "loss": self.loss,
            }
            checkpoint = Checkpoint(weights, states, facts)
            self.checkpoints.save(self.progress.step, checkpoint)
        accelerator.wait_for_everyone()

    def _resume(self) -> None:
        assert self.checkpoints is not None
        folder = self.checkpoints.last()
        if folder is None:
            return
        found = load_checkpoint(folder)
        # Through JSON, where tuples are lists.
        before, now = (json.loads(json.dumps(each["config"])) for each in (found.facts, self.facts))
        before = json.loads(json.dumps(asdict(DEFAULTS))) | before  # settings that came since
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
            f"{word} changed from {found.facts.get(name)} to {self.facts[name]}"
            for name, word in words.items()
            if found.facts.get(name) != self.facts[name]
        ]
        if changed:
            raise StoreError(
                f"{folder} belongs to another run: {'; '.join(changed)}. Start it as it was, or"
                " train into an empty folder"
            )
        _restore(self.trainer, found, folder)
        self.progress = TrainingProgress(**found.facts["progress"])
        self.loss = float(found.facts["loss"])
        if self.config.micro_batch_tokens == found.facts["config"]["micro_batch_tokens"]:
            self.trainer.micro_batch_tokens = int(found.facts["micro_batch_tokens"])


def _weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    """Return all that training may change: weights that are not frozen, saved buffers."""
    saved = trainer.model.state_dict().keys()
    found = {n: p.detach() for n, p in trainer.model.named_parameters() if p.requires_grad}
    buffers = {n: b for n, b in trainer.model.named_buffers() if n in saved}
    return found | {} if is_adapted(trainer.model) else found | buffers


def _restore(trainer: Trainer, found: Checkpoint, folder: Path) -> None:
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
            values.copy_(part(found.tensors[name], values))
    states = part_states(found.states["optimizer"], trainer.optimizer)
    trainer.optimizer.load_state_dict(states)
    held: Mapping[str, Any] = found.states["dice"][trainer.accelerator.process_index]
    torch.set_rng_state(held["torch"])
    if held["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(held["cuda"])
    version, state, gauss = held["python"]
    random.setstate((version, tuple(state), gauss))
    kind, keys, place, has_gauss, spare = held["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), place, has_gauss, spare))


def _gather_random_states(accelerator: Any) -> list[dict[str, Any]]:
    """Return the state of the random numbers of every process."""
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
