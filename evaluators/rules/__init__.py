"""Task checks: pure functions of the evidence that was captured before the page closed."""

from evaluators.rules import asked as asked
from evaluators.rules import corrected as corrected
from evaluators.rules import key_nodes as key_nodes
from evaluators.rules import numbers as numbers
from evaluators.rules import pictures as pictures
from evaluators.rules import references as references
from evaluators.rules import state as state
from evaluators.rules import values as values
from evaluators.rules import verified as verified
from evaluators.rules import visualwebarena as visualwebarena
from evaluators.rules import webarena as webarena
from evaluators.rules import webchorearena as webchorearena
from evaluators.rules.checks import checks_hold, each_check
from evaluators.rules.differences import Difference, differences
from evaluators.rules.pictures import with_folder
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
    "Difference",
    "Means",
    "Question",
    "Rule",
    "checks_hold",
    "consulting_rule",
    "differences",
    "each_check",
    "rule",
    "with_folder",
]
