"""Several evaluators as one, with what each of them costs: votes, and the cheap before the dear."""

from evaluators.combine.asking import Asked, CountedModel, ask
from evaluators.combine.cascade import cascade, unsure_abstains
from evaluators.combine.tally import Stage, Tally
from evaluators.combine.votes import majority, vote

__all__ = [
    "Asked",
    "CountedModel",
    "Stage",
    "Tally",
    "ask",
    "cascade",
    "majority",
    "unsure_abstains",
    "vote",
]
