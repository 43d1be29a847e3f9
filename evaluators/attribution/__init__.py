"""Why episodes failed: one cause for each failure, and what to fix first."""

from evaluators.attribution.attribute import attribute, has_failed
from evaluators.attribution.cause import Attribution, Cause
from evaluators.attribution.detective import DetectiveSettings, ask_cause
from evaluators.attribution.summary import CauseCount, FailureSummary, remedy, summarize

__all__ = [
    "Attribution",
    "Cause",
    "CauseCount",
    "DetectiveSettings",
    "FailureSummary",
    "ask_cause",
    "attribute",
    "has_failed",
    "remedy",
    "summarize",
]
