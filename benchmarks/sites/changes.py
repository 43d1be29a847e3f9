"""What differs between two states of a site's database, and what else is asked of it."""

import hashlib
import math
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias

from tasks.task import Json

Row: TypeAlias = dict[str, Json]
Found: TypeAlias = dict[str, Json]

MOST_ROWS = 500
"""Differences reported, or rows of a query; where there are more, only that is reported."""
MOST_CHARACTERS = 2_000_000
"""Of texts in them."""
QUERY_SECONDS = 10.0
_BUSY_SECONDS = 5.0
_STEPS = 10_000
"""Of SQLite's machine between two looks at the clock."""
_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33)
"""What a query may do; 33 is recursion."""


class UnreadableChanges(Exception):
    """Differences or rows cannot be reported; the text says why."""


def find_changes(
    before: Path, now: Path, passing: Mapping[str, tuple[str, ...]] | None = None
) -> dict[str, dict[str, list[Json]]]:
    """Table to the rows `added`, `removed` and `changed`, as records name them; tables without
    differences are left out, and what is `passing`: table to columns, none for the whole table.

    Rows are matched by primary key, else by rowid. Views, virtual tables and the tables that those
    keep their index in are passed over. Raises `UnreadableChanges`.
    """
    with _opened(now) as connection:
        _ask(connection, "ATTACH ? AS before", (f"{_address(before)}&immutable=1",))
        _ask(connection, "BEGIN")
        tables = _tables(connection, "main") | _tables(connection, "before")
        left_out = {name for name, columns in (passing or {}).items() if not columns}
        found = {}
        budget = _Budget()
        for table in sorted(tables - left_out):
            ours, theirs = (_columns(connection, schema, table) for schema in ("main", "before"))
            if ours and theirs and ours != theirs:
                raise UnreadableChanges(f"the table {table} has other columns than before")
            columns, unread = ours or theirs, (passing or {}).get(table, ())
            shown = [name for name in columns if name not in unread]
            key = [name for name, place in columns.items() if place] or ["rowid"]
            difference = _TableDifference(connection, _quoted(table), shown, key, budget)
            differences: dict[str, list[Json]] = {"added": [], "removed": [], "changed": []}
            if not theirs:
                differences["added"] = difference.all_of("main")
            elif not ours:
                differences["removed"] = difference.all_of("before")
            else:
                differences["added"] = difference.only_in("main", "before")
                differences["removed"] = difference.only_in("before", "main")
                differences["changed"] = difference.changed()
            if any(differences.values()):
                found[table] = differences
        return found


def run_queries(database: Path, queries: Mapping[str, str]) -> tuple[Found, Found]:
    """Return the rows of each query, lists of columns, and for those that failed the reason. A
    query can only read, this database and nothing else."""
    found: Found = {}
    failed: Found = {}
    for name, query in queries.items():
        try:
            with _opened(database) as connection:
                connection.set_authorizer(
                    lambda action, *_: (
                        sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
                    )
                )
                budget = _Budget()
                rows = _ask(connection, query)
                found[name] = [budget.spend([_plain(value) for value in row]) for row in rows]
        except UnreadableChanges as error:
            failed[name] = str(error)
    return found, failed


class _Budget:
    """How much may still be reported."""

    def __init__(self) -> None:
        self._rows, self._characters = MOST_ROWS, MOST_CHARACTERS

    def spend(self, row: list[Json]) -> list[Json]:
        self._rows -= 1
        self._characters -= sum(len(value) for value in row if isinstance(value, str))
        if self._rows < 0:
            raise UnreadableChanges(f"there are more than {MOST_ROWS} rows")
        if self._characters < 0:
            raise UnreadableChanges(
                f"the changed rows have more than {MOST_CHARACTERS} characters of text"
            )
        return row


