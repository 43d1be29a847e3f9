"""How far a measurement is: a bar that stays in place, or a line now and then."""

import time
from collections.abc import Callable
from textwrap import shorten
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from loop.console.output import progress
from webagent.records import Trajectory
from webagent.rollout import INTERRUPTED

_LINE_SECONDS = 5.0


class Meter:
    """Counts episodes as they end, and tells what they `cost` so far. Goes to standard error, so
    that output can be piped."""

    def __init__(
        self,
        total: int,
        console: Console | None = None,
        cost: Callable[[], str] = lambda: "",
    ) -> None:
        self._cost = cost
        self._console = console or progress()
        self._total = total
        self._started = self._said = time.monotonic()
        self._settled = self._steps = self._failures = 0
        self._passed = 0.0
        self._trouble = ""
        self._bar = Progress(
            BarColumn(30),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._line = self._bar.add_task(self._words(), total=total)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def count(self, trajectory: Trajectory, success: float | None, *, is_new: bool) -> None:
        """One attempt that came to an end; those of an earlier session do not add to the speed."""
        if trajectory.error == INTERRUPTED:
            return
        self._steps += len(trajectory.steps) if is_new else 0
        if trajectory.ending is not None and trajectory.ending.is_infrastructure:
            self._failures += 1
            self._trouble = shorten(trajectory.error, 80, placeholder="…")
        else:
            self._settled += 1
            self._passed += success or 0.0
        self._bar.update(self._line, completed=self._settled, description=self._words())
        if not self._console.is_terminal:
            self._say()

    def _say(self) -> None:
        now = time.monotonic()
        if self._settled < self._total and now - self._said < _LINE_SECONDS:
            return
        self._said = now
        place = f"{self._settled}/{self._total} episodes"
        clock = f"{now - self._started:6.1f} s"
        self._console.print(f"{clock}  {place}  {self._words()}", highlight=False)

    def _words(self) -> str:
        seconds = time.monotonic() - self._started
        words = [
            f"{100 * self._passed / (self._settled or 1):.1f} % success",
            f"{self._steps / max(seconds, 1e-3):.0f} steps/s",
        ]
        if cost := self._cost():
            words.append(escape(cost))
        if self._failures:
            words.append(f"{self._failures} set aside, the last: {escape(self._trouble)}")
        return ", ".join(words)
