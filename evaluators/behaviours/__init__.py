"""Metrics induced from people's open feedback: what they find good and bad, told apart."""

from evaluators.behaviours.aspects import Aspect, Feedback, as_written, read_feedback
from evaluators.behaviours.clustering import adjusted_rand, grouped
from evaluators.behaviours.coverage import Meta, Trait, rated
from evaluators.behaviours.grounding import Grounded, ground
from evaluators.behaviours.induce import Induced, induce_by_model, induce_by_words
from evaluators.behaviours.metrics import Metric
from evaluators.behaviours.writing import as_json, as_markdown

__all__ = [
    "Aspect",
    "Feedback",
    "Grounded",
    "Induced",
    "Meta",
    "Metric",
    "Trait",
    "adjusted_rand",
    "as_json",
    "as_markdown",
    "as_written",
    "ground",
    "grouped",
    "induce_by_model",
    "induce_by_words",
    "rated",
    "read_feedback",
]
