"""What an export holds, gathered while it is written, for its `meta` folder."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks.task import Task

FORMAT = 1
"""Version of the columns; raised when a reader has to change."""


@dataclass(slots=True)
class _Spread:
    """Least, mean and most of a number seen many times."""

    count: int = 0
    total: float = 0.0
    least: float = 0.0
    most: float = 0.0

    def add(self, value: float) -> None:
        self.least = min(self.least, value) if self.count else value
        self.most = max(self.most, value) if self.count else value
        self.count += 1
        self.total += value

    def told(self) -> dict[str, float]:
        mean = self.total / self.count if self.count else 0.0
        return {"count": self.count, "min": self.least, "mean": mean, "max": self.most}


@dataclass(slots=True)
class Tally:
    """Counts rows by task, and how long they are."""

    rows: int = 0
    imagined: int = 0
    _tasks: dict[str, Counter[str]] = field(default_factory=dict)
    _spreads: dict[str, _Spread] = field(default_factory=dict)

    def add(self, task: Task, *, imagined: bool, **sizes: float) -> None:
        """One row on a task, with whatever is measured of it."""
        self.rows += 1
        self.imagined += imagined
        counts = self._tasks.setdefault(task.id, Counter())
        counts["rows"] += 1
        counts["imagined rows"] += imagined
        for name, size in sizes.items():
            self._spreads.setdefault(name, _Spread()).add(size)

    def write(self, folder: Path, info: dict[str, Any]) -> None:
        """`meta/info.json`, `meta/stats.json` and `meta/tasks.jsonl`."""
        meta = folder / "meta"
        meta.mkdir()
        stats = {name: spread.told() for name, spread in sorted(self._spreads.items())}
        facts = {"format": FORMAT, **info, "rows": self.rows, "imagined_rows": self.imagined}
        _write(meta / "info.json", json.dumps(facts, indent=1))
        _write(meta / "stats.json", json.dumps(stats, indent=1))
        tasks = [json.dumps({"task": name, **self._tasks[name]}) for name in sorted(self._tasks)]
        _write(meta / "tasks.jsonl", "\n".join(tasks))


def _write(path: Path, text: str) -> None:
    path.write_text(text + "\n", encoding="utf-8")
