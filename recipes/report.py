"""`webagent report`: a run's page and tables, written again, and its figures as pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from apps.report.page import write_report
from loop.console.output import CommandResult
from loop.failures import summarize_failures
from loop.summary.schema import RunSummary
from recipes.settings import resolve


@dataclass(frozen=True)
class ReportConfig:
    """Write a run's page again, one file that can be sent to anybody, and print its tables."""

    run: Positional[Path] = Path()
    """The run folder; this one when none is named."""
    html: Path | None = None
    """Where the page is written; report.html in the run folder when no file is named."""
    png: Path | None = None
    """Folder for pictures: success with its intervals, costs, causes of failures."""


class Reported(RunSummary):
    """The run's figures, and what was written of them."""

    plots: list[str]
    """The pictures, with `--png`."""


def main(argv: Sequence[str]) -> CommandResult:
    """Write the page beside the summary it is made from, or where it is wanted."""
    from apps.report.page import write_plots
    from loop.summary import print_summary, read_summary
    from webagent.store import Store

    config = resolve(ReportConfig, "report", argv)
    with Store.open(config.run) as store:
        summary = read_summary(config.run)
        page = write_report(summary, store, config.run, config.html)
    plots: list[Path] = []
    if config.png is not None:
        plots = write_plots(summary, summarize_failures(config.run, "evaluate"), config.png)
    print_summary(summary)
    print(f"\nreport: {page}")
    for plot in plots:
        print(f"plot: {plot}")
    facts = {"run": str(config.run), "report": str(page), "plots": [str(plot) for plot in plots]}
    return CommandResult({**summary, **facts})
