"""`webagent report`: rewrite a run's page and tables, and plot its figures."""

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
    """Rewrite a run's page, a single file that can be shared, and print its tables."""

    run: Positional[Path] = Path()
    """The run folder. Default: the current folder."""
    html: Path | None = None
    """File to write the page to. Default: report.html in the run folder."""
    png: Path | None = None
    """Folder for plots: success with intervals, costs, causes of failure."""


class Reported(RunSummary):
    """The run's figures, and the files written."""

    plots: list[str]
    """The plots, with `--png`."""


def main(argv: Sequence[str]) -> CommandResult:
    """Write the page next to its summary, or to the given file."""
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
