"""WebChoreArena: 532 tedious tasks on WebArena's sites, with shares of points.

The task file is `AgentOccam/config_files/test_webchore.raw.json` of
github.com/WebChoreArena/WebChoreArena (Apache-2.0).
"""

from dataclasses import replace
from pathlib import Path

from tasks.benchmarks import webarena
from tasks.benchmarks.arena import Setup, read_tasks
from tasks.task import Task

VERSION = 1

DIALECT = replace(
    webarena.DIALECT,
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
    corrected={
        "webchorearena_must_include": "webchorearena_must_include_corrected",
        "webchorearena_url_match": "webchorearena_url_match_corrected",
    },
    takes_single_texts=True,
)


def read(path: Path, setup: Setup, *, lite: bool = False) -> tuple[Task, ...]:
    """The tasks of the file; `lite` starts them at the nearer page. Raises `TaskFileError`."""
    return read_tasks(path, DIALECT, setup, start="start_url_lite" if lite else "start_url")
