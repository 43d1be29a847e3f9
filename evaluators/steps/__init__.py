"""What each step of an episode was worth: progress, mistakes and repetitions, for trainers."""

from evaluators.steps.judgement import (
    JudgedStep,
    StepJudgement,
    label_steps,
    load_episode_judgements,
    load_judgements,
    reward_steps,
    store_judgements,
)
from evaluators.steps.model import (
    StepJudgeSettings,
    has_model_failed,
    judge_by_model,
    name_model_source,
)
from evaluators.steps.rules import judge_by_rules

__all__ = [
    "JudgedStep",
    "StepJudgeSettings",
    "StepJudgement",
    "has_model_failed",
    "judge_by_model",
    "judge_by_rules",
    "label_steps",
    "load_episode_judgements",
    "load_judgements",
    "name_model_source",
    "reward_steps",
    "store_judgements",
]
