"""The task files of WebArena and the benchmarks made after it, read into tasks and suites."""

from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath

from benchmarks.catalogue import Options
from benchmarks.task_files import FileEntry, UnreadableTasks, check_addresses, make_suite
from benchmarks.webarena.evaluation import Checking
from benchmarks.webarena.schema import (
    SITES,
    ScorerRules,
    Setup,
    fill_addresses,
    list_sites,
    read_entries,
)
from tasks.suite import Suite
from tasks.task import Task

MAX_STEPS = 30
"""As the official runners allow."""

VIEWPORT = (1280, 720)
"""Where a task says nothing else; a task may give one of the two."""

TABS = " |AND| "
"""Between the pages that are opened at the start."""


def read_tasks(
    path: Path, dialect: ScorerRules, setup: Setup, *, prefix: str = "", start: str = "start_url"
) -> tuple[Task, ...]:
    """Return the tasks of a file, in its order.

    Ids are `BENCHMARK/PREFIX-NUMBER@VERSION`. `start` is the key of the page to start at. Raises
    `UnreadableTasks` naming file, task and key.
    """
    entries = [
        entry
        for entry in read_entries(path)
        if (not setup.only or set(entry.texts("sites")) <= set(setup.only))
    ]
    tasks = tuple(_task(entry, dialect, setup, prefix, start) for entry in entries)
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise UnreadableTasks(f"{path}: two tasks have the id {task.id}; expected each once")
        seen.add(task.id)
    return tasks


def _task(raw: FileEntry, dialect: ScorerRules, setup: Setup, prefix: str, start: str) -> Task:
    entry = fill_addresses(raw, setup.sites)
    checking = Checking(dialect, setup, entry.inner("eval"))
    checks = checking.checks()
    first, *others = entry.text(start).split(TABS)
    # `shopping` of `./.auth/shopping_state.json`; of two sites both, as `gitlab.reddit`
    has_state = entry.values.get("storage_state") is not None
    state = entry.text("storage_state") if has_state else ""
    width, height = VIEWPORT
    if "viewport_size" in entry.values:
        size = entry.inner("viewport_size")
        width, height = int(size.number("width", width)), int(size.number("height", height))
    skills = [*list_sites(raw), *(entry.text(key) for key in dialect.kinds if key in entry.values)]
    if any(check.rule == dialect.unachievable_rule for check in checks):
        skills.append("infeasible")
    # The number counts from 0 in each file; the text stands where there is none.
    number = entry.values.get("intent_template_id")
    if number is None:
        template = entry.text("intent_template", "")
    else:
        template = f"{prefix}-" * bool(prefix) + str(entry.number("intent_template_id"))
    value = entry.values.get("image")
    images: tuple[str, ...] = (value,) if isinstance(value, str) else ()
    if value is not None and not images:
        images = entry.texts("image")
    return Task(
        id=f"{dialect.benchmark}/{_name(entry, dialect, prefix)}@{dialect.version}",
        start_url=first,
        goal=entry.text("intent"),
        images=images,
        further_urls=tuple(others),
        max_steps=MAX_STEPS,
        probes=tuple(checking.probing.probes),
        checks=checks,
        viewport=(width, height),
        clock="real",
        login=PurePosixPath(state).stem.removesuffix("_state"),
        template=template,
        skills=tuple(dict.fromkeys(skills)),
    )


def _name(entry: FileEntry, dialect: ScorerRules, prefix: str) -> str:
    return f"{prefix}-" * bool(prefix) + str(entry.number(dialect.id_key))


Part = tuple[Path, str]
"""A task file, and what the names of its tasks begin with."""


def read_hosted(parts: Sequence[Part], dialect: ScorerRules, options: Options) -> tuple[Task, ...]:
    """Return the tasks of the files; a site without an address has one at which nothing can be.

    Raises `UnreadableTasks` and `AddressError`.
    """
    addresses = {site: f"http://{site.replace('_', '-')}.missing.invalid" for site in SITES}
    addresses |= check_addresses(options.addresses, SITES, dialect.benchmark)
    setup = Setup(addresses)
    return tuple(
        task for path, prefix in parts for task in read_tasks(path, dialect, setup, prefix=prefix)
    )


def make_hosted_suite(
    tasks: Sequence[Task],
    parts: Sequence[Part],
    dialect: ScorerRules,
    options: Options,
    only: tuple[str, Collection[str]] | None = None,
) -> Suite:
    """Return the suite of the tasks read; `only`: of a part, by its name and those in it."""
    missing = {
        _name(entry, dialect, prefix): tuple(
            site for site in list_sites(entry) if site not in options.addresses
        )
        for path, prefix in parts
        for entry in read_entries(path)
    }
    part, names = only or (dialect.benchmark, missing)
    kept = (task for task in tasks if task.name in names)
    return make_suite(f"{part}@{dialect.version}", kept, missing)
