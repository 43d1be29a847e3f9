"""How well it went: a finished trajectory in, a value with its reason out."""

from evaluators.combine import EvaluatorTally, cascade, unsure_abstains, vote
from evaluators.evaluator import Evaluator, FunctionEvaluator, Verdict, evaluator
from evaluators.frozen import FrozenJudge, freeze, refuse_frozen, verify
from evaluators.judge import VARIANTS, VariantSettings, build_judge, judge_variant
from evaluators.rules import RULES, checks_hold, rule

__all__ = [
    "RULES",
    "VARIANTS",
    "Evaluator",
    "EvaluatorTally",
    "FrozenJudge",
    "FunctionEvaluator",
    "VariantSettings",
    "Verdict",
    "build_judge",
    "cascade",
    "checks_hold",
    "evaluator",
    "freeze",
    "judge_variant",
    "refuse_frozen",
    "rule",
    "unsure_abstains",
    "verify",
    "vote",
]
