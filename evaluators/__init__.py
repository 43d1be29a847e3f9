"""How well it went: a finished trajectory in, a value with its reason out."""

from evaluators.combine import Tally, cascade, unsure_abstains, vote
from evaluators.evaluator import Evaluator, Judged, Verdict, evaluator
from evaluators.frozen import FrozenJudge, freeze, refuse_frozen, verify
from evaluators.judge import JudgeSettings, looking_judge
from evaluators.rules import RULES, checks_hold, rule

__all__ = [
    "RULES",
    "Evaluator",
    "FrozenJudge",
    "JudgeSettings",
    "Judged",
    "Tally",
    "Verdict",
    "cascade",
    "checks_hold",
    "evaluator",
    "freeze",
    "looking_judge",
    "refuse_frozen",
    "rule",
    "unsure_abstains",
    "verify",
    "vote",
]
