"""The scorer: learns which descriptors to trust, one set of weights for all tasks.

A softmax over candidates whose features say by which families of descriptors they were found and
how many of the recalled cases agree. Trained by leaving the own episode out of the recall.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from webagent.memory.constants import (
    BY_GOAL,
    ENOUGH_LESSONS,
    LEARNING_RATE,
    LEARNING_STEPS,
    OVERALL,
)

Array = NDArray[np.float64]


@dataclass(slots=True)
class Question:
    """Candidates of one choice, as names and values of their features, and which are right."""

    features: list[dict[str, float]]
    right: list[bool]


@dataclass(slots=True)
class Scorer:
    """Weights by the name of a feature; one that was never met has its prior."""

    weights: dict[str, float] = field(default_factory=dict)

    def score(self, features: dict[str, float]) -> float:
        """Return the candidate's score: a logit."""
        weights = self.weights
        return sum(
            value * (weights[n] if n in weights else prior(n)) for n, value in features.items()
        )

    def probabilities(self, candidates: Sequence[dict[str, float]]) -> Array:
        """Return how likely each candidate is."""
        logits = np.array([self.score(each) for each in candidates])
        powers = np.exp(logits - logits.max())
        return np.asarray(powers / powers.sum())

    def learn(self, questions: Sequence[Question], pull: float = 0.01) -> float:
        """Fit the weights to questions, pulled towards their priors, the more the fewer they are;
        return the mean loss in nats.

        Questions without a right candidate, or with nothing but right ones, teach nothing.
        """
        lessons = [q for q in questions if any(q.right) and not all(q.right)]
        if not lessons:
            return 0.0
        pull *= max(1.0, ENOUGH_LESSONS / len(lessons))
        names = sorted({name for q in lessons for each in q.features for name in each})
        places = {name: i for i, name in enumerate(names)}
        rows, columns, values = [], [], []
        starts, right = [], []
        row = 0
        for question in lessons:
            starts.append(row)
            for features in question.features:
                for name, value in features.items():
                    rows.append(row)
                    columns.append(places[name])
                    values.append(value)
                row += 1
            right += question.right
        matrix = Sparse(np.array(rows), np.array(columns), np.array(values), row, len(names))
        start = np.array([prior(name) for name in names])
        weights, loss = fit(matrix, np.array(starts), np.array(right), start, pull)
        self.weights = dict(zip(names, weights.tolist(), strict=True))
        return loss


@dataclass(frozen=True, slots=True)
class Sparse:
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Array
    height: int
    width: int

    def times(self, weights: Array) -> Array:
        return np.bincount(self.rows, self.values * weights[self.columns], self.height).astype(
            np.float64
        )

    def transposed(self, errors: Array) -> Array:
        return np.bincount(self.columns, self.values * errors[self.rows], self.width).astype(
            np.float64
        )


def fit(
    matrix: Sparse,
    starts: NDArray[np.int64],
    right: NDArray[np.bool_],
    start: Array,
    pull: float,
    steps: int = LEARNING_STEPS,
) -> tuple[Array, float]:
    """Return the weights that make a right candidate likeliest, by Adam, and the loss in nats."""
    weights = start.copy()
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    sizes = np.diff([*starts, matrix.height])
    owner = np.repeat(np.arange(len(starts)), sizes)
    loss = 0.0
    for step in range(1, steps + 1):
        logits = matrix.times(weights)
        logits -= np.maximum.reduceat(logits, starts)[owner]
        powers = np.exp(logits)
        chosen = powers / np.add.reduceat(powers, starts)[owner]
        good = np.where(right, powers, 0.0)
        wanted = good / np.maximum(np.add.reduceat(good, starts), 1e-12)[owner]
        hit = np.add.reduceat(np.where(right, chosen, 0.0), starts)
        loss = float(-np.log(np.maximum(hit, 1e-12)).mean())
        gradient = matrix.transposed(chosen - wanted) / len(starts) + pull * (weights - start)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        rate = LEARNING_RATE * (1 - 0.9 * step / steps)
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights, loss


UNTAUGHT = "~"
"""Begins the features of actions for goals that nothing like was shown."""
_FOR = (
    *("memory", "memory log", "memory answer text", "memory element", "word", "unmet word"),
    *("is value", "holds value", "after entry", "fill next", "fill label", "done pressed"),
    *("done sent", "done acted word", "text question", "text label", "text amount", "text shape"),
)
_AGAINST = (
    *("repeated", "done before", "fill again", "fill is so", "done at once", "done unmet"),
    *("give up", "never used", "text count", "text in goal", "text no amount"),
)
_OVERALL = ("agreed", "nearest", "full", "best", "evidence", "wide", "shaped")
"""Features of a candidate that are not of one family of descriptors."""
_GOES_BY_GOAL = ("$", "@", "about", "wanted", "labelled")
"""Parts of the name of a family that goes by what the goal says: marks of its values, and kinds."""


@lru_cache(4096)
def prior(name: str) -> float:
    """Return what a feature counts before anything was learned: `OVERALL` where it speaks for a
    candidate and its negative where it speaks against it, `BY_GOAL` for a family of descriptors
    that goes by the goal, and nothing for all others."""
    if name.startswith(UNTAUGHT):
        name = name.removeprefix(UNTAUGHT)
        return OVERALL * ((name in _FOR) - (name in _AGAINST))
    if name in ("repeated", "used"):
        return -OVERALL
    if name == "another's":
        return -2 * BY_GOAL
    if name == "named value":  # both where a value goes and which it is
        return 2 * BY_GOAL
    if name in _OVERALL:
        return OVERALL
    return BY_GOAL if any(part in name for part in _GOES_BY_GOAL) else 0.0
