"""Lists that a page shows, and what each of its pages adds to them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webagent.errors import PolicyError
from webagent.records import Observation


@dataclass(frozen=True, slots=True)
class PageList:
    """A list as a page shows it."""

    place: str
    """Tags and classes that lead to it: they are the same on each of its pages."""
    columns: Sequence[str]
    """What a table's header says; else the class or tag of each text, as `price` or `h3`."""
    rows: Sequence[Sequence[str]]
    tags: Sequence[str]
    """Of the texts in its rows."""

    def records(self, wanted: Sequence[str]) -> list[dict[str, str]]:
        """Return its rows by column: those that are wanted, all where these are tags."""
        kept = self.columns if {*wanted} <= {*self.tags} else wanted
        rows = (dict(zip(self.columns, row, strict=True)) for row in self.rows)
        return [{name: row[name] for name in kept} for row in rows]


@dataclass(frozen=True, slots=True)
class ListedPage:
    """What a page of a list has added to those before it."""

    url: str
    place: str
    """Of the list, as in `PageList`."""
    rows: tuple[Mapping[str, str], ...]


def read_more_rows(
    wanted: Sequence[str], page: Observation, read: Sequence[ListedPage], may_be_empty: bool = False
) -> ListedPage:
    """Return what the page adds to the pages that were read: nothing where it shows one of them
    again or, with `may_be_empty`, no list; where it still shows them all, what follows.

    Raises `PolicyError` where the list is not there.
    """
    where, columns = f"page {len(read) + 1} of the list, {page.url}", {*wanted}
    shown = [PageList(**each) for each in json.loads(page.captured or "[]")]
    by_name = [each for each in shown if columns <= {*each.columns}]
    found = by_name or [each for each in shown if columns <= {*each.tags}]
    if read:
        found = [each for each in found if each.place == read[0].place]
        if not found and may_be_empty and read[0].place not in {each.place for each in shown}:
            return ListedPage(page.url, read[0].place, ())
    if not found:
        there = "; ".join(", ".join(each.columns) for each in shown[:3]) or "none"
        raise PolicyError(f"{where}, has no list with {', '.join(wanted)}, but {there}")
    if by_name and len(found) > 1:
        raise PolicyError(f"{where}, has {len(found)} lists with {', '.join(wanted)}")
    best = max(found, key=lambda each: len(each.rows))
    rows, before = best.records(wanted), [row for each in read for row in each.rows]
    if rows[: len(before)] == before:
        rows = rows[len(before) :]
    elif rows in [list(each.rows) for each in read]:
        rows = []
    return ListedPage(page.url, best.place, tuple(rows))
