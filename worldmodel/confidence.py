"""Confidence in a remembered page: how often pages put together alike were right."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np

from webagent.regression import Array, fit_logistic, log_odds, probability
from worldmodel.accuracy import MeasuredTransition
from worldmodel.cases import TransitionCase
from worldmodel.knowable import KnowableLines
from worldmodel.prediction import Prediction
from worldmodel.rules import apply_rules

_LESSONS = 200
"""Maximum number of remembered steps for fitting the weights."""
_GROWTH = 1.2
"""Factor by which the remembered steps must grow before the weights are fitted again."""
_LEVELS = 5
_PRIOR = np.array([0.0, 0.0, 1.0, *[0.0] * 8])
"""Weights before any were learned, in the order of `Traits.describe`: the confidence is the share
of the votes."""


@dataclass(frozen=True, slots=True)
class Traits:
    """How a page was put together."""

    is_ruled: bool = False
    """Nothing like it was seen: the general rule about typing alone."""
    agreement: float = 0.5
    """Share of the votes of similar cases for this outcome."""
    supported: float = 0.0
    """Share of its lines that other cases support."""
    has_unknown: bool = False
    level: int = 0
    """Level of the most similar case, 0 the closest."""
    is_same_page: bool = False
    """That case acted on this very page."""
    likeness: float = 0.0
    """How like the page is on which it acted."""
    came: int = 0
    """Lines predicted as known that are not on the page before."""
    others: int = 0
    """Other similar cases with this outcome."""
    is_guess: bool = False

    def describe(self) -> Array:
        """Return the features."""
        if self.is_ruled:
            return np.array([1.0, 1.0, *[0.0] * (len(_PRIOR) - 2)])
        return np.array(
            [
                *(1.0, 0.0, log_odds(self.agreement, 0.02), self.supported, self.has_unknown),
                *(self.level / _LEVELS, self.is_same_page, log1p(self.came), log1p(self.others)),
                *(self.is_guess, self.likeness),
            ]
        )


Predict = Callable[[TransitionCase, str], tuple[Prediction, Traits | None]]
"""Predicts a remembered step as if its episode, named second, had not been seen."""


class Confidence:
    """P(a remembered page is right line for line, where what nothing tells may be left open), by a
    logistic regression that is fitted to memory's own cases, each episode predicted from all
    others."""

    def __init__(self) -> None:
        self._weights = _PRIOR
        self._fitted = 0

    def of(self, traits: Traits) -> float:
        """Return the confidence."""
        return float(probability(traits.describe() @ self._weights))

    def study(self, cases: Sequence[TransitionCase], predict: Predict) -> None:
        """Fit the weights to cases of episodes sampled at random, if enough came since the last
        time."""
        if len(cases) < _GROWTH * self._fitted:
            return
        self._fitted = len(cases)
        if lessons := list(_try_out(cases, predict)):
            rows = np.array([traits.describe() for traits, _ in lessons])
            self._weights = fit_logistic(rows, np.array([float(r) for _, r in lessons]), _PRIOR)


def _try_out(cases: Sequence[TransitionCase], predict: Predict) -> Iterable[tuple[Traits, bool]]:
    """Yield how pages of left-out episodes were put together, and whether they were right."""
    knowledge = KnowableLines()
    knowledge.learn(case.transition for case in cases)
    episodes: defaultdict[str, list[TransitionCase]] = defaultdict(list)
    for case in cases:
        episodes[case.transition.episode].append(case)
    names, tried = list(episodes), 0
    for place in np.random.default_rng(0).permutation(len(names)):
        own = episodes[names[int(place)]]
        with knowledge.without(case.transition for case in own):
            for case in own[: _LESSONS - tried]:
                tried += 1
                if apply_rules(case.situation) is not None:
                    continue
                prediction, traits = predict(case, case.transition.episode)
                truth = MeasuredTransition(case.transition, prediction)
                if traits is None:
                    continue
                if case.transition.after.over:
                    yield traits, prediction.page.over
                elif truth.goes_on:
                    yield traits, truth.is_right_as_known(knowledge)
        if tried >= _LESSONS:
            return
