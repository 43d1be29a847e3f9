"""Every rule that checks can name: the generic ones and those that benchmarks bring.

Whoever scores episodes of any benchmark imports from here; importing registers all rules.
"""

from benchmarks.mind2web_live import key_nodes as key_nodes
from benchmarks.sites import state_rules as state_rules
from benchmarks.webarena import verified as verified
from benchmarks.webarena.rules import asked as asked
from benchmarks.webarena.rules import corrected as corrected
from benchmarks.webarena.rules import pictures as pictures
from benchmarks.webarena.rules import references as references
from benchmarks.webarena.rules import visualwebarena as visualwebarena
from benchmarks.webarena.rules import webarena as webarena
from benchmarks.webarena.rules import webchorearena as webchorearena
from benchmarks.webarena.rules.differences import Difference, differences
from benchmarks.webarena.rules.pictures import with_folder
from evaluators.rules import (
    CONSULTING_RULES,
    RULES,
    Means,
    Question,
    Rule,
    checks_hold,
    consulting_rule,
    each_check,
    rule,
)

__all__ = [
    "CONSULTING_RULES",
    "RULES",
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
