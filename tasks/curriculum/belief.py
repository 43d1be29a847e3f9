"""Beliefs: what is known of a chance of success, with how little that may be."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_POINTS = (np.arange(4000) + 0.5) / 4000


@dataclass(frozen=True, slots=True)
class Belief:
    """p ~ Beta(a, b); both above 0."""

    a: float = 1.0
    b: float = 1.0

    @property
    def mean(self) -> float:
        """E[p]."""
        return self.a / (self.a + self.b)

    @property
    def value(self) -> float:
        """E[p (1 - p)], scaled so that 1 is the most.

        2/3 where nothing is known; tends to 0 for what surely always or never succeeds.
        """
        total = self.a + self.b
        return 4 * self.a * self.b / (total * (total + 1))

    def above(self, level: float) -> float:
        """P(p > level)."""
        return float(self._masses()[level < _POINTS].sum())

    def interval(self, mass: float = 0.8) -> tuple[float, float]:
        """The bounds that leave out equally much on either side."""
        reached = np.cumsum(self._masses())
        rest = (1 - mass) / 2
        low, high = np.searchsorted(reached, [rest, 1 - rest])
        return float(_POINTS[low]), float(_POINTS[min(int(high), len(_POINTS) - 1)])

    def and_seen(self, successes: float, failures: float) -> "Belief":
        """With so much more evidence."""
        return Belief(self.a + successes, self.b + failures)

    def _masses(self) -> NDArray[np.float64]:
        """The probability of each of the points, equally far apart."""
        logs = (self.a - 1) * np.log(_POINTS) + (self.b - 1) * np.log1p(-_POINTS)
        masses = np.exp(logs - logs.max())
        return np.asarray(masses / masses.sum())
