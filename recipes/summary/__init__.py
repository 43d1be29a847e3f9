"""A run in numbers: success by arm, round and task, with intervals, costs and origin."""

from recipes.summary.markdown import as_markdown
from recipes.summary.measure import summarize
from recipes.summary.shape import (
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
from recipes.summary.tables import print_summary
from recipes.summary.words import compared, headline

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
