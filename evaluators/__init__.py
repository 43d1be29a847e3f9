"""How well it went: a finished trajectory in, a value with its reason out."""

from evaluators.combine import Tally, cascade, unsure_abstains, vote
from evaluators.evaluator import Evaluator, Judged, Verdict, evaluator
from evaluators.frozen import FrozenJudge, freeze, refuse_frozen, verify
from evaluators.judge import VARIANTS, JudgeSettings, examiner, judge_variant, looking_judge
from evaluators.rules import RULES, checks_hold, rule

__all__ = [
    "RULES",
    "VARIANTS",
    "Evaluator",
    "FrozenJudge",
    "JudgeSettings",
    "Judged",
    "Tally",
    "Verdict",
    "cascade",
    "checks_hold",
    "evaluator",
    "examiner",
    "freeze",
    "judge_variant",
    "looking_judge",
    "refuse_frozen",
    "rule",
    "unsure_abstains",
    "verify",
    "vote",
]
