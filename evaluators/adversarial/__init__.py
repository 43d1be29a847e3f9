"""Finished episodes that look like successes and are none, to try a judge on."""

from evaluators.adversarial.corpus import (
    KINDS,
    MOST_FOOLED,
    AdversarialCase,
    AdversarialResult,
    load_corpus,
    measure_pass_rates,
    read_cases,
)

__all__ = [
    "KINDS",
    "MOST_FOOLED",
    "AdversarialCase",
    "AdversarialResult",
    "load_corpus",
    "measure_pass_rates",
    "read_cases",
]
