"""A run in numbers: success by arm, round and task, with intervals, costs and origin."""

from loop.summary.format import format_comparison, format_headline, format_story, print_summary
from loop.summary.measure import summarize
from loop.summary.schema import (
    ArmComparison,
    ArmRow,
    EpisodeRate,
    RunMeta,
    Summary,
    read_summary,
    write_summary,
)

__all__ = [
    "ArmComparison",
    "ArmRow",
    "EpisodeRate",
    "RunMeta",
    "Summary",
    "format_comparison",
    "format_headline",
    "format_story",
    "print_summary",
    "read_summary",
    "summarize",
    "write_summary",
]
