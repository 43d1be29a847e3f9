"""How far an evaluator agrees with people, people with each other, and how sure that is."""

from evaluators.agreement.agree import Agreement, agreement, by_group
from evaluators.agreement.calibration import Bin, Calibration, calibration
from evaluators.agreement.ceiling import Ceiling, ceiling
from evaluators.agreement.compare import Comparison, compare
from evaluators.agreement.measures import MEASURES, Counts
from evaluators.agreement.pairs import Pair, Truths, paired, truths

__all__ = [
    "MEASURES",
    "Agreement",
    "Bin",
    "Calibration",
    "Ceiling",
    "Comparison",
    "Counts",
    "Pair",
    "Truths",
    "agreement",
    "by_group",
    "calibration",
    "ceiling",
    "compare",
    "paired",
    "truths",
]
