"""Mind2Web-Live: 104 tasks on live sites with 443 key nodes that every way to the goal passes.

The task file is `mind2web-live_test_20241024.json` of https://github.com/iMeanAI/WebCanvas (MIT).
The pages are live: sites change, and with them what can be reached. `success` needs all key nodes;
`benchmarks.mind2web_live.rules.key_nodes_reached` gives their share.
"""

import math
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.catalogue import Options
from benchmarks.task_files import (
    FileEntry,
    PublishedFile,
    date_in_name,
    find_file,
    make_suite,
    read_list,
)
from tasks.suite import Suite
from tasks.task import Json, Task, TaskCheck

LEAST_STEPS, MOST_STEPS = 10, 25
STEPS_PER_REFERENCE = 1.5
"""As in the published runs."""
START = "about:blank"
"""Nothing is open when a published run begins."""

FILE = PublishedFile(
    "mind2web_live",
    "iMeanAI/WebCanvas",
    "b9f289128614cd99b97abd0bb9bfc3a45f0847e0",
    "data/example/mind2web-live_test_20241024.json",
    "abc2032302fed1ac801539ecc6003dd73ff0aafe824aaf9450e4e504a8ff83f2",
)

_NODES = {
    "url_included_match": "key_node_url",
    "url_exactly_match": "key_node_url",
    "url_semantic_match": "key_node_url_means",
    "element_path_exactly_match": "key_node_element",
    "element_value_exactly_match": "key_node_value",
    "element_value_included_match": "key_node_value",
    "element_value_semantic_match": "key_node_value_means",
}


def tasks(path: Path | str, *, start_url: str = START, version: str = "") -> list[Task]:
    """Return the tasks of a task file; the version is the date in its name where none is given.

    Raises `UnreadableTasks`.
    """
    file = Path(path)
    version = version or date_in_name(file)
    made = []
    for entry in read_list(file):
        entry.items("evaluation")  # it has to be there
        length, nodes = entry.integer("reference_task_length"), entry.inners("evaluation")
        checks = tuple(map(_check, nodes))
        addresses = (str(node.values["content"].get("url") or "") for node in nodes)
        hosts = filter(None, (urlsplit(address).hostname for address in addresses))
        steps = math.ceil(STEPS_PER_REFERENCE * length)
        made.append(
            Task(
                id=f"mind2web-live/{entry.integer('index')}@{version}",
                start_url=start_url,
                goal=entry.text("task"),
                max_steps=min(MOST_STEPS, max(LEAST_STEPS, steps)),
                records=("elements",) if any(c.evidence == "elements" for c in checks) else (),
                checks=checks,
                clock="real",
                skills=tuple(host.removeprefix("www.") for host in islice(hosts, 1)),
            )
        )
    return made


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue. Groups are sites, as the first key node of a task names them.

    Raises `UnreadableTasks` and `TasksMissing`.
    """
    file = find_file(FILE, options.files)
    return make_suite(f"mind2web-live@{date_in_name(file)}", tasks(file))


def _check(node: FileEntry) -> TaskCheck:
    kind, content = node.text("match_function_name"), node.inner("content")
    if kind not in _NODES:
        raise node.wrong("match_function_name", f"one of {', '.join(_NODES)}")
    reference = content.text("reference_answer")
    if kind.startswith("url"):
        expected: dict[str, Json] = {"reference": reference, "key": content.values.get("key") or ""}
        if kind == "url_exactly_match":
            expected["exact"] = True
        return TaskCheck("episode.urls", _NODES[kind], expected)
    expected = {"netloc": content.text("netloc")}
    if kind == "element_path_exactly_match":
        if node.text("method") != "selector":
            raise node.wrong("method", "selector, the only one that is known")
        expected["selector"] = reference
    else:
        expected["reference"] = reference
        if content.values.get("path"):
            expected["selector"] = content.values["path"]
    if kind == "element_value_included_match":
        expected["included"] = True
    return TaskCheck("elements", _NODES[kind], expected)
