"""What is brought to an episode from finished ones: demonstrations, hints, reflections."""

from webagent.policy.knowledge.exemplars import Exemplar, Exemplars, exemplar_of
from webagent.policy.knowledge.hints import Hints, read_book, site_of, write_book
from webagent.policy.knowledge.induction import Induced, Induction, induce
from webagent.policy.knowledge.knowledge import Knowledge
from webagent.policy.knowledge.learning import learn
from webagent.policy.knowledge.reflections import Reflection, Reflections, reflect
from webagent.policy.knowledge.rulebook import Rule, RuleBook, credit
from webagent.policy.knowledge.similarity import embedded, lexical

__all__ = [
    "Exemplar",
    "Exemplars",
    "Hints",
    "Induced",
    "Induction",
    "Knowledge",
    "Reflection",
    "Reflections",
    "Rule",
    "RuleBook",
    "credit",
    "embedded",
    "exemplar_of",
    "induce",
    "learn",
    "lexical",
    "read_book",
    "reflect",
    "site_of",
    "write_book",
]
