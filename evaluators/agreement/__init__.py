"""How far an evaluator agrees with people, people with each other, and how sure that is."""

from evaluators.agreement.agree import (
    Agreement,
    Ceiling,
    EvaluatorComparison,
    compare,
    compute_agreement,
    measure_by_group,
    measure_calibration,
    measure_ceiling,
)
from evaluators.agreement.measures import LabelledScore, Truths, decide_truths, pair_scores

__all__ = [
    "Agreement",
    "Ceiling",
    "EvaluatorComparison",
    "LabelledScore",
    "Truths",
    "compare",
    "compute_agreement",
    "decide_truths",
    "measure_by_group",
    "measure_calibration",
    "measure_ceiling",
    "pair_scores",
]
