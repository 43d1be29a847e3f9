"""`webagent report`: what a run shows: its page and tables, failures, or several runs as one."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict

from tyro.conf import Positional

from apps.report.page import write_report
from evaluators.attribution import summarize
from loop.console.output import CommandResult
from loop.console.screen import build_table, results_console
from loop.failures import COLUMNS, FILE, attribute_failures, format_rows
from loop.summary import print_summary, read_summary
from recipes.settings import resolve
from webagent.errors import UsageError
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


@dataclass(frozen=True)
class ReportConfig:
    """Rewrite a run's page, a single file that can be shared, and print its tables; or join runs,
    or find out why episodes failed."""

    runs: Positional[tuple[Path, ...]] = (Path(),)
    """The run folder, or with --into several. Default: the current folder."""
    html: Path | None = None
    """File to write the page to. Default: report.html in the run folder."""
    into: str = ""
    """Join finished runs of `webagent improve` that differ in their repeats alone, such as a job
    array's, into a new run of this name beside the first, with intervals over all repeats."""
    failures: bool = False
    """Find out why episodes failed and what to fix first; write attribution.json to the folder."""
    trust: str = ""
    """With --failures: first characters of the ids of evaluators that count as ground truth: where
    others contradict them, the judge is at fault. Default: the judge of the run."""
    phase: str = ""
    """With --failures: only episodes of this phase, such as `collect`. Default: `evaluate`, if the
    run has any."""


def main(argv: Sequence[str]) -> CommandResult:
    """Report on the run, or attribute its failures and write attribution.json into its folder.
    Raises `UsageError` for several at once."""
    config = resolve(ReportConfig, "report", argv)
    if config.into and config.failures:
        raise UsageError("--into and --failures each replace the report; give one")
    if config.into:
        from recipes.merge import merge_runs

        return merge_runs(config.runs, config.into, ["webagent", "report", *argv])
    if len(config.runs) != 1:
        raise UsageError("several runs are reported on as one with --into NAME")
    (run,) = config.runs
    if not config.failures:
        with Store.open(run) as store:
            summary = read_summary(run)
            page = write_report(summary, store, run, config.html)
        print_summary(summary)
        print(f"\nreport: {page}")
        return CommandResult({**summary, "run": str(run), "report": str(page)})
    found, scored, chosen = attribute_failures(run, config.phase, config.trust)
    causes = summarize(found, chosen.name())
    result = {
        "episodes": scored,
        "phase": chosen.phase,
        "arm": chosen.arm,
        "round": chosen.round,
        "summary": asdict(causes),
        "failures": [asdict(one) for one in found],
    }
    path = write_whole(run / FILE, json.dumps(result, indent=1) + "\n")
    console, episodes = results_console(), f"{scored} {chosen.name()}"
    if not causes.failures:
        unjudged = "no episode has a verdict yet: webagent judge gives them"
        console.print(f"none of {episodes} with a verdict failed" if scored else unjudged)
        return CommandResult(result)
    title = f"why {causes.failures} of {episodes} did not succeed"
    console.print(build_table(title, COLUMNS, format_rows(causes), right=("failures",)))
    unknown = f"{causes.unknown} could not be put down to anything"
    console.print(f"• {unknown}; all of them with their evidence: {path}")
    console.print(causes.first, style="bold")
    return CommandResult(result)
