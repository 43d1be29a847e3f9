"""VisualWebArena: 910 tasks with pictures, on classified advertisements, a forum and a shop.

The task files are `test_classifieds`, `test_reddit` and `test_shopping.raw.json` in
`config_files/vwa` of github.com/web-arena-x/visualwebarena (MIT); each counts its tasks from 0.
"""

from pathlib import Path

from tasks.benchmarks.arena import Dialect, Setup, TaskFileError, read_tasks
from tasks.task import Task

VERSION = 1
FILES = ("classifieds", "reddit", "shopping")

_CORRECTED = (
    "visualwebarena_must_include",
    "visualwebarena_must_exclude",
    "visualwebarena_required_values",
    "visualwebarena_url_exact",
    "visualwebarena_url_contains",
    "visualwebarena_page_must_include",
    "visualwebarena_page_must_exclude",
    "visualwebarena_page_fuzzy_match",
)

DIALECT = Dialect(
    "visualwebarena",
    VERSION,
    answer_rules={
        "exact_match": "visualwebarena_exact_match",
        "required_values": "visualwebarena_required_values",
        "must_include": "visualwebarena_must_include",
        "must_exclude": "visualwebarena_must_exclude",
        "one_of": "visualwebarena_one_of",
        "fuzzy_match": "visualwebarena_fuzzy_match",
    },
    page_rules={
        "exact_match": "visualwebarena_page_exact_match",
        "must_include": "visualwebarena_page_must_include",
        "must_exclude": "visualwebarena_page_must_exclude",
        "required_values": "visualwebarena_page_required_values",
        "fuzzy_match": "visualwebarena_page_fuzzy_match",
    },
    url_rules={
        "EXACT": "visualwebarena_url_exact",
        "GOLD in PRED": "visualwebarena_url_contains",
    },
    url_note="EXACT",
    unachievable_rule="visualwebarena_unachievable",
    corrected={
        **{rule: f"{rule}_corrected" for rule in _CORRECTED},
        "visualwebarena_page_required_values": "visualwebarena_required_values_corrected",
    },
)


def read(folder: Path, setup: Setup) -> tuple[Task, ...]:
    """The tasks of the three files in the folder, as `visualwebarena/shopping-0@1`.

    Raises `TaskFileError`.
    """
    missing = [name for name in FILES if not _file(folder, name).is_file()]
    if missing:
        names = ", ".join(_file(folder, name).name for name in missing)
        raise TaskFileError(f"{folder} is without {names}; expected the three VisualWebArena files")
    return tuple(
        task
        for name in FILES
        for task in read_tasks(_file(folder, name), DIALECT, setup, prefix=name)
    )


def _file(folder: Path, name: str) -> Path:
    return folder / f"test_{name}.raw.json"