class _TableDifference:
    """The rows of one table that differ."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        table: str,
        shown: Sequence[str],
        key: Sequence[str],
        budget: _Budget,
    ) -> None:
        self._connection, self._table, self._budget = connection, table, budget
        self._shown = shown
        self._match = " AND ".join(f"a.{_quoted(name)} IS b.{_quoted(name)}" for name in key)
        self._order = ", ".join(f"a.{_quoted(name)}" for name in key)

    def all_of(self, schema: str) -> list[Json]:
        """Every row of a table that the other state does not have."""
        query = f"SELECT {self._columns('a')} FROM {schema}.{self._table} a ORDER BY {self._order}"
        return [self._row(row) for row in _ask(self._connection, query)]

    def only_in(self, schema: str, other: str) -> list[Json]:
        """Return rows whose key the other state does not have."""
        query = (
            f"SELECT {self._columns('a')} FROM {schema}.{self._table} a WHERE NOT EXISTS"
            f" (SELECT 1 FROM {other}.{self._table} b WHERE {self._match}) ORDER BY {self._order}"
        )
        return [self._row(row) for row in _ask(self._connection, query)]

    def changed(self) -> list[Json]:
        """Return rows of one key with other values, letter case included."""
        names = [_quoted(name) for name in self._shown]
        if not names:
            return []
        differ = " OR ".join(f"a.{name} IS NOT b.{name} COLLATE BINARY" for name in names)
        query = (
            f"SELECT {self._columns('b')}, {self._columns('a')} FROM main.{self._table} a"
            f" JOIN before.{self._table} b ON {self._match} WHERE {differ} ORDER BY {self._order}"
        )
        width = len(names)
        return [
            {"before": self._row(row[:width]), "after": self._row(row[width:])}
            for row in _ask(self._connection, query)
        ]

    def _columns(self, alias: str) -> str:
        return ", ".join(f"{alias}.{_quoted(name)}" for name in self._shown) or "NULL"

    def _row(self, row: Sequence[object]) -> Row:
        values = [_plain(value) for value in row]
        return dict(zip(self._shown, self._budget.spend(values), strict=False))


@contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    """The database, to be read only and not for ever."""
    try:
        connection = sqlite3.connect(_address(database), uri=True, timeout=_BUSY_SECONDS)
    except sqlite3.Error as error:
        raise UnreadableChanges(
            f"the site's database {database.name} cannot be opened: {error}"
        ) from error
    with closing(connection):
        connection.isolation_level = None
        connection.text_factory = lambda text: text.decode(errors="surrogateescape")
        end = time.monotonic() + QUERY_SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
        yield connection


def _address(database: Path) -> str:
    return f"{database.absolute().as_uri()}?mode=ro"


def _ask(
    connection: sqlite3.Connection, query: str, values: Sequence[object] = ()
) -> list[tuple[object, ...]]:
    """Return rows of a query, at most one more than can be reported. Raises `UnreadableChanges`."""
    try:
        return connection.execute(query, values).fetchmany(MOST_ROWS + 1)
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        is_late = "interrupted" in str(error)
        why = f"it took more than {QUERY_SECONDS:g} s" if is_late else str(error)
        raise UnreadableChanges(
            f"the site's database did not answer {query[:200]!r}: {why}"
        ) from error


def _catalogue(connection: sqlite3.Connection, query: str) -> list[tuple[object, ...]]:
    """Return all rows of what SQLite says of the database itself."""
    try:
        return connection.execute(query).fetchall()
    except sqlite3.Error as error:
        raise UnreadableChanges(f"the site's database did not answer {query!r}: {error}") from error


def _tables(connection: sqlite3.Connection, schema: str) -> set[str]:
    """Ordinary ones; those of SQLite itself are none."""
    rows = _catalogue(connection, f"PRAGMA {schema}.table_list")
    found = {str(row[1]) for row in rows if row[0] == schema and row[2] == "table"}
    return {name for name in found if not name.startswith("sqlite_")}


def _columns(connection: sqlite3.Connection, schema: str, table: str) -> dict[str, int]:
    """Return names in order, each with its place in the primary key from 1, or 0."""
    rows = _catalogue(connection, f"PRAGMA {schema}.table_info({_quoted(table)})")
    return {str(row[1]): int(str(row[5])) for row in rows}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _plain(value: object) -> Json:
    if isinstance(value, bytes):
        return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    assert value is None or isinstance(value, str | int | float)
    return value
