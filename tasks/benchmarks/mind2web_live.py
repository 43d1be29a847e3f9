"""Mind2Web-Live: 104 tasks on live sites with 443 key nodes that every way to the goal passes.

The task file is `mind2web-live_test_20241024.json` of https://github.com/iMeanAI/WebCanvas (MIT).
The pages are live: sites change, and with them what can be reached. `success` needs all key nodes;
`evaluators.rules.key_nodes.key_nodes_reached` gives their share.
"""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tasks.task import Check, Json, Task

LEAST_STEPS, MOST_STEPS = 10, 25
STEPS_PER_REFERENCE = 1.5
"""As in the published runs."""
START = "about:blank"
"""Nothing is open when a published run begins."""

_NODES = {
    "url_included_match": "key_node_url",
    "url_exactly_match": "key_node_url",
    "url_semantic_match": "key_node_url_means",
    "element_path_exactly_match": "key_node_element",
    "element_value_exactly_match": "key_node_value",
    "element_value_included_match": "key_node_value",
    "element_value_semantic_match": "key_node_value_means",
}


class UnreadableTasks(ValueError):
    """A task file that is not of the published form; the message names task and field."""


def tasks(path: Path | str, *, start_url: str = START, version: str = "") -> list[Task]:
    """The tasks of a task file; the version is the date in its name where none is given.

    Raises `UnreadableTasks` and `OSError`.
    """
    file = Path(path)
    dated = re.search(r"\d{8}", file.stem)
    version = version or (dated.group() if dated else "1")
    try:
        raws = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnreadableTasks(f"{file} is not JSON: {error}") from error
    if not isinstance(raws, list):
        raise UnreadableTasks(f"{file} holds no list of tasks")
    return [_task(raw, f"{file}: task {at}", start_url, version) for at, raw in enumerate(raws)]


def _task(raw: Any, where: str, start_url: str, version: str) -> Task:
    goal, number = _field(raw, "task", str, where), _field(raw, "index", int, where)
    length = _field(raw, "reference_task_length", int, where)
    nodes = _field(raw, "evaluation", list, where)
    checks = tuple(_check(node, f"{where}: evaluation[{at}]") for at, node in enumerate(nodes))
    return Task(
        id=f"mind2web-live/{number}@{version}",
        start_url=start_url,
        goal=goal,
        max_steps=min(MOST_STEPS, max(LEAST_STEPS, math.ceil(STEPS_PER_REFERENCE * length))),
        records=("elements",) if any(check.evidence == "elements" for check in checks) else (),
        checks=checks,
        clock="real",
    )


def _check(node: Any, where: str) -> Check:
    kind = _field(node, "match_function_name", str, where)
    if kind not in _NODES:
        raise UnreadableTasks(
            f"{where}: match_function_name is {kind!r}, known are {', '.join(_NODES)}"
        )
    content = _field(node, "content", dict, where)
    reference = _field(content, "reference_answer", str, f"{where}: content")
    if kind.startswith("url"):
        expected: dict[str, Json] = {"reference": reference, "key": content.get("key") or ""}
        if kind == "url_exactly_match":
            expected["exact"] = True
        return Check("episode.urls", _NODES[kind], expected)
    expected = {"netloc": _field(content, "netloc", str, f"{where}: content")}
    if kind == "element_path_exactly_match":
        method = _field(node, "method", str, where)
        if method != "selector":
            raise UnreadableTasks(f"{where}: method is {method!r}, only selector is known")
        expected["selector"] = reference
    else:
        expected |= {"reference": reference, **_selector(content)}
    if kind == "element_value_included_match":
        expected["included"] = True
    return Check("elements", _NODES[kind], expected)


def _selector(content: Mapping[str, Any]) -> dict[str, Json]:
    return {"selector": content["path"]} if content.get("path") else {}


def _field(raw: Any, name: str, kind: type, where: str) -> Any:
    found = raw.get(name) if isinstance(raw, dict) else None
    if not isinstance(found, kind):
        raise UnreadableTasks(f"{where}: {name} is {found!r}, expected {kind.__name__}")
    return found
