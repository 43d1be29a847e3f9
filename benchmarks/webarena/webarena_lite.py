"""WebArena-Lite: 165 tasks of WebArena, of which about a quarter have corrected answers.

The task file is `test_webarena_lite.raw.json` of the PyPI package `browsergym-webarenalite`
(github.com/ServiceNow/BrowserGym, Apache-2.0), which has it from VisualAgentBench. Tasks go by
their numbers in WebArena. The scorer is WebArena's, but that four pages are compared by a model;
an expected answer that is no list, at which the published scorer stops, is read as a list of one.
"""

from dataclasses import replace

from benchmarks.catalogue import Options
from benchmarks.download import Published, found
from benchmarks.webarena import webarena
from benchmarks.webarena.files.hosted import hosted, read_hosted
from tasks.suite import Suite

VERSION = 1

FILE = Published(
    "webarena_lite",
    "ServiceNow/BrowserGym",
    "9e779f087de9a65668b6974d11f9ce9816026e96",
    "browsergym/webarenalite/src/browsergym/webarenalite/test_webarena_lite.raw.json",
    "5e901fc1d7155bc03764d734fa9a492f8d6d1029656b986a3a4e7c71609c7238",
    package="browsergym-webarenalite",
)

DIALECT = replace(
    webarena.DIALECT,
    benchmark="webarena-lite",
    version=VERSION,
    page_rules={**webarena.DIALECT.page_rules, "fuzzy_match": "webarena_fuzzy_match"},
    reads_text_as_list=("must_include",),
    joins_page_texts=True,
    id_key="old_task_id",
)


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue. Groups are sites, and `infeasible`.

    Raises `UnreadableTasks`, `TasksMissing` and `AddressError`.
    """
    parts = [(found(FILE, options.files), "")]
    return hosted(read_hosted(parts, DIALECT, options), parts, DIALECT, options)
