"""A judge that looks: a model is shown what was seen, and says what it found before the outcome."""

from evaluators.judge.judge import (
    VARIANTS,
    JudgeVariant,
    ModelJudge,
    build_judge,
    judge_variant,
    looking_judge,
)
from evaluators.judge.report import (
    JudgeReport,
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
    "JudgeReport",
    "JudgeSettings",
    "JudgeVariant",
    "JudgeVote",
    "KeyPoint",
    "ModelJudge",
    "PointFinding",
    "ShownPage",
    "Spending",
    "build_judge",
    "judge_variant",
    "looking_judge",
    "read_report",
]
