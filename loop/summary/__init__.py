"""A run in numbers: success by arm, round and task, with intervals, costs and origin."""

from loop.summary.markdown import as_markdown
from loop.summary.measure import summarize
from loop.summary.shape import (
    ArmRow,
    Comparison,
    Rate,
    RoundRow,
    RunMeta,
    Summary,
    read_summary,
    read_summary_file,
    write_summary,
)
from loop.summary.tables import print_summary
from loop.summary.words import compared, headline

__all__ = [
    "ArmRow",
    "Comparison",
    "Rate",
    "RoundRow",
    "RunMeta",
    "Summary",
    "as_markdown",
    "compared",
    "headline",
    "print_summary",
    "read_summary",
    "read_summary_file",
    "summarize",
    "write_summary",
]
