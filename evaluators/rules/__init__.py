"""Task checks: pure functions of the evidence that was captured before the page closed."""

from evaluators.rules import numbers as numbers
from evaluators.rules import values as values
from evaluators.rules.checks import checks_hold, each_check
from evaluators.rules.rule import (
    CONSULTING_RULES,
    RULES,
    ConsultingRule,
    Means,
    Question,
    Rule,
    consulting_rule,
    rule,
)

__all__ = [
    "CONSULTING_RULES",
    "RULES",
    "ConsultingRule",
    "Means",
    "Question",
    "Rule",
    "checks_hold",
    "consulting_rule",
    "each_check",
    "rule",
]
