"""`webagent attribute`: why a run's episodes failed, and what to fix first."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from tyro.conf import Positional

from evaluators.attribution import (
    Attribution,
    Cause,
    FailureSummary,
    ask_cause,
    attribute,
    has_failed,
    summarize,
)
from evaluators.steps import kept
from recipes.config import resolve
from recipes.contestant import Contestant
from recipes.report.markup import Markup, tag
from webagent.errors import StoreError
from webagent.models import Model, load_endpoint
from webagent.store import Store

FILE = "attribution.json"
_WIDTH = 120
_SHOWN = 3
"""Kinds, tasks and sites named in one cell."""


@dataclass(frozen=True)
class AttributeConfig:
    """Say for every failed episode of a run why it failed, and for the run what to fix first."""

    run: Positional[Path] = Path()
    """The run folder; this one when none is named."""
    phase: str = ""
    """Only episodes of this phase, such as `evaluate` or `collect`; all when empty."""
    trust: str = "checks_hold"
    """Evaluators whose ids begin so have the last word; where others contradict each other, the
    judge is at fault."""
    policy: str = "endpoint"
    """The model that is asked where the rules cannot tell: `local:FOLDER`, or `endpoint`."""
    model: str = ""
    """Name of the model behind the endpoint. Without one, and without `local:FOLDER`, nobody is
    asked."""
    endpoint: Path | None = None
    """File whose table [endpoint] says where the server is and what it can do."""
    json: bool = False
    """Print the result as JSON in place of the table."""


def main(argv: Sequence[str]) -> int:
    """Attribute, write attribution.json into the run folder, and print the table."""
    config = resolve(AttributeConfig, "attribute", argv)
    found, scored = asyncio.run(_attributions(config))
    result = _result(found, scored)
    path = config.run / FILE
    try:
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}") from error
    if config.json:
        print(json.dumps(result, indent=1))
    else:
        _print(summarize(found), scored, path)
    return 0


def failures(run: Path) -> Markup:
    """A section for the report: causes with counts, and what to fix first.

    From attribution.json where the run has one, else worked out by the rules. Empty where nothing
    failed. Raises `StoreError`.
    """
    found = _read(run / FILE) if (run / FILE).is_file() else _ruled(AttributeConfig(run))[0]
    summary = summarize(found)
    if not summary.failures:
        return Markup()
    head = tag("tr", [tag("th", name) for name in _COLUMNS])
    rows = [tag("tr", [tag("td", cell) for cell in cells]) for cells in _cells(summary)]
    return tag(
        "section",
        tag("h2", "Why episodes failed"),
        tag("p", summary.first, class_="soft"),
        tag("table", tag("thead", head), tag("tbody", rows)),
    )


async def _attributions(config: AttributeConfig) -> tuple[list[Attribution], int]:
    """What each failure is put down to, and of how many episodes there is a verdict."""
    found, scored = _ruled(config)
    unknown = [index for index, one in enumerate(found) if one.cause is Cause.UNKNOWN]
    model = _model(config)
    if model is None or not unknown:
        return found, scored
    try:
        for index in unknown:
            found[index] = await _asked(model, config.run, found[index].episode)
    finally:
        await model.close()
    return found, scored


def _ruled(config: AttributeConfig) -> tuple[list[Attribution], int]:
    where: dict[str, Any] = {"phase": config.phase} if config.phase else {}
    found, scored = [], 0
    with Store.open(config.run) as store:
        scores, judged = store.scores("finished", **where), kept(store)
        for episode in store.trajectories("finished", world="browser", **where):
            given = scores.get(episode.id, ())
            failed = has_failed(episode, given)
            scored += failed or any(score.name == "success" for score in given)
            if failed:
                judgement = judged.get(episode.id)
                found.append(attribute(episode, given, judgement, trusted=config.trust))
    return found, scored


async def _asked(model: Model, run: Path, episode: str) -> Attribution:
    with Store.open(run) as store:
        trajectory = store.load(episode)
        if trajectory is None:
            raise StoreError(f"the episode {episode} is no longer in {run}")
        given = store.scores("finished", id=episode).get(episode, ())
        return await ask_cause(model, trajectory, given, store.images.get)


def _model(config: AttributeConfig) -> Model | None:
    """The model that was named, if any."""
    if not config.model and config.policy == "endpoint" and config.endpoint is None:
        return None
    served = load_endpoint(config.endpoint) if config.endpoint else None
    return Contestant(config.policy, config.model, served).language_model()


def _result(found: Sequence[Attribution], scored: int) -> dict[str, Any]:
    return {
        "episodes": scored,
        "summary": asdict(summarize(found)),
        "failures": [asdict(one) for one in found],
    }


def _read(path: Path) -> list[Attribution]:
    """What was written. Raises `StoreError`."""
    from pydantic import TypeAdapter, ValidationError

    try:
        stored = json.loads(path.read_text(encoding="utf-8"))["failures"]
        return TypeAdapter(list[Attribution]).validate_python(stored)
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise StoreError(
            f"{path} cannot be read ({error}); write it again with `webagent attribute`"
        ) from error


_COLUMNS = ("cause", "failures", "share", "kinds", "tasks", "sites", "see")


def _cells(summary: FailureSummary) -> list[tuple[str, ...]]:
    return [
        (
            str(row.cause),
            str(row.count),
            f"{row.share.value:.0%} ({row.share.low:.0%} to {row.share.high:.0%})",
            _named(row.kinds),
            _named([(_task_name(task), count) for task, count in row.by_task]),
            _named(row.by_site),
            row.examples[0],
        )
        for row in summary.causes
    ]


def _task_name(task: str) -> str:
    return task.rsplit("/", 1)[-1].split("@", 1)[0]


def _named(counts: Sequence[tuple[str, int]]) -> str:
    shown = [f"{name or 'none'} {count}" for name, count in counts[:_SHOWN]]
    more = len(counts) - len(shown)
    return ", ".join([*shown, f"{more} more"] if more > 0 else shown)


def _print(summary: FailureSummary, scored: int, path: Path) -> None:
    console = Console()
    console = console if console.is_terminal else Console(width=_WIDTH)
    if not summary.failures:
        console.print(f"none of {scored} episodes with a verdict failed", highlight=False)
        return
    title = f"why {summary.failures} of {scored} episodes failed"
    table = Table(title=title, box=None)
    for name in _COLUMNS:
        table.add_column(name, justify="right" if name == "failures" else "left")
    for cells in _cells(summary):
        table.add_row(*map(escape, cells))
    console.print(table)
    unknown = f"{summary.unknown} could not be put down to anything"
    console.print(escape(f"• {unknown}; all of them with their evidence: {path}"), highlight=False)
    console.print(f"[bold]{escape(summary.first)}[/bold]", highlight=False)
