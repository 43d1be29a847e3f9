"""What a training reports of each update: JSON lines, and TensorBoard where it is asked for."""

import json
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webagent.errors import SetupError

FILE = "metrics.jsonl"


class Metrics:
    """Writes one line an update into `metrics.jsonl`, as it happens."""

    def __init__(self, folder: Path, *, after: int = 0, tensorboard: bool = False) -> None:
        """Lines of updates later than `after`, which a resumed run does again, are taken out.

        Raises `SetupError` when TensorBoard is asked for and not installed.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        _cut(self._path, after)
        self._board: Any = _board(folder / "tensorboard", after) if tensorboard else None

    def write(self, step: int, figures: Mapping[str, float]) -> None:
        """Append the figures of this update."""
        line = json.dumps(
            {"step": step}
            | {
                name: (v if v == v and abs(v) != float("inf") else str(v))
                for name, v in figures.items()
            }
        )
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        if self._board is not None:
            for name, value in figures.items():
                self._board.add_scalar(f"train/{name}", value, step)

    def close(self) -> None:
        """Finish what TensorBoard holds."""
        if self._board is not None:
            self._board.close()


class Tally:
    """Sums over the micro-batches of one update, reported as means."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._counts: defaultdict[str, float] = defaultdict(float)

    def add(self, figures: Mapping[str, tuple[float, float]]) -> None:
        """Take in sums with what they are over."""
        for name, (total, count) in figures.items():
            self._sums[name] += total
            self._counts[name] += count

    def means(self) -> dict[str, float]:
        """Each sum over its count, or the sum itself where it is over nothing."""
        return {name: total / (self._counts[name] or 1) for name, total in self._sums.items()}


def _cut(path: Path, after: int) -> None:
    """Leave the lines up to the update, written anew beside the file and moved over it."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            if json.loads(line)["step"] <= after:
                kept.append(line + "\n")
        except (ValueError, KeyError, TypeError):
            continue
    draft = path.with_suffix(".draft")
    draft.write_text("".join(kept), encoding="utf-8")
    os.replace(draft, path)


def _board(folder: Path, after: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise SetupError(
            "tensorboard is asked for but not installed; install webagent-loop[tensorboard], or"
            " leave tensorboard off: the same figures are in metrics.jsonl"
        ) from error
    return SummaryWriter(str(folder), purge_step=after + 1 if after else None)
