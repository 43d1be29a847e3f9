"""Task checks: pure functions of the evidence that was captured before the page closed."""

from evaluators.rules import answers as answers
from evaluators.rules.checks import (
    CONSULTING_RULES,
    RULES,
    Means,
    Rule,
    RuleQuestion,
    checks_hold,
    consulting_rule,
    is_infeasible,
    rule,
    run_each_check,
)

__all__ = [
    "CONSULTING_RULES",
    "RULES",
    "Means",
    "Rule",
    "RuleQuestion",
    "checks_hold",
    "consulting_rule",
    "is_infeasible",
    "rule",
    "run_each_check",
]
