"""A training that is killed, over and over, and what is left of it: run as a process of its own.

    python course_under_fire.py FOLDER KIND MOMENT...

Loads everything once, then forks a process for each moment, which trains into `FOLDER/MOMENT` and
kills itself with SIGKILL at that operation of writing checkpoints, or after so many milliseconds
for a moment such as `t250`. Then a second one resumes and ends. Prints a line of JSON for each.
"""

import builtins
import io
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import safetensors.torch
import torch

from tests.webagent.training.language.small import Bigram, llama, rows
from webagent.errors import WebAgentError
from webagent.training.language.checkpoint import CheckpointFolder, load_checkpoint
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.objectives import Supervised
from webagent.training.language.run import train
from webagent.training.language.trainer import Trainer

SETTINGS = {"epochs": 1, "units_per_step": 4, "checkpoint_every": 1, "learning_rate": 1e-2}


def course(folder: Path, kind: str) -> None:
    """Train to the end; an adapter with dropout, so that random numbers matter."""
    random.seed(0)
    lora = LoraSettings(rank=4, dropout=0.3) if kind == "adapter" else None
    model = Bigram() if kind == "bigram" else llama(1)
    train(Trainer(model, Supervised(), TrainConfig(lora=lora, **SETTINGS)), rows(16), folder)


def die(folder: Path, where: str) -> None:
    """As kill -9, with a word beside the folder on what was being done."""
    handle = os.open(f"{folder}.died", os.O_WRONLY | os.O_CREAT)
    os.write(handle, where.encode())
    os.kill(os.getpid(), signal.SIGKILL)


class Killer:
    """Dies at the n-th operation that writes, syncs, renames or removes.

    A write dies in its middle: half of what was to be written is on the disk.
    """

    def __init__(self, moment: int, folder: Path) -> None:
        self.moment, self.folder, self.count = moment, folder, 0
        for name in ("replace", "fsync", "mkdir", "rmdir", "unlink"):
            setattr(os, name, self.operation(name, getattr(os, name)))
        for module, name in ((safetensors.torch, "save_file"), (torch, "save")):
            setattr(module, name, self.operation(name, self.halved(getattr(module, name))))
        self.opened = io.open
        builtins.open = io.open = self.open  # type: ignore[assignment]

    def operation(self, name: str, real: Callable[..., object]) -> Callable[..., object]:
        """The same, deadly when its turn comes."""

        def operate(*args: object, **kwargs: object) -> object:
            self.count += 1
            if self.count == self.moment:
                die(self.folder, name)
            return real(*args, **kwargs)

        return operate

    def halved(self, real: Callable[..., object]) -> Callable[..., object]:
        """Dies with half of the file on the disk when the next turn would be deadly."""

        def save(values: object, path: Path) -> None:
            real(values, path)
            if self.count == self.moment - 1:
                os.truncate(path, path.stat().st_size // 2)
                die(self.folder, f"half of {path.name}")

        return save

    def open(self, path, *args, **kwargs):  # type: ignore[no-untyped-def]
        """A file of the folder is one whose writes may be the last thing that happens."""
        file = self.opened(path, *args, **kwargs)
        return Written(file, self) if str(self.folder) in str(path) and file.writable() else file


class Written:
    """A file whose writes count."""

    def __init__(self, file: IO[Any], killer: Killer) -> None:
        self.file, self.killer = file, killer

    def __getattr__(self, name: str) -> object:
        return getattr(self.file, name)

    def __enter__(self) -> "Written":
        return self

    def __exit__(self, *details: object) -> None:
        self.file.close()

    def write(self, data: Any) -> int:
        """All of it, or half as the last thing."""
        self.killer.count += 1
        if self.killer.count == self.killer.moment:
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            die(self.killer.folder, "half of a text")
        return int(self.file.write(data))


def forked(work: Callable[[], None], within: float | None = None) -> int:
    """Run in a process of its own, killed after so many seconds; its exit status."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except WebAgentError as error:
            sys.stderr.write(f"{error}\n")
            os._exit(3)
        os._exit(0)
    if within is not None:
        time.sleep(within)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def survived(folder: Path, kind: str, moment: str) -> dict[str, object]:
    """What a kill at this moment left, and how the resumed run ended."""

    def doomed() -> None:
        if moment.isdigit():
            Killer(int(moment), folder)
        course(folder, kind)

    within = None if moment.isdigit() else int(moment[1:]) / 1000
    status = forked(doomed, within)
    last = CheckpointFolder(folder / "checkpoints").last()
    left = load_checkpoint(last).facts["progress"]["step"] if last else 0
    resumed = forked(lambda: course(folder, kind))
    note = Path(f"{folder}.died")
    where = note.read_text() if note.exists() else ""
    return {
        "moment": moment,
        "at": where,
        "killed": status == signal.SIGKILL,
        "left": left,
        "resumed": resumed,
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    root, kind, *moments = sys.argv[1:]
    for moment in moments:
        sys.stdout.write(json.dumps(survived(Path(root) / moment, kind, moment)) + "\n")
        sys.stdout.flush()
