"""Results and progress on a terminal: consoles on which no text can steer the terminal, tables."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.table import Table

from loop.console.output import is_for_program
from loop.console.pulse import current

if TYPE_CHECKING:
    from rich.text import Text

_WIDTH = 120
"""Of tables that go into a file or a pipe, in characters."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def remove_controls(text: str) -> str:
    """Return text of pages and models without the characters that steer a terminal."""
    return _CONTROLS.sub("�", text)


class PlainConsole(Console):
    """A console that shows text as it is: no markup, and no character that steers the terminal.

    rich itself leaves escape sequences of a text in place.
    """

    def __init__(self, file: TextIO | None = None, **options: Any) -> None:
        super().__init__(
            file=file, markup=False, emoji=False, highlight=False, soft_wrap=True, **options
        )

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, in place of what said that the command is still at work."""
        if pulse := current():
            pulse.rest()
        super().print(*objects, **options)

    def render_str(self, text: str, **options: Any) -> "Text":
        """Return text with the styles of `options`; everything printed passes here."""
        return super().render_str(remove_controls(text), **options)


def results_console(width: int = _WIDTH) -> Console:
    """Return where results are shown: the terminal, where lines end between words, or a pipe as
    wide as `width`."""
    console = PlainConsole()
    console.soft_wrap = not console.is_terminal
    return console if console.is_terminal else PlainConsole(width=width)


def progress_console() -> Console:
    """Return where progress is shown: standard error, and nowhere with `--json`."""
    return PlainConsole(stderr=True, quiet=is_for_program())


def build_table(
    title: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[str] | None = None,
    bold: int | None = None,
    has_sum: bool = False,
) -> Table:
    """Return a table; the columns `right`, all but the first where none are named, end on the
    right.

    The column `bold` stands out, and so does the last row where it sums the others up.
    """
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 1))
    for place, name in enumerate(head):
        is_right = place > 0 if right is None else name in right
        table.add_column(
            name,
            justify="right" if is_right else "left",
            style="bold" if place == bold else "",
            overflow="fold",
        )
    listed = list(rows)
    for place, cells in enumerate(listed, 1):
        table.add_row(*cells, style="bold" if has_sum and place == len(listed) else None)
    return table
