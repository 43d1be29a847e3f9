"""A judge that looks: a model is shown what was seen, and says what it found before the outcome."""

from evaluators.judge.examination import (
    Examination,
    KeyPoint,
    PointFound,
    Shown,
    Spending,
    Vote,
    read_examination,
)
from evaluators.judge.judge import Examiner, examiner, judge_variant, looking_judge
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.variants import VARIANTS, Variant

__all__ = [
    "VARIANTS",
    "Examination",
    "Examiner",
    "JudgeSettings",
    "KeyPoint",
    "PointFound",
    "Shown",
    "Spending",
    "Variant",
    "Vote",
    "examiner",
    "judge_variant",
    "looking_judge",
    "read_examination",
]
