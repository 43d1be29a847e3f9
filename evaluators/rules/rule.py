"""What a rule is, and the table of rules that a task's checks name."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from evaluators.evaluator import Verdict
from tasks.task import Json
from webagent.models.model import Model

Rule: TypeAlias = Callable[[Json, Json], bool | Verdict]
"""Whether what was found is as expected, or a verdict that says more.

Raises `TypeError` when the two cannot be compared."""


@dataclass(frozen=True, slots=True)
class Means:
    """What rules may use besides the evidence; a rule that lacks its means abstains."""

    model: Model | None = None
    """For published checks that ask a language model, such as fuzzy matches."""
    images: Callable[[str], bytes] | None = None
    """An image by its reference. Raises `StoreError`."""


@dataclass(frozen=True, slots=True)
class RuleQuestion:
    """What a rule that needs means is asked."""

    found: Json
    expected: Json
    goal: str
    means: Means
    evidence: Mapping[str, Json] = field(default_factory=dict)
    """All of it, for a check that compares two pieces."""


ConsultingRule: TypeAlias = Callable[[RuleQuestion], Awaitable[Verdict]]
"""A rule that needs a model or images. Raises `TypeError` when there is nothing to compare."""

RULES: dict[str, Rule] = {}
CONSULTING_RULES: dict[str, ConsultingRule] = {}


def rule(function: Rule) -> Rule:
    """Register a rule under its function's name."""
    RULES[function.__name__] = function
    return function


def consulting_rule(function: ConsultingRule) -> ConsultingRule:
    """Register a rule that needs means under its function's name."""
    CONSULTING_RULES[function.__name__] = function
    return function
