"""Calibrated confidence of a small model: its own, corrected by how often it was right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webagent.regression import fit_logistic, log_odds

_LATEST = 3000
"""Answers that the correction is fitted to, at most: what is remembered changes, and with it how
much a confidence is worth."""
_PRIOR = np.array([-1.5, 1.0, 0.0, 0.0])
"""Intercept, slopes of the confidence, of the number of episodes and of the answers compared so
far: a small model that was never compared with anybody counts for less than its
own confidence, which is worth more the longer it has learned."""
_PULL = np.array([0.5, 4.0, 4.0, 2.0])
"""Strength of the pull towards these values."""
_MATURING = 50
"""Answers compared from which their number counts by its logarithm."""
_PULL_OF_KIND = 2.0
"""Strength of the pull of one kind of goal towards all others."""
_MOST_EPISODES = 20
"""Episodes of a kind that are distinguished from more of them."""


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """The small model's action next to the large model's."""

    kind: str
    """Kind of the goal."""
    template: str
    """Template of the goal; one kind may have several."""
    confidence: float
    """The small model's own confidence."""
    episodes: int
    """Number of episodes of this kind it had learned from at the time."""
    agreed: bool


class Calibration:
    """Logistic regression from confidence and experience to agreement, with a term for each kind of
    goal and one for each template, both pulled to none. Answers are in the order in which they were
    compared."""

    def __init__(self, answers: Sequence[ComparedAnswer] = ()) -> None:
        self.answers = list(answers)
        self._weights, self._terms = _PRIOR, dict[str, float]()
        self.fit()

    def probability(self, kind: str, template: str, confidence: float, episodes: int) -> float:
        """Return the probability that the small model is right, from 0 to 1."""
        logit = float(_features(confidence, episodes, len(self.answers)) @ self._weights)
        logit += sum(self._terms.get(name, 0.0) for name in _names(kind, template))
        return 1 / (1 + math.exp(-logit))

    def fit(self) -> None:
        """Fit to the latest answers."""
        answers = self.answers[-_LATEST:]
        if not answers:
            return
        named = dict.fromkeys(name for a in answers for name in _names(a.kind, a.template))
        shared, first = len(_PRIOR), len(self.answers) - len(answers)
        places = {name: shared + i for i, name in enumerate(named)}
        inputs = np.zeros((len(answers), shared + len(places)))
        for row, answer in enumerate(answers):
            inputs[row, :shared] = _features(answer.confidence, answer.episodes, first + row)
            for name in _names(answer.kind, answer.template):
                inputs[row, places[name]] = 1.0
        agreed = np.array([float(answer.agreed) for answer in answers])
        prior = np.concatenate([_PRIOR, np.zeros(len(places))])
        pull = np.concatenate([_PULL, np.full(len(places), _PULL_OF_KIND)])
        weights = fit_logistic(inputs, agreed, prior, pull)
        self._weights = weights[:shared]
        self._terms = {name: float(weights[place]) for name, place in places.items()}


def _names(kind: str, template: str) -> tuple[str, str]:
    return f"kind {kind}", f"template {template}"


def _features(confidence: float, episodes: int, compared: int) -> NDArray[np.float64]:
    known = math.log1p(min(episodes, _MOST_EPISODES))
    return np.array([1.0, log_odds(confidence), known, math.log1p(compared / _MATURING)])
