"""Live progress: what every job is at, as a table that stays in place or as plain lines."""

import time
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from loop.console.output import progress
from loop.workers import News

_LINE_SECONDS = 5.0


class Board:
    """Shows the latest news of each job; on a terminal in place, elsewhere line by line."""

    def __init__(self, folder: Path, console: Console | None = None):
        self._folder = folder
        self._console = console or progress()
        self._news: dict[str, News] = {}
        self._started = time.monotonic()
        self._said: dict[str, tuple[str, float]] = {}
        self._live = Live(console=self._console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        self._console.print(f"run folder: {self._folder}")
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def show(self, news: News) -> None:
        """Take in what a job says."""
        self._news[news.job] = news
        if self._console.is_terminal:
            self._live.update(self._table())
        else:
            self._print_line(news)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False)
        for name in ("arm, repeat", "stage", "", ""):
            table.add_column(name)
        for news in self._news.values():
            bar = "" if news.stage == "done" else f"{'━' * round(20 * news.done):<20}"
            table.add_row(news.job, news.stage, bar, news.note)
        table.caption = f"{time.monotonic() - self._started:.0f} s"
        return table

    def _print_line(self, news: News) -> None:
        """A line when a job enters a stage or ends one, and every few seconds in between."""
        stage, when = self._said.get(news.job, ("", 0.0))
        now = time.monotonic()
        if stage == news.stage and news.done < 1.0 and now - when < _LINE_SECONDS:
            return
        self._said[news.job] = (news.stage, now)
        clock = f"{now - self._started:6.1f} s"
        self._console.print(
            f"{clock}  {news.job:<12} {news.stage:<16} {news.done:4.0%}  {news.note}"
        )
