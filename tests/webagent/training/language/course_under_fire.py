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

import safetensors.torch
import torch

torch.set_num_threads(1)

from tests.webagent.training.language.small import Bigram, llama, rows  # noqa: E402
from webagent.errors import WebAgentError  # noqa: E402
from webagent.training.language.checkpoint import CheckpointFolder, load  # noqa: E402
from webagent.training.language.config import LoraSettings, TrainConfig  # noqa: E402
from webagent.training.language.course import train  # noqa: E402
from webagent.training.language.objectives import Supervised  # noqa: E402
from webagent.training.language.trainer import Trainer  # noqa: E402

SETTINGS = {
    "epochs": 1,
    "units_per_step": 4,
    "checkpoint_every": 1,
    "learning_rate": 1e-2,
    "weight_decay": 0.1,
}


def course(folder: Path, kind: str) -> None:
    """Train to the end; an adapter with dropout, so that random numbers matter."""
    random.seed(0)
    lora = LoraSettings(rank=4, dropout=0.3) if kind == "adapter" else None
    model = Bigram() if kind == "bigram" else llama(1)
    trainer = Trainer(model, Supervised(), TrainConfig(lora=lora, **SETTINGS))
    train(trainer, rows(16), folder)


def kill_at(moment: int, folder: Path) -> None:
    """Die at the n-th operation that writes, syncs, renames or removes in this folder.

    A write dies in its middle: half of what was to be written is on the disk.
    """
    count = 0

    def wrapped(name: str, real: Callable[..., object]) -> Callable[..., object]:
        def operate(*args: object, **kwargs: object) -> object:
            nonlocal count
            count += 1
            if count == moment:
                if name == "write" and isinstance(args[0], str | bytes) and len(args[0]) > 1:
                    real(args[0][: len(args[0]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return operate

    for name in ("replace", "fsync", "mkdir", "rmdir", "unlink"):
        setattr(os, name, wrapped(name, getattr(os, name)))
    for module, name in ((safetensors.torch, "save_file"), (torch, "save")):
        setattr(
            module, name, wrapped("save", _halved(getattr(module, name), moment, lambda: count))
        )
    opened = io.open

    def half_writing(path, *args, **kwargs):  # type: ignore[no-untyped-def]
        file = opened(path, *args, **kwargs)
        if str(folder) not in str(path) or not file.writable():
            return file

        class Written:
            """A file whose writes may be the last thing that happens."""

            def __getattr__(self, name: str) -> object:
                return getattr(file, name)

            def __enter__(self) -> "Written":
                return self

            def __exit__(self, *details: object) -> None:
                file.close()

            def write(self, data: object) -> object:
                def put(piece: object) -> object:
                    done = file.write(piece)
                    file.flush()
                    return done

                return wrapped("write", put)(data)

        return Written()

    builtins.open = io.open = half_writing  # type: ignore[assignment]


def _halved(
    real: Callable[..., object], moment: int, now: Callable[[], int]
) -> Callable[..., object]:
    """Dies with half of its file on the disk where the moment comes right after its beginning."""

    def save(values: object, path: Path) -> None:
        real(values, path)
        if now() == moment - 1:
            os.truncate(path, path.stat().st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)

    return save


def forked(work: Callable[[], None], within: float | None = None) -> int:
    """Run in a process of its own, killed after so many seconds; its exit status."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except WebAgentError as error:
            print(error, file=sys.stderr)
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
            kill_at(int(moment), folder)
        course(folder, kind)

    within = None if moment.isdigit() else int(moment[1:]) / 1000
    status = forked(doomed, within)
    last = CheckpointFolder(folder / "checkpoints").last()
    left = load(last).facts["progress"]["step"] if last else 0
    resumed = forked(lambda: course(folder, kind))
    return {"moment": moment, "killed": status == signal.SIGKILL, "left": left, "resumed": resumed}


if __name__ == "__main__":
    root, kind, *moments = sys.argv[1:]
    for moment in moments:
        print(json.dumps(survived(Path(root) / moment, kind, moment)), flush=True)
