"""Finished episodes that look like successes and are none, to try a judge on."""

from evaluators.adversarial.corpus import KINDS, Case, load_corpus, read_cases
from evaluators.adversarial.standing import MOST_FOOLED, Standing, Tally, pass_rates

__all__ = [
    "KINDS",
    "MOST_FOOLED",
    "Case",
    "Standing",
    "Tally",
    "load_corpus",
    "pass_rates",
    "read_cases",
]
