"""Why episodes failed: one cause for each failure, and what to fix first."""

from evaluators.attribution.attribute import attribute, has_failed
from evaluators.attribution.cause import Attribution, Cause, FailureSummary, find_remedy, summarize

__all__ = [
    "Attribution",
    "Cause",
    "FailureSummary",
    "attribute",
    "find_remedy",
    "has_failed",
    "summarize",
]
