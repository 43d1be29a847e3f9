"""Balance: shares by gain, of which every site and every skill has its part."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.curriculum.kinds import Kind, members
from tasks.curriculum.worth import Worth

EVEN_SHARE = 0.1
"""Share of the steps that is spread evenly over sites and skills."""
FOCUS = 1.5
"""Tries go by this power of the gain for a step. At 1 most of them still go to the many tasks with
little to gain; the higher, the more a mistaken expectation costs."""
_LEAST = 1e-6
"""Gain for a step that every task has, so that none is out for good."""


def shares_of(
    worths: Sequence[Worth],
    kinds: Mapping[str, Kind],
    even: float = EVEN_SHARE,
    focus: float = FOCUS,
) -> NDArray[np.float64]:
    """The share of the steps of each of these tasks; sums to 1.

    By what a step of each is expected to gain, but for the part `even`: that is divided equally
    among all sites and all skills that have one of these tasks, and inside each again by gain. So
    each of n sites and skills together has at least even / n, however little its tasks are worth.
    Where a suite has neither, all goes by gain.
    """
    rates = np.array([max(worth.rate, _LEAST) for worth in worths])
    values = rates**focus * np.array([worth.cost for worth in worths])
    by_gain = values / values.sum()
    places = {worth.name: place for place, worth in enumerate(worths)}
    groups = [
        [places[name] for name in names if name in places] for names in members(kinds).values()
    ]
    groups = [group for group in groups if group]
    if not groups:
        return np.asarray(by_gain)
    spread = np.zeros(len(worths))
    for group in groups:
        spread[group] += values[group] / values[group].sum() / len(groups)
    return np.asarray((1 - even) * by_gain + even * spread)
