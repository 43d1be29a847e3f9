"""A judge that looks: a model is shown what was seen, and says what it found before the outcome."""

from evaluators.judge.judge import VARIANTS, build_judge, judge_variant
from evaluators.judge.report import JudgementReport, KeyPoint
from evaluators.judge.session import VariantSettings

__all__ = [
    "VARIANTS",
    "JudgementReport",
    "KeyPoint",
    "VariantSettings",
    "build_judge",
    "judge_variant",
]
