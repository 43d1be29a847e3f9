"""The scorer: learns which descriptors to trust, one set of weights for all tasks.

A softmax over candidates whose features say by which families of descriptors they were found and
how many of the recalled cases agree. Trained by leaving the own episode out of the recall.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_RATE = 0.1
_STEPS = 150
_ENOUGH = 300
"""Questions below which the priors are held to more."""


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
        told = [q for q in questions if any(q.right) and not all(q.right)]
        if not told:
            return 0.0
        pull *= max(1.0, _ENOUGH / len(told))
        names = sorted({name for q in told for each in q.features for name in each})
        places = {name: i for i, name in enumerate(names)}
        rows, columns, values = [], [], []
        starts, right = [], []
        row = 0
        for question in told:
            starts.append(row)
            for features in question.features:
                for name, value in features.items():
                    rows.append(row)
                    columns.append(places[name])
                    values.append(value)
                row += 1
            right += question.right
        matrix = _Sparse(np.array(rows), np.array(columns), np.array(values), row, len(names))
        start = np.array([prior(name) for name in names])
        weights, loss = _fit(matrix, np.array(starts), np.array(right), start, pull)
        self.weights = dict(zip(names, weights.tolist(), strict=True))
        return loss


@dataclass(frozen=True, slots=True)
class _Sparse:
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


def _fit(
    matrix: _Sparse, starts: NDArray[np.int64], right: NDArray[np.bool_], start: Array, pull: float
) -> tuple[Array, float]:
    """Maximise the probability that some right candidate is chosen, by Adam over all questions."""
    weights = start.copy()
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    sizes = np.diff([*starts, matrix.height])
    owner = np.repeat(np.arange(len(starts)), sizes)
    loss = 0.0
    for step in range(1, _STEPS + 1):
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
        rate = _RATE * (1 - 0.9 * step / _STEPS)
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights, loss


UNTAUGHT = "~"
"""Begins the features of actions for goals that nothing like was shown."""
_PRIORS = {
    "~memory": 2.0,
    "~memory log": 0.3,
    "~word": 0.5,
    "~unmet word": 1.0,
    "~is value": 1.0,
    "~fill next": 1.0,
    "~fill label": 1.0,
    "~fill again": -1.0,
    "~fill is so": -3.0,
    "~after entry": 1.0,
    "~holds value": 1.0,
    "~repeated": -1.5,
    "~done before": -0.5,
    "~done pressed": 0.5,
    "~done at once": -2.0,
    "~done sent": 1.0,
    "~done acted word": 1.0,
    "~done unmet": -1.0,
    "~give up": -1.0,
    "~text asked": 1.0,
    "~never used": -0.5,
    "~text count": -0.7,
    "~text label": 1.5,
    "~text in goal": -2.0,
    "~text amount": 1.0,
    "~text no amount": -1.0,
    "~text shape": 0.5,
    "~memory answer text": 2.0,
    "~memory element": 1.0,
    "agreed": 2.0,
    "nearest": 3.0,
    "repeated": -2.0,
    "shortcut": 1.5,
    "misnamed": -2.0,
    "beside value": 0.5,
    "best": 2.0,
    "full": 1.5,
    "evidence": 2.5,
    "wide": 2.0,
}
_FAMILIES = {
    "name$": 2.5,
    "name=": 1.5,
    "name@": 2.0,
    "name<": 0.9,
    "name=#": 0.3,
    "part$": 1.8,
    "lists$": 1.8,
    "row$": 1.5,
    "after$": 0.7,
    "before$": 0.7,
    "rows$": 1.2,
    "row=": 0.6,
    "after=": 0.5,
    "before=": 0.4,
    "untried": 0.5,
    "extreme": 0.6,
    "same": 0.5,
    "goal": 0.5,
    "state": 0.4,
    "value=": 0.3,
    "value$": 0.6,
    "nth": 0.2,
    "next": 0.2,
    "page": 1.2,
    "is$": 2.5,
    "is=": 1.2,
    "is=#": 0.2,
    "is@": 1.8,
    "is<": 0.9,
    "is^": 0.5,
    "join": 1.8,
    "all": 1.2,
    "compose": 1.5,
    "beside$": 1.1,
    "beside$0": 4.0,
    "beside=": 0.9,
    "line": 0.5,
    "earlier": 0.5,
    "plus": 0.6,
    "append": 1.5,
    "append=": 1.0,
    "append=#": 0.2,
    "swap": 1.5,
    "count": 0.5,
    "sum": 0.6,
    "cell of": 0.6,
    "only": 0.7,
    "wanted": 2.0,
    "described": 1.0,
    "sized": 0.6,
    "loose": 0.6,
    "true": 1.2,
    "asked": 2.5,
    "like": 2.0,
    "like$$": 5.0,
    "each": 2.0,
    "each$=#": 0.3,
    "turn": 3.0,
    "ordinal": 3.0,
    "superlative": 1.3,
    "dated": 1.5,
    "unsorted": 1.3,
    "unmet": 1.3,
    "toward": 0.9,
    "placed": 0.9,
    "grid": 1.3,
    "numbered": 1.3,
    "solve": 1.5,
    "how many": 1.2,
    "how many of": 0.6,
    "halve": 1.3,
    "clock": 1.5,
    "nth word": 1.5,
    "nth field": 1.3,
    "labelled": 1.5,
    "colour": 1.5,
    "letters": 1.0,
    "next option": 1.3,
    "by label": 1.2,
    "move": 1.5,
    "by place": 1.5,
    "field": 0.8,
    "ending": 1.2,
    "compared": 6.0,
    "in": 0.8,
    "past": 0.6,
    "from": 0.5,
    "along": 1.2,
    "off": 1.2,
    "between": 1.2,
    "square": 1.5,
    "bisect": 1.5,
}
"""What a family counts: more where it says what was meant than where it says a place."""


@lru_cache(4096)
def prior(name: str) -> float:
    """Return what a feature counts before anything was learnt."""
    if name in _PRIORS:
        return _PRIORS[name]
    if name.startswith(UNTAUGHT):
        return 0.0
    # The value of the goal whose turn it is counts as one that is said by its number.
    name = name.rstrip("^").replace("&", "$")
    outer, _, inner = name.partition(":")
    if inner and outer in ("in", "past"):
        return _FAMILIES[outer] * prior(inner)
    for family in (name, *sorted(_FAMILIES, key=len, reverse=True)):
        if family in _FAMILIES and name.startswith(family):
            return _FAMILIES[family]
    return 0.2
