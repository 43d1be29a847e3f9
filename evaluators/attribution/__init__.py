"""Why episodes failed: one cause for each failure, and what to fix first."""

from evaluators.attribution.attribute import attribute, has_failed
from evaluators.attribution.cause import Attribution, Cause

__all__ = ["Attribution", "Cause", "attribute", "has_failed"]
