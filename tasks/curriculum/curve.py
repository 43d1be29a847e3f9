"""Learning curves: how much one more try of a task is likely to add to its success rate.

The success rate after n lessons (demonstrations and own successes that were learnt from) is taken
to be

    p(n) = c - (c - s) · h / (h + n)

with a start s, a ceiling c, and h lessons to get half-way from one to the other. None of the three
is known. They are weighed by what was tried, on a grid, and what the other tasks have shown is the
prior: where half of the tasks turn out to be out of reach, an untried one is likelier held to be.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.curriculum.kinds import Kind
from tasks.curriculum.record import Record

Array = NDArray[np.float64]

EXPLORING = 0.9
"""What exploring leaves of a success rate."""
ROUNDS_OF_LEARNING = 3
"""How often the prior is fitted to all tasks."""
PRIOR_TASKS = 10.0
"""How many tasks the prior from before counts for."""

_CEILINGS = np.array([0.005, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0])
_STARTS = np.array([0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
"""Parts of the ceiling."""
_HALVES = np.array([0.3, 1.0, 3.0, 10.0])
_START_WEIGHTS = np.array([0.25, 0.15, 0.15, 0.13, 0.12, 0.09, 0.07, 0.04])
_REACH = {True: (0.15, 0.35, 0.5), False: (0.5, 0.25, 0.25)}
"""Of tasks that the policy was shown, and of others: the weights of ceilings near nothing, between,
and near one."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """What is expected of a task."""

    chance: float
    """E[p] now, without exploring."""
    gain: float
    """What one try is expected to add to p: E[p · what a success adds]."""


@dataclass(frozen=True, slots=True)
class _Curves:
    """Every curve that is thought of: three arrays [curves]."""

    ceiling: Array
    start: Array
    half: Array

    def at(self, lessons: float) -> Array:
        """The success rate of each after so many lessons: [curves]."""
        return self.ceiling - (self.ceiling - self.start) * self.half / (self.half + lessons)


def prospects(kinds: Mapping[str, Kind], records: Mapping[str, Record]) -> dict[str, Prospect]:
    """What is expected of each of these tasks, by what all of them have shown."""
    found: dict[str, Prospect] = {}
    for is_shown in (True, False):
        names = [name for name, kind in kinds.items() if kind.is_demonstrated == is_shown]
        known = [records.get(name, Record()) for name in names]
        likelihoods = np.array([_likelihood(record) for record in known])
        weights = _fitted(_prior(is_shown), likelihoods)
        for name, record, likelihood in zip(names, known, likelihoods, strict=True):
            found[name] = _prospect(record, weights * likelihood)
    return found


def _grid() -> _Curves:
    ceilings, starts, halves = (
        each.ravel() for each in np.meshgrid(_CEILINGS, _STARTS, _HALVES, indexing="ij")
    )
    return _Curves(ceilings, ceilings * starts, halves)


_CURVES = _grid()


def _prior(is_shown: bool) -> Array:
    """What is thought of tasks before any was tried: [curves], sums to 1."""
    groups = (_CEILINGS < 0.05, (_CEILINGS >= 0.05) & (_CEILINGS < 0.95), _CEILINGS >= 0.95)
    ceilings = np.zeros(len(_CEILINGS))
    for group, weight in zip(groups, _REACH[is_shown], strict=True):
        ceilings[group] = weight / group.sum()
    halves = np.full(len(_HALVES), 1 / len(_HALVES))
    return np.asarray(np.einsum("i,j,k->ijk", ceilings, _START_WEIGHTS, halves).ravel())


def _likelihood(record: Record) -> Array:
    """How well each curve explains the outcomes, the best one by 1: [curves]."""
    lessons, logs = float(record.demonstrations), np.zeros(len(_CURVES.half))
    for played in record.rounds:
        chance = np.clip(EXPLORING * _CURVES.at(lessons), 1e-4, 1 - 1e-4)
        failures = played.tries - played.successes
        logs += played.successes * np.log(chance) + failures * np.log1p(-chance)
        lessons += played.successes
    return np.asarray(np.exp(logs - logs.max()))


def _fitted(prior: Array, likelihoods: Array) -> Array:
    """The prior as the tasks have it among them, by expectation and maximisation."""
    weights = prior
    for _ in range(ROUNDS_OF_LEARNING):
        found = PRIOR_TASKS * prior
        for likelihood in likelihoods:
            posterior = weights * likelihood
            found = found + posterior / posterior.sum()
        weights = found / found.sum()
    return weights


def _prospect(record: Record, weights: Array) -> Prospect:
    weights = weights / weights.sum()
    lessons = record.demonstrations + record.successes
    chance = _CURVES.at(lessons)
    more = _CURVES.at(lessons + 1) - chance
    return Prospect(float(weights @ chance), float(weights @ (chance * more)))
