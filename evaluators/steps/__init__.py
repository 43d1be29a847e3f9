"""What each step of an episode was worth: progress, mistakes and repetitions, for trainers."""

from evaluators.steps.judgement import JudgedStep, Label, StepJudgement
from evaluators.steps.keeping import keep, kept, kept_of
from evaluators.steps.lessons import step_labels, step_rewards, step_weights
from evaluators.steps.rules import by_rules
from evaluators.steps.value import Value, by_value, value_of
from evaluators.steps.witness import StepJudge, StepJudgeSettings, by_model

__all__ = [
    "JudgedStep",
    "Label",
    "StepJudge",
    "StepJudgeSettings",
    "StepJudgement",
    "Value",
    "by_model",
    "by_rules",
    "by_value",
    "keep",
    "kept",
    "kept_of",
    "step_labels",
    "step_rewards",
    "step_weights",
    "value_of",
]
