"""A task file as tasks."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tasks.benchmarks.arena.checking import Checking
from tasks.benchmarks.arena.dialect import Dialect, Setup
from tasks.benchmarks.arena.schema import Entry, TaskFileError, read_entries
from tasks.benchmarks.arena.sites import resolved
from tasks.task import Task

MAX_STEPS = 30
"""As the official runners allow."""

VIEWPORT = (1280, 720)
"""Where a task says nothing else; a task may give one of the two."""

TABS = " |AND| "
"""Between the pages that are opened at the start."""


def read_tasks(
    path: Path, dialect: Dialect, setup: Setup, *, prefix: str = "", start: str = "start_url"
) -> tuple[Task, ...]:
    """The tasks of a file, in its order.

    Ids are `BENCHMARK/PREFIX-NUMBER@VERSION`, with `+corrected` where the rules are. `start` is the
    key of the page to start at. Raises `TaskFileError` naming file, task and key.
    """
    entries = [entry for entry in read_entries(path) if _is_there(entry, setup)]
    tasks = tuple(_task(entry, dialect, setup, prefix, start) for entry in entries)
    _refuse_doubles(path, tasks)
    return tasks


def _is_there(entry: Entry, setup: Setup) -> bool:
    return not setup.only or set(entry.texts("sites")) <= set(setup.only)


def _task(raw: Entry, dialect: Dialect, setup: Setup, prefix: str, start: str) -> Task:
    entry = resolved(raw, setup.sites)
    checking = Checking(dialect, setup, entry.inner("eval"))
    checks = checking.checks()
    first, *others = entry.text(start).split(TABS)
    name = f"{prefix}-" * bool(prefix) + str(entry.number("task_id"))
    made = Task(
        id=f"{dialect.benchmark}/{name}@{dialect.version}",
        start_url=first,
        goal=entry.text("intent"),
        images=_images(entry),
        further_urls=tuple(others),
        max_steps=MAX_STEPS,
        probes=tuple(checking.probing.probes),
        checks=checks,
        viewport=_viewport(entry),
        clock="real",
    )
    return replace(made, id=f"{made.id}+corrected", parent=made.id) if setup.is_corrected else made


def _images(entry: Entry) -> tuple[str, ...]:
    value = entry.values.get("image")
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(entry.texts("image"))


def _viewport(entry: Entry) -> tuple[int, int]:
    width, height = VIEWPORT
    if "viewport_size" not in entry.values:
        return width, height
    size = entry.inner("viewport_size")
    return int(size.number("width", width)), int(size.number("height", height))


def _refuse_doubles(path: Path, tasks: Sequence[Task]) -> None:
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise TaskFileError(f"{path}: two tasks have the id {task.id}; expected each once")
        seen.add(task.id)
