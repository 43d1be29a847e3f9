"""How far a command is: bars in place on a terminal, elsewhere a line every few seconds."""

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Self, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from loop.console.pulse import current
from loop.console.screen import progress_console, remove_controls
from loop.folder import PROGRESS
from loop.jobs import NEWS, JobProgress
from webagent.files import write_whole
from webagent.records import Trajectory
from webagent.rollout import INTERRUPTED

T = TypeVar("T")

LINE_SECONDS = 3.0
"""Between two lines on the same thing, so that a log stays readable."""
KEPT_SECONDS = 2.0
"""Between two writings of what jobs are at."""
PATIENCE_SECONDS = 2.0
"""Counting of items that ends within this time shows nothing."""


class ProgressDisplay:
    """Named rows, each with the share done and a text, on standard error; nothing with `--json`."""

    def __init__(self, console: Console | None = None, patience: float = 0.0) -> None:
        """`patience` is how many seconds have to pass before anything is shown."""
        self.console = console or progress_console()
        self._patience = patience
        self._started = time.monotonic()
        self._printed: dict[str, float] = {}
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(20),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn(
                "{task.fields[text]}", markup=False, table_column=Column(ratio=1, no_wrap=True)
            ),
            console=self.console,
            expand=True,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),  # else what is printed would not reach the pipe
        )
        self._rows: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._rows:
            self._bars.stop()
            if pulse := current():
                pulse.displays -= 1

    @property
    def seconds(self) -> float:
        """Seconds since the display was made."""
        return time.monotonic() - self._started

    def update(self, name: str, done: float, text: str, *, is_due: bool = False) -> None:
        """Show which share of a row is done; with `is_due` a line is printed at once."""
        pulse = current()
        if pulse:
            pulse.text = f"{name}  {text}".strip()
        if self.seconds < self._patience:
            return
        if self.console.is_interactive:
            text = remove_controls(text)
            if pulse and not self._rows:
                pulse.rest()
                pulse.displays += 1
            if name not in self._rows:
                self._bars.start()
                self._rows[name] = self._bars.add_task(remove_controls(name), total=1.0, text=text)
            self._bars.update(self._rows[name], completed=done, text=text)
        elif is_due or done >= 1 or self.seconds - self._printed.get(name, 0.0) >= LINE_SECONDS:
            self._printed[name] = self.seconds
            line = f"{self.seconds:6.1f} s  {name:<12} {text}"
            self.console.print(line)


@contextmanager
def show_jobs(
    folder: Path, console: Console | None = None
) -> Iterator[Callable[[JobProgress], None]]:
    """Print where the run folder is, and yield what shows the latest news of each job; kept in the
    folder for those who watch from elsewhere, until the end."""
    stages: dict[str, str] = {}
    now, news, file = dict[str, str](), dict[str, str](), folder / PROGRESS
    with ProgressDisplay(console) as display:
        display.console.print(f"run folder: {folder}")
        kept = -math.inf

        def show(job: JobProgress) -> None:
            nonlocal kept
            is_new = stages.get(job.job) != job.stage
            if job.stage == NEWS:
                display.console.print(f"{display.seconds:6.1f} s  {job.job:<12} {job.note}")
                news[job.job] = job.note
            else:
                stages[job.job] = job.stage
                text = f"{job.stage:<16} {job.done:4.0%}  {job.note}"
                display.update(job.job, job.done, text, is_due=is_new)
                now[job.job] = " ".join(text.split())
            if is_new or display.seconds - kept >= KEPT_SECONDS:
                kept = display.seconds
                known = {name: [now.get(name, ""), news.get(name, "")] for name in now | news}
                write_whole(file, json.dumps(known))

        try:
            yield show
        finally:
            file.unlink(missing_ok=True)


@contextmanager
def count_items(
    name: str, total: int, console: Console | None = None
) -> Iterator[Callable[[], None]]:
    """Yield what is called for each item that is done; quick work shows nothing."""
    done = 0
    with ProgressDisplay(console, PATIENCE_SECONDS) as display:

        def step() -> None:
            nonlocal done
            done += 1
            display.update(name, done / total, f"{done:,} of {total:,}")

        yield step


def track(items: Sequence[T], name: str) -> Iterable[T]:
    """Yield the items, showing how many of them were gone through."""
    with count_items(name, len(items)) as step:
        for item in items:
            yield item
            step()


class EpisodeCounter:
    """Counts episodes as they end, with their success, speed and cost so far."""

    def __init__(self, display: ProgressDisplay, total: int, cost: Callable[[], str]) -> None:
        self._display, self._total, self._cost = display, total, cost
        self._settled = self._scored = self._steps = self._failures = 0
        self._passed = 0.0
        self._trouble = ""

    def count(self, trajectory: Trajectory, success: float | None, *, is_new: bool) -> None:
        """Count an attempt that ended; those of an earlier session do not add to the speed.

        Attempts whose world failed are counted apart, and those that a kill cut off not at all.
        """
        if trajectory.error == INTERRUPTED:
            return
        self._steps += len(trajectory.steps) if is_new else 0
        if trajectory.ending is not None and trajectory.ending.is_infrastructure:
            self._failures += 1
            self._trouble = shorten(trajectory.error, 80, placeholder="…")
        else:
            self._settled += 1
            self._scored += success is not None
            self._passed += success or 0.0
        rate = (
            f"{100 * self._passed / self._scored:.1f} % success" if self._scored else "no verdict"
        )
        unscored = self._settled - self._scored
        if self._scored and unscored:
            rate += f" of {self._scored}, {unscored} without a verdict"
        texts = [
            f"{self._settled}/{self._total} episodes  {rate}",
            f"{self._steps / max(self._display.seconds, 1e-3):.1f} steps/s",
        ]
        if cost := self._cost():
            texts.append(cost)
        if self._failures:
            texts.append(f"{self._failures} set aside, the last: {self._trouble}")
        self._display.update("", self._settled / self._total, ", ".join(texts))


@contextmanager
def count_episodes(
    total: int, console: Console | None = None, cost: Callable[[], str] = lambda: ""
) -> Iterator[EpisodeCounter]:
    """Yield a counter of so many episodes; `cost` tells what was spent so far."""
    with ProgressDisplay(console) as display:
        yield EpisodeCounter(display, total, cost)
