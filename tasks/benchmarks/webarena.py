"""WebArena: 812 tasks on copies of a shop, its back office, a forum, GitLab, a map and Wikipedia.

The task file is `config_files/test.raw.json` of github.com/web-arena-x/webarena (Apache-2.0).
"""

from pathlib import Path

from tasks.benchmarks.arena import Dialect, Setup, read_tasks
from tasks.task import Task

VERSION = 1

DIALECT = Dialect(
    "webarena",
    VERSION,
    answer_rules={
        "exact_match": "webarena_exact_match",
        "must_include": "webarena_must_include",
        "fuzzy_match": "webarena_fuzzy_match",
    },
    page_rules={
        "exact_match": "webarena_page_exact_match",
        "must_include": "webarena_page_must_include",
    },
    url_rules={"GOLD in PRED": "webarena_url_match"},
    url_note="GOLD in PRED",
    unachievable_rule="webarena_unachievable",
    corrected={
        "webarena_must_include": "webarena_must_include_corrected",
        "webarena_url_match": "webarena_url_match_corrected",
    },
)


def read(path: Path, setup: Setup) -> tuple[Task, ...]:
    """The tasks of the file. Raises `TaskFileError`."""
    return read_tasks(path, DIALECT, setup)
