"""Text for people: styled lines, tables, and lines that are written over on a terminal."""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Never, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm

_COLOURS = {"red", "green", "yellow", "magenta", "cyan"}
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LEAST = 8
"""Characters that a column keeps, however narrow the terminal is."""
BAR = "{bar:20} {desc}  {remaining}"
"""A row of progress: how far it is, what is told of it, and how long it will take."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """Cells of text under a title; `right` are the columns that end on the right.

    The column `bold` stands out, and so does the last row where it sums the others up.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: frozenset[int]
    bold: int | None = None
    has_sum: bool = False


class Console:
    """Writes to a terminal with styles, to anything else without them."""

    def __init__(
        self,
        file: TextIO | None = None,
        width: int | None = None,
        *,
        is_terminal: bool | None = None,
        is_quiet: bool = False,
    ) -> None:
        self._file, self._width, self._is_quiet = file, width, is_quiet
        if is_terminal is None:
            is_terminal = self.file.isatty() and os.environ.get("TERM") != "dumb"
        self.is_terminal = is_terminal
        self._has_styles = is_terminal and not os.environ.get("NO_COLOR")

    @property
    def file(self) -> TextIO:
        """Where it writes: standard output as it is now, where no file was given."""
        return self._file or sys.stdout

    @property
    def width(self) -> int:
        """How many characters a line has."""
        return self._width or shutil.get_terminal_size().columns

    def print(self, said: str | TextTable, style: str = "") -> None:
        """Write a table, or text as it is, in a style such as `bold cyan`."""
        self.put(self._lay_out(said) if isinstance(said, TextTable) else self.style(said, style))

    def style(self, text: str, style: str) -> str:
        """Return text without what steers a terminal, in a style where there are styles."""
        clean = _CONTROLS.sub("�", text)
        if not style or not self._has_styles:
            return clean
        import click

        names = set(style.split())
        colour = next(iter(names & _COLOURS), None)
        return click.style(clean, fg=colour, **dict.fromkeys(names - _COLOURS, True))

    def put(self, text: str) -> None:
        """Write a line made of parts that `style` returned, above rows that are kept in place."""
        if self._is_quiet:
            return
        if self.is_terminal:
            from tqdm import tqdm

            tqdm.write(text, self.file)
        else:
            print(text, file=self.file)
        self.file.flush()

    def keep_row(self, form: str = BAR) -> "tqdm[Never]":
        """Return a row at the terminal's end, from 0 to 1, that goes when it is closed."""
        from tqdm import tqdm

        return tqdm(
            total=1.0,
            miniters=0,
            leave=False,
            file=self.file,
            ncols=self._width,
            dynamic_ncols=self._width is None,
            bar_format=form,
            disable=self._is_quiet,
        )

    def _lay_out(self, table: TextTable) -> str:
        from prettytable import HRuleStyle, PrettyTable
        from wcwidth import width as measure

        last = len(table.rows) - 1
        head = [self.style(name, "bold") for name in table.head]
        rows = [
            [
                self.style(cell, "bold" * (place == table.bold or (table.has_sum and row == last)))
                for place, cell in enumerate(cells)
            ]
            for row, cells in enumerate(table.rows)
        ]
        widths = [max(map(measure, column)) for column in zip(head, *rows, strict=True)]
        for _ in range(sum(widths) + 2 * len(widths) - self.width):
            widest = max(range(len(widths)), key=widths.__getitem__)
            widths[widest] -= widths[widest] > _LEAST
        fields = [str(place) for place in range(len(head))]
        drawn = PrettyTable(fields, border=False, header=False, hrules=HRuleStyle.NONE)
        drawn.max_width = dict(zip(fields, widths, strict=True))
        drawn.align = {
            field: "r" if place in table.right else "l" for place, field in enumerate(fields)
        }
        drawn.add_rows([head, *rows])
        lines = drawn.get_string().split("\n")
        indent = " " * max(0, (measure(lines[0]) - measure(table.title)) // 2)
        return "\n".join([indent + self.style(table.title, "italic"), *lines])
