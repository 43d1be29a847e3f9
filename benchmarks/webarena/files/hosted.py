"""A benchmark on self-hosted sites as a suite: all tasks are read, those with addresses made."""

from collections.abc import Collection, Sequence
from pathlib import Path

from benchmarks.catalogue import Options
from benchmarks.fixed import checked, suite_of
from benchmarks.webarena.files.dialect import Dialect, Setup
from benchmarks.webarena.files.reading import needed_sites, read_tasks
from benchmarks.webarena.files.sites import SITES
from tasks.suite import Suite
from tasks.task import Task

Part = tuple[Path, str]
"""A task file, and what the names of its tasks begin with."""


def read_hosted(parts: Sequence[Part], dialect: Dialect, options: Options) -> tuple[Task, ...]:
    """The tasks of the files; a site without an address has one at which nothing can be.

    Raises `UnreadableTasks` and `AddressError`.
    """
    addresses = {site: f"http://{site.replace('_', '-')}.missing.invalid" for site in SITES}
    addresses |= checked(options.addresses, SITES, dialect.benchmark)
    rules = "corrected" if _is_corrected(dialect, options) else "published"
    setup = Setup(addresses, rules)
    return tuple(
        task for path, prefix in parts for task in read_tasks(path, dialect, setup, prefix=prefix)
    )


def hosted(
    tasks: Sequence[Task],
    parts: Sequence[Part],
    dialect: Dialect,
    options: Options,
    only: tuple[str, Collection[str]] | None = None,
) -> Suite:
    """The suite of the tasks that were read; `only`: of a part, by its name and those in it."""
    missing = {
        name: tuple(site for site in sites if site not in options.addresses)
        for path, prefix in parts
        for name, sites in needed_sites(path, dialect, prefix).items()
    }
    part, names = only or (dialect.benchmark, missing)
    ending = "+corrected" if _is_corrected(dialect, options) else ""
    kept = (task for task in tasks if task.name in names)
    return suite_of(f"{part}@{dialect.version}{ending}", kept, missing)


def _is_corrected(dialect: Dialect, options: Options) -> bool:
    return options.corrected and bool(dialect.corrected)
