"""Balance: shares by value, of which every site and every skill has its part."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.curriculum.kinds import Kind, members
from tasks.curriculum.worth import Worth

EVEN_SHARE = 0.3
"""Share of the steps that is spread evenly over sites and skills."""
FOCUS = 3.0
"""Steps go by this power of the value: after a handful of tries a mastered task still has a third
of the highest value, and all mastered tasks together would take most of the steps."""


def shares_of(
    worths: Sequence[Worth],
    kinds: Mapping[str, Kind],
    even: float = EVEN_SHARE,
    focus: float = FOCUS,
) -> NDArray[np.float64]:
    """The share of the steps of each of these tasks; sums to 1.

    By value, but for the part `even`: that is divided equally among all sites and all skills that
    have one of these tasks, and inside each again by value. So each of n sites and skills together
    has at least even / n, however little its tasks are worth. Where a suite has neither, all goes
    by value.
    """
    values = np.array([max(worth.value, 1e-3) ** focus for worth in worths])
    by_value = values / values.sum()
    places = {worth.name: place for place, worth in enumerate(worths)}
    groups = [
        [places[name] for name in names if name in places] for names in members(kinds).values()
    ]
    groups = [group for group in groups if group]
    if not groups:
        return np.asarray(by_value)
    spread = np.zeros(len(worths))
    for group in groups:
        spread[group] += values[group] / values[group].sum() / len(groups)
    return np.asarray((1 - even) * by_value + even * spread)
