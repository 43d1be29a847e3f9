"""Asking the database: whether a check that was written beside a task can be asked at all."""

import sqlite3
from contextlib import closing

from loop.proposers.scope import Scope
from tasks.task import Task

CHANGES = "changes"
"""The record that needs no query."""
_OF_EPISODE = ("episode.answer", "episode.said", "episode.ending", "episode.url")
_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)


def wrong_check(task: Task, scope: Scope) -> str:
    """Why a task's checks could never be made; empty where they could. Nothing is said of whether
    they ask for the right thing: that is proven by solving."""
    if not task.checks:
        return "it has queries and no check that uses them" if task.queries else ""
    if (
        task.queries or any(check.evidence == CHANGES for check in task.checks)
    ) and not scope.tables:
        return "its checks ask a database, and the site has none"
    known = {*task.queries, *task.evidence, *(probe.name for probe in task.probes)}
    known |= {*_OF_EPISODE, *task.records, *([CHANGES] if scope.tables else [])}
    for check in task.checks:
        if check.evidence not in known:
            return f"a check is of {check.evidence!r}, which nothing captures"
        if scope.rules and check.rule not in scope.rules:
            return f"a check uses the rule {check.rule!r}, which is not offered"
    unused = task.queries.keys() - {check.evidence for check in task.checks}
    if unused:
        return f"no check uses the query {min(unused)!r}"
    problems = (_wrong_query(name, query, scope) for name, query in task.queries.items())
    return next(filter(None, problems), "")


def _wrong_query(name: str, query: str, scope: Scope) -> str:
    """Why a query is none that only reads these tables: it is compiled, and never run on rows."""
    with closing(sqlite3.connect(":memory:")) as database:
        for table, columns in scope.tables.items():
            listed = ", ".join(map(_quoted, columns)) or '"rowid_only"'
            database.execute(f"CREATE TABLE {_quoted(table)} ({listed})")
        database.set_authorizer(
            lambda action, *place: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
        )
        try:
            database.execute(f"EXPLAIN {query}")
        except (sqlite3.Error, sqlite3.Warning) as error:
            return f"the query {name!r} cannot be asked: {error}"
    return ""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
