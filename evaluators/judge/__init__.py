"""A judge that looks: a model is shown what was seen, and says what it found before the outcome."""

from evaluators.judge.judge import (
    VARIANTS,
    JudgeVariant,
    ModelJudge,
    build_judge,
    judge_variant,
)
from evaluators.judge.report import (
    JudgementReport,
    JudgeVote,
    KeyPoint,
    PointFinding,
    ShownPage,
    Spending,
    read_report,
)
from evaluators.judge.session import JudgeSettings

__all__ = [
    "VARIANTS",
    "JudgeSettings",
    "JudgeVariant",
    "JudgeVote",
    "JudgementReport",
    "KeyPoint",
    "ModelJudge",
    "PointFinding",
    "ShownPage",
    "Spending",
    "build_judge",
    "judge_variant",
    "read_report",
]
