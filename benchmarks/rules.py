"""Every rule that checks can name: the generic ones and those that benchmarks bring.

Whoever scores episodes of any benchmark imports from here; importing registers all rules.
"""

from importlib import import_module

from benchmarks.discovery import import_parts
from evaluators.rules import (
    CONSULTING_RULES,
    RULES,
    Means,
    Rule,
    RuleQuestion,
    checks_hold,
    consulting_rule,
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
    "rule",
    "run_each_check",
]

import_module("benchmarks.sites.rules")
import_parts("rules")
