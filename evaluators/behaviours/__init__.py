"""Metrics induced from people's open feedback: what they find good and bad, told apart."""

from evaluators.behaviours.feedback import (
    Aspect,
    Feedback,
    Grounded,
    Metric,
    compare_groupings,
    ground,
    group_texts,
    read_feedback,
    split_remarks,
)
from evaluators.behaviours.induce import (
    InducedMetrics,
    MetricQuality,
    Trait,
    format_json,
    format_markdown,
    induce_by_model,
    induce_by_words,
    rate_episode,
)

__all__ = [
    "Aspect",
    "Feedback",
    "Grounded",
    "InducedMetrics",
    "Metric",
    "MetricQuality",
    "Trait",
    "compare_groupings",
    "format_json",
    "format_markdown",
    "ground",
    "group_texts",
    "induce_by_model",
    "induce_by_words",
    "rate_episode",
    "read_feedback",
    "split_remarks",
]
