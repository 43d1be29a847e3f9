"""The first page, and a run at a glance."""

import mimetypes
import time
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from apps.report.page import format_spans
from apps.view.contents import Contents, EpisodeOutcome, Run
from apps.view.figures import benchmark_of, read_settings
from apps.view.pages import Pages, crumbs_of, moment
from evaluators.attribution import summarize
from evaluators.statistics import wilson
from loop.folder import read_warnings
from loop.summary import Summary, format_headline
from loop.summary.format import (
    SPENT_HEAD,
    format_macro,
    format_models,
    format_sources,
    format_spending_rows,
)
from webagent.errors import StoreError

_PATIENCE = 0.6
"""Seconds for reading runs that were not read before; the rest follows while the page is shown."""


@dataclass(frozen=True, slots=True)
class LatestSuccess:
    """How often the arm that counts succeeds, after its last round."""

    arm: str
    round: int
    success: float
    low: float
    high: float
    episodes: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the list of runs."""

    run: Run
    state: dict[str, str]
    contents: Contents | None
    """None while it has not been read, or where it cannot be."""
    problem: str = ""

    @property
    def standing(self) -> LatestSuccess | None:
        """None where nothing was measured."""
        return standing(self.contents) if self.contents else None

    @property
    def benchmark(self) -> str:
        """What was played."""
        return benchmark_of(self.contents) if self.contents else ""

    @property
    def arms(self) -> list[str]:
        """The arms there are, baselines apart."""
        lines = self.contents.of_policy if self.contents else ()
        return sorted({line.entry.arm for line in lines if line.entry.arm})

    @property
    def steps(self) -> int:
        """All that the policy took."""
        return sum(line.entry.steps for line in self.contents.of_policy) if self.contents else 0

    @property
    def begun(self) -> str:
        """When the first episode began."""
        if not self.contents or not self.contents.lines:
            return ""
        return moment(min(line.entry.started for line in self.contents.lines))


def routes(pages: Pages) -> list[BaseRoute]:
    """Return `/`, `/run/NAME` and the pictures of its episodes."""

    def runs(request: Request) -> Response:
        request.state.version = pages.all_runs()["version"]
        until = time.monotonic() + _PATIENCE
        rows = [_read_row(pages, run, until) for run in pages.archive.runs()]
        return pages.show(request, "runs.html", rows=rows, folder=pages.archive.folder.resolve())

    def run(request: Request) -> Response:
        chosen = pages.run(request)
        content = _describe_run(pages, chosen)
        return pages.show(request, "run.html", crumbs_of(chosen), run=chosen, **content)

    def image(request: Request) -> Response:
        reference = request.path_params["reference"]
        with pages.run(request).store() as store:
            content = store.images.get(reference)
        kind = mimetypes.guess_type(reference)[0] or "application/octet-stream"
        # Named by its content, so it never changes.
        headers = {"cache-control": "max-age=31536000, immutable"}
        return Response(content, media_type=kind, headers=headers)

    return [
        Route("/", runs),
        Route("/run/{run}", run),
        Route("/run/{run}/image/{reference}", image),
    ]


def standing(contents: Contents) -> LatestSuccess | None:
    """Return the last round of the arm `self`, else of the last arm that was measured."""
    measured = [line for line in contents.lines if line.is_measured]
    arms = [line.entry.arm for line in measured]
    if not arms:
        return None
    arm = "self" if "self" in arms else max(arms)
    number = max(line.entry.round for line in measured if line.entry.arm == arm)
    own = [line for line in measured if (line.entry.arm, line.entry.round) == (arm, number)]
    good = sum(line.outcome is EpisodeOutcome.SUCCEEDED for line in own)
    return LatestSuccess(arm, number, good / len(own), *wilson(good, len(own)), len(own))


def _read_row(pages: Pages, run: Run, until: float) -> RunRow:
    state = pages.state(run)
    try:
        if pages.contents.has(run) or time.monotonic() <= until:
            return RunRow(run, state, pages.contents.contents(run))
        pages.read_later(run)
        return RunRow(run, state, None)
    except StoreError as error:
        return RunRow(run, state, None, str(error))


def _describe_run(pages: Pages, run: Run) -> dict[str, Any]:
    """Return what the page of a run shows."""
    contents = pages.contents.contents(run)
    figures = pages.figures.figures(run, contents)
    summary = figures.summary
    settings, problem = read_settings(run)
    known = pages.causes.known(run, contents)
    failures = summarize(known.found.values())
    with run.store() as store:
        warnings = read_warnings(store)
    examples = [id for row in failures.causes[:2] for id in row.examples[:2]]
    content = {
        "contents": contents,
        "facts": _facts(contents),
        "figures": figures,
        "summary": None,
        "headline": format_headline(summary) if summary else "",
        "notices": [text for text in (problem, figures.problem, known.problem, *warnings) if text],
        "known": known,
        "causes": failures.causes,
        "first": failures.first.partition(" See ")[0],
        "examples": [contents.by_id[id] for id in examples if id in contents.by_id],
        "others": [one.name for one in pages.archive.runs() if one.name != run.name],
        "origin": _origin(run, settings, summary),
    }
    if summary and summary["arms"]:
        spent = summary.get("spent")
        content |= {
            "summary": summary,
            "beside": [*map(format_macro, summary.get("macro", ())), *summary.get("notes", ())],
            "spent_head": SPENT_HEAD,
            "spent": format_spending_rows(spent) if spent else [],
            "asked": format_models(spent) if spent else [],
            "stopped": spent["stopped"] if spent else "",
        }
    return content


def _facts(contents: Contents) -> dict[str, str]:
    lines = contents.of_policy
    imagined = sum(line.entry.world == "imagined" for line in contents.lines)
    facts = {
        "tasks": f"{len({line.task for line in lines}):,}",
        "episodes": f"{len(lines):,}",
        "steps": f"{sum(line.entry.steps for line in lines):,}",
        "imagined": f"{imagined:,}",
        "set apart": f"{len(contents.lines) - len(lines) - imagined:,}",
        "under way": f"{contents.counts[EpisodeOutcome.RUNNING]:,}",
        "took": "",
    }
    if lines:
        begun = min(line.entry.started for line in lines)
        ended = max(line.entry.started + line.entry.seconds for line in lines)
        hours, minutes = divmod(round((ended - begun) / 60), 60)
        facts["took"] = f"{hours} h {minutes} min" if hours else f"{minutes} min"
    return {name: value for name, value in facts.items() if value not in ("0", "")}


def _origin(run: Run, settings: dict[str, Any], summary: Summary | None) -> dict[str, str]:
    """Return what the run was made with, by name."""
    command = settings.get("command")
    facts = {"folder": str(run.path)}
    if isinstance(command, list):
        facts["command"] = " ".join(map(str, command))
    if summary:
        versions = [f"{name} {value or '–'}" for name, value in summary["versions"].items()]
        facts |= {
            "benchmark": summary["benchmark"],
            **summary.get("setup", {}),
            "commit": ", gone on with at ".join(format_sources(summary)),
            "versions": ", ".join(versions),
            "judge": ", ".join(summary["judge"]),
            "seeds": f"{summary['split']}: {format_spans(summary['seeds'])}"
            if summary["seeds"]
            else "",
            "repeats": f"{summary['repeats']}" if summary["arms"] else "",
            "set aside": ", ".join(f"{n:,} {name}" for name, n in summary["failures"].items() if n),
        }
    return {name: value for name, value in facts.items() if value}
