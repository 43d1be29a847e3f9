"""`webagent report`: what a run shows: its page and tables, its failures, or several runs as
one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tyro.conf import OmitArgPrefixes, Positional

from apps.report.page import write_report
from loop.console.output import CommandResult
from loop.policies import ModelChoice
from loop.summary import print_summary, read_summary
from recipes.settings import resolve
from webagent.errors import UsageError
from webagent.store import Store


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
    """Find out why episodes failed and what to fix first, and write attribution.json into the run
    folder."""
    trust: str = ""
    """With --failures: first characters of the ids of evaluators that count as ground truth: where
    others contradict them, the judge is at fault. Default: the judge of the run."""
    phase: str = ""
    """With --failures: only episodes of this phase, such as `collect`. Default: `evaluate`, if the
    run has any."""
    model: OmitArgPrefixes[ModelChoice] = field(default_factory=ModelChoice)
    """Model to query about failures that no rule explains, if one is named."""


def main(argv: Sequence[str]) -> CommandResult:
    """Report on the run, or on one aspect of it. Raises `UsageError` for several at once."""
    config = resolve(ReportConfig, "report", argv)
    if config.into and config.failures:
        raise UsageError("--into and --failures each replace the report; give one")
    if config.into:
        from recipes.merge import merge_runs

        return merge_runs(config.runs, config.into, ["webagent", "report", *argv])
    if len(config.runs) != 1:
        raise UsageError("several runs are reported on as one with --into NAME")
    (run,) = config.runs
    if config.failures:
        from recipes.failures import explain_failures

        return explain_failures(run, config.phase, config.trust, config.model)
    with Store.open(run) as store:
        summary = read_summary(run)
        page = write_report(summary, store, run, config.html)
    print_summary(summary)
    print(f"\nreport: {page}")
    return CommandResult({**summary, "run": str(run), "report": str(page)})
