"""`webagent report --failures`: why a run's episodes failed, and what to fix first."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict

from evaluators.attribution import Attribution, Cause, FailureSummary, ask_cause, summarize
from loop.console.output import CommandResult
from loop.console.screen import build_table, results_console
from loop.failures import COLUMNS, FILE, attribute_failures, format_rows
from loop.policies import ModelChoice
from webagent.errors import StoreError
from webagent.files import write_whole
from webagent.store import Store


class Attributed(TypedDict):
    """The content of `attribution.json`."""

    episodes: int
    """Episodes with a verdict."""
    phase: str
    """Phase they are of; empty for all."""
    arm: str
    """Arm they are of, in a run that compares arms; empty for all."""
    round: int
    """Its last round; 0 for all."""
    summary: dict[str, Any]
    """Causes with their counts, `unknown`, and what to fix `first`."""
    failures: list[dict[str, Any]]
    """All failed episodes with their causes and the evidence."""


def explain_failures(run: Path, phase: str, trust: str, choice: ModelChoice) -> CommandResult:
    """Attribute failures, write attribution.json into the run folder, and print the table.

    The model is queried where the rules find no cause, if it is named.
    """
    found, scored, chosen = attribute_failures(run, phase, trust)
    if choice.is_named and any(one.cause is Cause.UNKNOWN for one in found):
        model = choice.contestant().language_model()

        async def ask_unknown() -> list[Attribution]:
            known: list[Attribution] = []
            try:
                with Store.open(run) as store:
                    for one in found:
                        if one.cause is Cause.UNKNOWN:
                            trajectory = store.load(one.episode)
                            if trajectory is None:
                                raise StoreError(f"the episode {one.episode} is no longer in {run}")
                            given = store.scores("finished", id=one.episode).get(one.episode, ())
                            one = await ask_cause(model, trajectory, given, store.images.get)
                        known.append(one)
            finally:
                await model.close()
            return known

        found = asyncio.run(ask_unknown())
    summary = summarize(found, chosen.name())
    result = {
        "episodes": scored,
        "phase": chosen.phase,
        "arm": chosen.arm,
        "round": chosen.round,
        "summary": asdict(summary),
        "failures": [asdict(one) for one in found],
    }
    path = write_whole(run / FILE, json.dumps(result, indent=1) + "\n")
    _print(summary, f"{scored} {chosen.name()}", path)
    return CommandResult(result)


def _print(summary: FailureSummary, scored: str, path: Path) -> None:
    console = results_console()
    if not summary.failures:
        unjudged = "no episode has a verdict yet: webagent judge gives them"
        is_scored = not scored.startswith("0 ")
        console.print(f"none of {scored} with a verdict failed" if is_scored else unjudged)
        return
    title = f"why {summary.failures} of {scored} did not succeed"
    console.print(build_table(title, COLUMNS, format_rows(summary), right=("failures",)))
    unknown = f"{summary.unknown} could not be put down to anything"
    console.print(f"• {unknown}; all of them with their evidence: {path}")
    console.print(summary.first, style="bold")
