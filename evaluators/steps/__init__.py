"""What each step of an episode was worth: progress, mistakes and repetitions, for trainers."""

from evaluators.steps.judgement import (
    JudgedStep,
    StepJudgement,
    build_value,
    judge_by_value,
    label_steps,
    load_episode_judgements,
    load_judgements,
    reward_steps,
    store_judgements,
    weigh_steps,
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
    "build_value",
    "has_model_failed",
    "judge_by_model",
    "judge_by_rules",
    "judge_by_value",
    "label_steps",
    "load_episode_judgements",
    "load_judgements",
    "name_model_source",
    "reward_steps",
    "store_judgements",
    "weigh_steps",
]
