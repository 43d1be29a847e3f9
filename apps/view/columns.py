"""Columns that a list is sorted by, and the heads that sort by them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec

RowP = ParamSpec("RowP")
"""What a row of the list is."""


@dataclass(frozen=True, slots=True)
class SortableColumn(Generic[RowP]):
    """What a list can be sorted by."""

    key: Callable[RowP, Any]
    kind: str = ""
    """Classes of its cells."""
    most_first: bool = False
    """Whether the first sort has the greatest on top."""


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """The head of a column, for the page."""

    name: str
    address: str
    """Of the list sorted by it, the other way round where it is sorted by it already."""
    sorted: str
    """`ascending`, `descending` or `none`, as ARIA has it."""
    kind: str


def list_heads(
    columns: Mapping[str, SortableColumn[...]], by: str, link: Callable[[str], str]
) -> Iterator[ColumnHead]:
    """Yield the heads of a list which is sorted `by` one of the columns, `-` before its name for
    the greatest on top; `link` gives the address of another order."""
    for name, column in columns.items():
        is_up, is_down = by == name, by == f"-{name}"
        other = f"-{name}" if is_up or (column.most_first and not is_down) else name
        order = "descending" if is_down else "ascending" if is_up else "none"
        yield ColumnHead(name, link(other), order, column.kind)
