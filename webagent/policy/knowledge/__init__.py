"""What is brought to an episode from finished ones: demonstrations, hints."""

from webagent.policy.knowledge.exemplars import Exemplar, Exemplars, exemplar_of
from webagent.policy.knowledge.hints import (
    Hints,
    Rule,
    RuleBook,
    credit_rules,
    read_book,
    site_of,
    write_book,
)
from webagent.policy.knowledge.learning import (
    InducedRules,
    InductionSettings,
    induce_rules,
    learn_rules,
)
from webagent.policy.knowledge.similarity import compare_by_words
from webagent.policy.policy import Knowledge

__all__ = [
    "Exemplar",
    "Exemplars",
    "Hints",
    "InducedRules",
    "InductionSettings",
    "Knowledge",
    "Rule",
    "RuleBook",
    "compare_by_words",
    "credit_rules",
    "exemplar_of",
    "induce_rules",
    "learn_rules",
    "read_book",
    "site_of",
    "write_book",
]
