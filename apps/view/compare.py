"""Two runs side by side: what was set otherwise, which does better, and on which tasks."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from apps.report.charts import has_curve
from apps.view.contents import EpisodeLine, EpisodeOutcome, Run
from apps.view.figures import benchmark_of, read_settings
from apps.view.pages import Pages
from evaluators.statistics import Interval, difference, wilson
from loop.summary import Summary
from loop.summary.format import format_difference, format_points
from loop.summary.measure import task_name
from webagent.errors import SetupError, StoreError

_FLIPS = 40
"""Most episodes listed that came out otherwise."""
Place = tuple[int, str, int]
"""Repeat, task, seed."""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the two runs, by one of its arms at its last round."""

    run: Run
    arms: tuple[str, ...]
    arm: str
    round: int
    lines: Mapping[Place, EpisodeLine]
    """What was measured in that round."""
    curves: Summary | None
    """The summary, where it has learning curves."""
    is_summed_up: bool
    """Whether its figures have been worked out."""
    settings: Mapping[str, str]
    benchmark: str
    judge: str
    """How the id of the judge begins whose verdicts count."""

    @property
    def rate(self) -> Interval | None:
        """Success with Wilson's interval; None where nothing was measured."""
        good = sum(line.outcome is EpisodeOutcome.SUCCEEDED for line in self.lines.values())
        count = len(self.lines)
        return Interval(good / count, *wilson(good, count)) if count else None


@dataclass(frozen=True, slots=True)
class ComparedTask:
    """A task that both have measured."""

    name: str
    a: float
    b: float
    count_a: int
    count_b: int

    @property
    def points(self) -> str:
        """B's success less A's, in points."""
        return format_points(self.b - self.a, signed=True)


def routes(pages: Pages) -> list[BaseRoute]:
    """Return `/compare/runs?a=NAME&b=NAME`, with `arm_a` and `arm_b` where others are meant."""

    def compare(request: Request) -> Response:
        request.state.version = pages.all_runs()["version"]
        known = [run.name for run in pages.archive.runs()]
        query = request.query_params
        if len(known) < 2 and not query.get("b"):
            raise SetupError("only one run was found; to compare, name a folder with two or more")
        first = query.get("a") or known[0]
        a = _read_side(pages, first, query.get("arm_a", ""))
        others = [name for name in known if name != a.run.name]
        second = query.get("b", "")
        for name in () if second else others:
            with suppress(StoreError):  # reported where the run is opened
                if benchmark_of(pages.contents.contents(pages.archive.run(name))) == a.benchmark:
                    second = name
                    break
        second = second or others[0]
        b = _read_side(pages, second, query.get("arm_b", ""))
        crumbs = (("Compare", ""),)
        outcomes = [{k: line.value or 0.0 for k, line in side.lines.items()} for side in (a, b)]
        found = difference(outcomes[1], outcomes[0])
        both = sorted(a.lines.keys() & b.lines.keys(), key=lambda place: (place[1], place[2]))
        pairs = [(a.lines[place], b.lines[place]) for place in both]
        flips = [pair for pair in pairs if pair[0].outcome is not pair[1].outcome]
        one, other = a.settings, b.settings
        names = sorted((one.keys() | other.keys()) - {"name", "resume"})
        settings = [(name, one.get(name, "–"), other.get(name, "–")) for name in names]
        nothing = "nothing was measured that could be compared"
        claim = format_difference("B", "A", found) if found else nothing
        content: dict[str, Any] = {
            "shared": len(both),
            "warnings": _list_warnings(a, b),
            "claim": claim[0].upper() + claim[1:] + ".",
            "difference": found,
            "tasks": _compare_tasks(a.lines.values(), b.lines.values()),
            "flips": flips[:_FLIPS],
            "flipped": len(flips),
            "settings": [row for row in settings if row[1] != row[2]],
        }
        return pages.show(request, "compare_runs.html", crumbs, names=known, a=a, b=b, **content)

    return [Route("/compare/runs", compare)]


def _read_side(pages: Pages, name: str, arm: str) -> ComparedRun:
    run = pages.archive.run(name)
    contents = pages.contents.contents(run)
    summary = pages.figures.figures(run, contents).summary
    measured = [line for line in contents.lines if line.is_measured]
    arms = sorted({line.entry.arm for line in measured})
    chosen = arm if arm in arms else "self" if "self" in arms else arms[-1] if arms else ""
    number = max((line.entry.round for line in measured if line.entry.arm == chosen), default=0)
    lines = {
        (line.entry.repeat, line.entry.task, line.entry.seed): line
        for line in measured
        if (line.entry.arm, line.entry.round) == (chosen, number)
    }
    curves = summary if summary and summary["arms"] and has_curve(summary) else None
    found, _ = read_settings(run)
    flat: dict[str, str] = {}
    _flatten(found.get("config"), "", flat)
    origins = found.get("origins")
    if isinstance(origins, list) and origins and isinstance(origins[0], dict):
        flat["commit"] = str(origins[0].get("commit", ""))[:12]
    return ComparedRun(
        run,
        tuple(arms),
        chosen,
        number,
        lines,
        curves,
        bool(summary),
        flat,
        benchmark_of(contents),
        contents.judge,
    )


def _flatten(value: Any, name: str, into: dict[str, str]) -> None:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            _flatten(inner, f"{name}.{key}" if name else str(key), into)
    elif name:
        listed = isinstance(value, list)
        into[name] = ", ".join(map(str, value)) if listed else "" if value is None else str(value)


def _list_warnings(a: ComparedRun, b: ComparedRun) -> list[str]:
    """Return why a difference between the two need not be one between their agents."""
    if not (a.lines and b.lines):
        return []
    found = []
    if a.benchmark != b.benchmark:
        found.append(
            f"A was measured on {a.benchmark} and B on {b.benchmark}: a difference between them may"
            " be one between the benchmarks."
        )
    elif not a.lines.keys() & b.lines.keys():
        found.append("They share no repeat, task and seed, so each was measured on other episodes.")
    if a.judge != b.judge:
        found.append(f"A was judged by {a.judge} and B by {b.judge}.")
    return found


def _compare_tasks(a: Iterable[EpisodeLine], b: Iterable[EpisodeLine]) -> list[ComparedTask]:
    """Return the tasks both have measured, those that differ most first."""
    values: tuple[dict[str, list[float]], dict[str, list[float]]] = ({}, {})
    for lines, into in zip((a, b), values, strict=True):
        for line in lines:
            into.setdefault(line.entry.task, []).append(line.value or 0.0)
    rows = [
        ComparedTask(
            task_name(task), fmean(mine), fmean(values[1][task]), len(mine), len(values[1][task])
        )
        for task, mine in values[0].items()
        if task in values[1]
    ]
    return sorted(rows, key=lambda row: (-abs(row.b - row.a), row.name))
