"""A judge that looks: a model is shown what was seen, and says what it found before the outcome."""

from evaluators.judge.judge import VARIANTS, build_judge, judge_variant
from evaluators.judge.report import JudgementReport, KeyPoint
from evaluators.judge.session import JudgeSettings

__all__ = [
    "VARIANTS",
    "JudgeSettings",
    "JudgementReport",
    "KeyPoint",
    "build_judge",
    "judge_variant",
]
