"""Metrics induced from people's open feedback: what they find good and bad, told apart."""

from evaluators.behaviours.feedback import (
    Aspect,
    Feedback,
    Grounded,
    ground,
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
from evaluators.behaviours.metrics import Metric, compare_groupings, group_texts

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
