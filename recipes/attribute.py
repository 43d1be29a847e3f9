"""`webagent attribute`: why a run's episodes failed, and what to fix first."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from tyro.conf import OmitArgPrefixes, Positional

from evaluators.attribution import Attribution, Cause, FailureSummary, ask_cause, summarize
from loop.console.output import CommandResult, build_table, results_console
from loop.failures import COLUMNS, FILE, attribute_failures, format_rows
from loop.policies import ModelChoice
from recipes.settings import resolve
from webagent.errors import StoreError
from webagent.files import write_whole
from webagent.models import Model
from webagent.store import Store


@dataclass(frozen=True)
class AttributeConfig:
    """Find out why episodes of a run failed, and what to fix first."""

    run: Positional[Path] = Path()
    """The run folder. Default: the current folder."""
    phase: str = ""
    """Only episodes of this phase, such as `evaluate` or `collect`. Default: all."""
    trust: str = ""
    """First characters of the ids of evaluators that count as ground truth: where others contradict
    them, the judge is at fault. Default: the judge of the run."""
    asked: OmitArgPrefixes[ModelChoice] = field(default_factory=ModelChoice)
    """Model to query where the rules find no cause. Default: none."""


class Attributed(TypedDict):
    """The content of `attribution.json`."""

    episodes: int
    """Episodes with a verdict."""
    summary: dict[str, Any]
    """Causes with their counts, `unknown`, and what to fix `first`."""
    failures: list[dict[str, Any]]
    """All failed episodes with their causes and the evidence."""


def main(argv: Sequence[str]) -> CommandResult:
    """Attribute failures, write attribution.json into the run folder, and print the table."""
    config = resolve(AttributeConfig, "attribute", argv)
    found, scored = asyncio.run(_attributions(config))
    result = {
        "episodes": scored,
        "summary": asdict(summarize(found)),
        "failures": [asdict(one) for one in found],
    }
    path = write_whole(config.run / FILE, json.dumps(result, indent=1) + "\n")
    _print(summarize(found), scored, path)
    return CommandResult(result)


async def _attributions(config: AttributeConfig) -> tuple[list[Attribution], int]:
    """Return the cause of each failure, and how many episodes have a verdict."""
    found, scored = attribute_failures(config.run, config.phase, config.trust)
    unknown = [index for index, one in enumerate(found) if one.cause is Cause.UNKNOWN]
    model = config.asked.contestant().language_model() if config.asked.is_named else None
    if model is None or not unknown:
        return found, scored
    try:
        for index in unknown:
            found[index] = await _asked(model, config.run, found[index].episode)
    finally:
        await model.close()
    return found, scored


async def _asked(model: Model, run: Path, episode: str) -> Attribution:
    with Store.open(run) as store:
        trajectory = store.load(episode)
        if trajectory is None:
            raise StoreError(f"the episode {episode} is no longer in {run}")
        given = store.scores("finished", id=episode).get(episode, ())
        return await ask_cause(model, trajectory, given, store.images.get)


def _print(summary: FailureSummary, scored: int, path: Path) -> None:
    console = results_console()
    if not summary.failures:
        unjudged = "no episode has a verdict yet: webagent judge gives them"
        said = f"none of {scored} episodes with a verdict failed" if scored else unjudged
        console.print(said)
        return
    title = f"why {summary.failures} of {scored} episodes did not succeed"
    console.print(build_table(title, COLUMNS, format_rows(summary), right=("failures",)))
    unknown = f"{summary.unknown} could not be put down to anything"
    console.print(f"• {unknown}; all of them with their evidence: {path}")
    console.print(summary.first, "bold")
