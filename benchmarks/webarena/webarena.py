"""WebArena: 812 tasks on copies of a shop, its back office, a forum, GitLab, a map and Wikipedia.

The task file is `config_files/test.raw.json` of github.com/web-arena-x/webarena (Apache-2.0).
"""

from dataclasses import replace
from pathlib import Path

from benchmarks.catalogue import Options
from benchmarks.task_files import PublishedFile, find_file
from benchmarks.webarena.reading import make_hosted_suite, read_hosted, read_tasks
from benchmarks.webarena.schema import ScorerRules, Setup
from tasks.suite import Suite
from tasks.task import Task

VERSION = 1

FILE = PublishedFile(
    "webarena",
    "web-arena-x/webarena",
    "f62e0b99bc7d9e0cd996d0cf5ebb2225780ec279",
    "config_files/test.raw.json",
    "7b50386fd69163dbc05d615d834df4c6ed2c35596e97a1b10d17451c02537652",
    package="libwebarena",
)

SCORER_RULES = ScorerRules(
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
)


def read(path: Path, setup: Setup) -> tuple[Task, ...]:
    """Return the tasks of the file. Raises `UnreadableTasks`."""
    return read_tasks(path, SCORER_RULES, setup)


def suite(options: Options, subset: str = "") -> Suite:
    """Return the suite for the catalogue, `lite` being WebArena-Lite. Groups are sites, and
    `infeasible`.

    Raises `UnreadableTasks`, `TasksMissing` and `AddressError`.
    """
    file, dialect = (LITE_FILE, LITE) if subset else (FILE, SCORER_RULES)
    parts = [(find_file(file, options.files), "")]
    return make_hosted_suite(read_hosted(parts, dialect, options), parts, dialect, options)


LITE_FILE = PublishedFile(
    "webarena_lite",
    "ServiceNow/BrowserGym",
    "9e779f087de9a65668b6974d11f9ce9816026e96",
    "browsergym/webarenalite/src/browsergym/webarenalite/test_webarena_lite.raw.json",
    "5e901fc1d7155bc03764d734fa9a492f8d6d1029656b986a3a4e7c71609c7238",
    package="browsergym-webarenalite",
)

LITE = replace(
    SCORER_RULES,
    benchmark="webarena-lite",
    version=VERSION,
    page_rules={**SCORER_RULES.page_rules, "fuzzy_match": "webarena_fuzzy_match"},
    reads_text_as_list=("must_include",),
    joins_page_texts=True,
    id_key="old_task_id",
)
