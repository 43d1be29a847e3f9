"""WebChoreArena: 532 tedious tasks on WebArena's sites, with shares of points.

The task file is `AgentOccam/config_files/test_webchore.raw.json` of
github.com/WebChoreArena/WebChoreArena (Apache-2.0).
"""

import re
from dataclasses import replace
from pathlib import Path

from benchmarks.catalogue import Options
from benchmarks.task_files import PublishedFile, UnreadableTasks, find_beside, find_file, read_text
from benchmarks.webarena import webarena
from benchmarks.webarena.reading import make_hosted_suite, read_hosted, read_tasks
from benchmarks.webarena.schema import Setup
from tasks.suite import Suite
from tasks.task import Task

VERSION = 1

FILE = PublishedFile(
    "webchorearena",
    "WebChoreArena/WebChoreArena",
    "e6122180e839a92220fc7d7a41ff343156d58f8b",
    "AgentOccam/config_files/test_webchore.raw.json",
    "0a045e46f3d36d7847c4846cd9595df8ac9672d62e36603454a068bb3ed3a702",
)
SMALL = replace(
    FILE,
    inside="AgentOccam/config_files/small_set_ids.txt",
    sha256="213238b00cde505388a679224856aede7d1ecbe00416b3058c947c9355b236cf",
)
"""Numbers of a published selection, for those who cannot afford all tasks."""

SCORER_RULES = replace(
    webarena.SCORER_RULES,
    benchmark="webchorearena",
    version=VERSION,
    answer_rules={
        "exact_match": "webarena_exact_match",
        "must_include": "webchorearena_must_include",
        "fuzzy_match": "webchorearena_fuzzy_match",
    },
    page_rules={
        "exact_match": "webarena_page_exact_match",
        "must_include": "webchorearena_page_must_include",
    },
    url_rules={"GOLD in PRED": "webchorearena_url_match"},
    takes_single_texts=True,
    kinds=("type_main",),
)


def read(path: Path, setup: Setup, *, lite: bool = False) -> tuple[Task, ...]:
    """Return the file's tasks; `lite` starts them at the nearer page. Raises `UnreadableTasks`."""
    return read_tasks(path, SCORER_RULES, setup, start="start_url_lite" if lite else "start_url")


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue, `small` being a subset. Groups are sites and types, as `calc`.

    Raises `UnreadableTasks`, `TasksMissing` and `AddressError`.
    """
    parts = [(find_file(FILE, options.files), "")]
    tasks = read_hosted(parts, SCORER_RULES, options)
    if not subset:
        return make_hosted_suite(tasks, parts, SCORER_RULES, options)
    small = small_set(find_beside(SMALL, options.files))
    unknown = sorted(set(small) - {task.name for task in tasks})
    if unknown:
        raise UnreadableTasks(f"{parts[0][0]} has no tasks {', '.join(unknown[:10])}")
    return make_hosted_suite(
        tasks, parts, SCORER_RULES, options, (f"{SCORER_RULES.benchmark}-{subset}", small)
    )


def small_set(path: Path) -> tuple[str, ...]:
    """Return the numbers in a file of them, commas between. Raises `UnreadableTasks`."""
    numbers = re.split(r"[,\s]+", read_text(path).strip())
    wrong = next((one for one in numbers if not one.isdigit()), None)
    if wrong is not None:
        raise UnreadableTasks(f"{path}: found {wrong!r}, expected the numbers of tasks")
    return tuple(numbers)
