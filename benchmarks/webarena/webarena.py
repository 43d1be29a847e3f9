"""WebArena: 812 tasks on copies of a shop, its back office, a forum, GitLab, a map and Wikipedia.

The task file is `config_files/test.raw.json` of github.com/web-arena-x/webarena (Apache-2.0).
"""

from pathlib import Path

from benchmarks.catalogue import Options
from benchmarks.download import Published, found
from benchmarks.webarena.files import Dialect, Setup, read_tasks
from benchmarks.webarena.files.hosted import hosted, read_hosted
from tasks.suite import Suite
from tasks.task import Task

VERSION = 1

FILE = Published(
    "webarena",
    "web-arena-x/webarena",
    "f62e0b99bc7d9e0cd996d0cf5ebb2225780ec279",
    "config_files/test.raw.json",
    "7b50386fd69163dbc05d615d834df4c6ed2c35596e97a1b10d17451c02537652",
    package="libwebarena",
)

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
    """The tasks of the file. Raises `UnreadableTasks`."""
    return read_tasks(path, DIALECT, setup)


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue. Groups are sites, and `infeasible`.

    Raises `UnreadableTasks`, `TasksMissing` and `AddressError`.
    """
    parts = [(found(FILE, options.files), "")]
    return hosted(read_hosted(parts, DIALECT, options), parts, DIALECT, options)
