"""WebArena-Verified: WebArena's 812 tasks audited anew, scored by response and network traffic.

The tasks come with the PyPI package `webarena-verified` (github.com/ServiceNow/webarena-verified,
Apache-2.0), which need not be importable: its dataset file, or any of that form, does as well. The
sites have to be hosted; `addresses` says where. The checks are the published ones, by the rules
`agent_response` and `network_event`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.catalogue import AddressError, Options
from benchmarks.task_files import (
    FileEntry,
    PublishedFile,
    UnreadableTasks,
    check_addresses,
    find_beside,
    find_file,
    make_suite,
    read_json,
    read_list,
)
from tasks.suite import Suite
from tasks.task import Task, TaskCheck

VERSION = 1
FILE = PublishedFile(
    "webarena_verified",
    "ServiceNow/webarena-verified",
    "6473f72db5dcefc97b5725b59e734504edc28a21",
    "assets/dataset/webarena-verified.json",
    "d65275660814663375028e9017e1f929e3c38321041b125795e2713b52243d30",
    package="webarena-verified",
)
HARD = replace(
    FILE,
    inside="assets/dataset/subsets/webarena-verified-hard.json",
    sha256="3b0a4df231bb5a0c642215e521c3fa97701a384f52a734dc2db8f617ad0591a7",
)

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

_WITH_ACCOUNTS = ("gitlab", "reddit", "shopping", "shopping_admin")

_KINDS = ("AgentResponseEvaluator", "NetworkEventEvaluator")
_TASK_TYPES = ("RETRIEVE", "MUTATE", "NAVIGATE")


def tasks(
    addresses: Mapping[str, str | Sequence[str]],
    path: Path | str | None = None,
    *,
    only: Iterable[int] | None = None,
) -> list[Task]:
    """Return the tasks of a dataset file, of the published one where no path is given.

    `addresses` has, for each site that a task needs, its address or several that mean the same, the
    one to open first. `only` selects by number, as `hard_subset` gives them. Raises
    `UnreadableTasks`, `TasksMissing`, `AddressError`, and `ValueError` for a number that is not in
    the file.
    """
    file = find_file(FILE, Path(path) if path is not None else None)
    known = _by_number(file)
    wanted = list(known) if only is None else list(only)
    unknown = sorted(set(wanted) - known.keys())
    if unknown:
        raise ValueError(f"{file} has no tasks {unknown[:10]}")
    return [_task(known[number], addresses) for number in wanted]


def hard_subset(path: Path | str | None = None) -> tuple[int, ...]:
    """Return numbers of the 258 hard tasks, as published or in a file. Raises as `tasks` does."""
    file = Path(path) if path is not None else find_file(HARD)
    subset = read_json(file)
    numbers = subset.get("task_ids") if isinstance(subset, dict) else None
    if not isinstance(numbers, list) or not all(isinstance(one, int) for one in numbers):
        raise UnreadableTasks(f"{file} has no list of task_ids")
    return tuple(numbers)


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue, `hard` being a subset. Groups are sites and types of task, as `mutate`.

    Raises `UnreadableTasks`, `TasksMissing` and `AddressError`.
    """
    file = find_file(FILE, options.files)
    addresses = {site: f"http://{site.replace('_', '-')}.missing.invalid" for site in SITES}
    addresses |= check_addresses(options.addresses, SITES, "webarena-verified")
    only = hard_subset(find_beside(HARD, options.files)) if subset else None
    made = tasks(addresses, file, only=only)
    missing = {
        str(number): [site for site in raw["sites"] if site not in options.addresses]
        for number, raw in _by_number(file).items()
    }
    identity = f"webarena-verified{'-hard' * bool(subset)}@{VERSION}"
    return make_suite(identity, made, missing)


def _by_number(file: Path) -> dict[int, Mapping[str, Any]]:
    entries = read_list(file)
    known: dict[int, Mapping[str, Any]] = {}
    for entry in entries:
        number = entry.integer("task_id")
        known[number] = entry.values
        entry = FileEntry(entry.values, f"{entry.place} (task_id {number})")
        for name in ("intent_template_id", "revision"):
            entry.integer(name)
        entry.text("intent")
        sites = entry.texts("sites")
        if not sites or not set(sites) <= set(SITES):
            raise entry.wrong("sites", f"some of {', '.join(SITES)}")
        if not entry.texts("start_urls"):
            raise entry.wrong("start_urls", "an address")
        kinds = [_check_evaluation(evaluation) for evaluation in entry.inners("eval")]
        if "AgentResponseEvaluator" not in kinds:
            raise UnreadableTasks(f"{entry.place}: eval has no AgentResponseEvaluator")
    if len(known) != len(entries):
        raise UnreadableTasks(f"{file} lists a task_id twice")
    return known


def _task(raw: Mapping[str, Any], addresses: Mapping[str, str | Sequence[str]]) -> Task:
    missing = [site for site in raw["sites"] if not addresses.get(site)]
    if missing:
        raise AddressError(
            f"webarena-verified/{raw['task_id']} needs the addresses of {', '.join(missing)}"
        )
    given = {site: addresses[site] for site in raw["sites"]}
    sites = {site: [one] if isinstance(one, str) else list(one) for site, one in given.items()}
    pages = list(raw["start_urls"])
    for site, (address, *_) in sites.items():
        mark = f"__{site.upper()}__"
        pages = [page.replace(mark, address) if page.startswith(mark) else page for page in pages]
    answers = (one for one in raw["eval"] if one["evaluator"] == "AgentResponseEvaluator")
    expected = next(answers)["expected"]
    infeasible = () if expected["status"].upper() == "SUCCESS" else ("infeasible",)
    checks = []
    for evaluation in raw["eval"]:
        options = {name: value for name, value in evaluation.items() if name != "evaluator"}
        if evaluation["evaluator"] == "AgentResponseEvaluator":
            spec = {**options.pop("expected"), **options, "sites": sites}
            checks.append(TaskCheck("episode.answer", "agent_response", spec))
        else:
            spec = {**options, "task_type": expected["task_type"], "sites": sites}
            checks.append(TaskCheck("network", "network_event", spec))
    return Task(
        id=f"webarena-verified/{raw['task_id']}@{raw['revision']}",
        start_url=pages[0],
        further_urls=tuple(pages[1:]),
        goal=f"{raw['intent']}\n{RESPONSE_FORMAT}".strip(),
        max_steps=MAX_STEPS,
        records=("network",),
        checks=tuple(checks),
        clock="real",
        login=".".join(site for site in _WITH_ACCOUNTS if site in raw["sites"]),
        template=str(raw["intent_template_id"]),
        skills=(*raw["sites"], expected["task_type"].lower(), *infeasible),
    )


def _check_evaluation(evaluation: FileEntry) -> str:
    kind, expected = evaluation.values.get("evaluator"), evaluation.inner("expected")
    if kind == "NetworkEventEvaluator":
        if not expected.values.get("url"):
            raise expected.wrong("url", "an address")
        for name in ("query_params_schema", "post_data_schema"):
            _check_schema(evaluation.values.get(name) or {}, f"{evaluation.place}: {name}")
    elif kind == "AgentResponseEvaluator":
        expected.text("status")
        if expected.text("task_type").upper() not in _TASK_TYPES:
            raise expected.wrong("task_type", " or ".join(_TASK_TYPES))
        if "results_schema" not in evaluation.values:
            raise evaluation.wrong("results_schema", "a schema")
        place = f"{evaluation.place}: results_schema"
        _check_schema(evaluation.values["results_schema"], place)
    else:
        raise evaluation.wrong("evaluator", " or ".join(_KINDS))
    return str(kind)


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
