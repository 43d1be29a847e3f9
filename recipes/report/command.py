"""`webagent report`: a run's page and tables, written again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from recipes.config import resolve
from recipes.outcome import Outcome
from recipes.report.page import write_report


@dataclass(frozen=True)
class ReportConfig:
    """Write report.html again from a run folder, and print its tables."""

    run: Positional[Path] = Path()
    """The run folder; this one when none is named."""


def main(argv: Sequence[str]) -> Outcome:
    """Write the page beside the summary it is made from."""
    from recipes.summary import print_summary, read_summary
    from webagent.store import Store

    config = resolve(ReportConfig, "report", argv)
    with Store.open(config.run) as store:
        summary = read_summary(config.run)
        page = write_report(summary, store, config.run)
    print_summary(summary)
    print(f"\nreport: {page}")
    return Outcome({**summary, "run": str(config.run), "report": str(page)})
