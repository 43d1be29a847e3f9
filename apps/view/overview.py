"""A run at a glance: what came of it, its figures, why episodes failed, what it was made with."""

import mimetypes
import shlex
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from apps.report.page import format_spans
from apps.view.contents import Contents, EpisodeOutcome, Run
from apps.view.episode.film import FilmFrame
from apps.view.episode.scene import open_episode
from apps.view.figures import read_settings
from apps.view.outcome import answer_of, file_of, format_seconds, outcome_of
from apps.view.pages import Pages, crumbs_of
from evaluators.attribution import summarize
from loop.failures import choose_episodes
from loop.notes import read_warnings
from loop.summary import Summary, format_headline
from loop.summary.format import (
    SPENT_HEAD,
    format_macro,
    format_models,
    format_sources,
    format_spending_rows,
)
from webagent.errors import SetupError


def routes(pages: Pages) -> list[BaseRoute]:
    """Return `/run/NAME`, the pictures of its episodes, and the files that it kept."""

    def run(request: Request) -> Response:
        chosen = pages.run(request)
        content = _describe_run(pages, chosen, is_live=request.state.is_live)
        return pages.show(request, "run.html", crumbs_of(chosen), run=chosen, **content)

    def image(request: Request) -> Response:
        reference = request.path_params["reference"]
        with pages.run(request).store() as store:
            content = store.images.get(reference)
        kind = mimetypes.guess_type(reference)[0] or "application/octet-stream"
        # Named by its content, so it never changes.
        headers = {"cache-control": "max-age=31536000, immutable"}
        return Response(content, media_type=kind, headers=headers)

    def file(request: Request) -> Response:
        chosen, name = pages.run(request), request.path_params["name"]
        found = file_of(chosen, name)
        if found is None:
            raise SetupError(f"{chosen.title} has no file {name!r:.80}")
        # A page that was downloaded must not be shown as one of the viewer's own.
        return FileResponse(found, filename=found.name, content_disposition_type="attachment")

    return [
        Route("/run/{run}", run),
        Route("/run/{run}/image/{reference}", image),
        Route("/run/{run}/file/{name:path}", file),
    ]


def _describe_run(pages: Pages, run: Run, *, is_live: bool) -> dict[str, Any]:
    """Return what the page of a run shows."""
    contents = pages.contents.contents(run)
    figures = pages.figures.figures(run, contents)
    summary, at_work = figures.summary, run.at_work() if is_live else {}
    settings, problem = read_settings(run)
    known = pages.causes.known(run, contents)
    chosen = choose_episodes([line.entry for line in contents.lines])
    counted = [one for id, one in known.found.items() if chosen.has(contents.by_id[id].entry)]
    failures = summarize(counted, chosen.name())
    task = answer_of(run, settings, contents, is_live=is_live)
    frames: tuple[FilmFrame, ...] = ()
    with run.store() as store:
        warnings = read_warnings(store)
        if task and task.episode:
            frames = open_episode(run, store, task.episode).film.frames
    examples = [id for row in failures.causes[:2] for id in row.examples[:2]]
    notices = dict.fromkeys(filter(None, (problem, figures.problem, known.problem, *warnings)))
    content = {
        "contents": contents,
        "outcome": outcome_of(run, settings, contents, is_live=is_live),
        "is_closed": run.is_closed(),
        "task": task,
        "frames": frames,
        "facts": task.facts if task else _facts(run, contents, is_live=is_live),
        "figures": figures,
        "summary": None,
        "at_work": at_work,
        # What is at work says by itself that nothing was measured so far.
        "headline": format_headline(summary)
        if summary and (summary["arms"] or not at_work)
        else "",
        "notices": notices,
        "known": known,
        "causes": failures.causes,
        "of_phase": chosen.filter(),
        "first": failures.first.partition(" See ")[0],
        "examples": [contents.by_id[id] for id in examples if id in contents.by_id],
        "others": [one.name for one in pages.archive.runs() if one.name != run.name],
        "origin": _origin(run, settings, summary, is_live=is_live),
    }
    if summary and summary["arms"]:
        spent = summary.get("spent")
        content |= {
            "summary": summary,
            "beside": [
                *map(format_macro, summary.get("macro", ())),
                *(note for note in summary.get("notes", ()) if note not in notices),
            ],
            "spent_head": SPENT_HEAD,
            "spent": format_spending_rows(spent) if spent else [],
            "models": format_models(spent) if spent else [],
            "stopped": spent["stopped"] if spent else "",
        }
    return content


def _facts(run: Run, contents: Contents, *, is_live: bool) -> dict[str, str]:
    lines = contents.of_policy
    imagined = sum(line.entry.world == "imagined" for line in contents.lines)
    running = contents.counts[EpisodeOutcome.RUNNING]
    facts = {
        "tasks": f"{len({line.task for line in lines}):,}",
        "episodes": f"{len(lines):,}",
        "steps": f"{sum(line.entry.steps for line in lines):,}",
        "imagined": f"{imagined:,}",
        "set apart": f"{len(contents.lines) - len(lines) - imagined:,}",
        "under way": f"{running if is_live else 0:,}",
        "interrupted": f"{contents.counts[EpisodeOutcome.INTERRUPTED] + (not is_live) * running:,}",
        "took": "",
    }
    if lines:
        begun = min(line.entry.started for line in lines)
        ended = max(line.entry.started + line.entry.seconds for line in lines)
        if is_live or run.is_over():  # what comes after an episode, such as training, included
            ended = max(ended, time.time() if is_live else run.last_time())
        facts["took"] = format_seconds(ended - begun)
    return {name: value for name, value in facts.items() if value not in ("0", "")}


def _origin(
    run: Run, settings: dict[str, Any], summary: Summary | None, *, is_live: bool
) -> dict[str, str]:
    """Return what the run was made with, by name."""
    command = settings.get("command")
    facts = {"folder": str(run.path)}
    if isinstance(command, list):
        facts["command"] = shlex.join(map(str, command))
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
            "set aside": ", ".join(
                f"{n:,} {name}"
                for name, n in summary["failures"].items()
                if n and not (is_live and name == EpisodeOutcome.UNSCORED)  # yet to be judged
            ),
        }
    return {name: value for name, value in facts.items() if value}
