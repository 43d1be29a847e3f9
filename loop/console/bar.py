"""A bar for what takes long: in place on a terminal, elsewhere a line every few seconds."""

import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from loop.console.output import progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

T = TypeVar("T")

PATIENCE_SECONDS = 2.0
"""What is done by then is done without a word."""
LINE_SECONDS = 5.0


class Bar:
    """Counts up to a total on standard error; says nothing with `--json`."""

    def __init__(self, what: str, total: int, console: "Console | None" = None) -> None:
        self._what, self._total = what, total
        self._console = console or progress()
        self._done = 0
        self._started = self._said = time.monotonic()
        self._live: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        now = time.monotonic()
        if now - self._started < PATIENCE_SECONDS:
            return
        if self._console.is_terminal:
            self._shown().update(self._shown().task_ids[0], completed=self._done)
        elif now - self._said >= LINE_SECONDS:
            self._said = now
            self._console.print(f"{self._what}: {self._done:,} of {self._total:,}")

    def _shown(self) -> "Progress":
        """The bar on the terminal, from the first time on that there is something to show."""
        if self._live is None:
            from rich.progress import Progress

            self._live = Progress(console=self._console, transient=True)
            self._live.add_task(self._what, total=self._total)
            self._live.start()
        return self._live


def along(items: Sequence[T], what: str) -> Iterator[T]:
    """The items, with a bar that says how many were gone through."""
    with Bar(what, len(items)) as bar:
        for item in items:
            yield item
            bar.step()
