"""A judge that looks: a model is shown what was seen, and says what it found before the outcome."""

from evaluators.judge.judge import JudgeSettings, looking_judge

__all__ = ["JudgeSettings", "looking_judge"]
