"""Calibration: from what a network says to how often it is right, and where to draw the line."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluators.statistics import wilson
from webagent.errors import ModelError

FILE = "calibration.json"
_LIMIT = 1e-6
_RIDGE = 1e-3
"""Pull towards an unchanged scale, so that a weight that nothing speaks for stays finite."""


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """Platt's scaling of log-odds (Platt 1999), with a threshold and a band of abstention."""

    slope: float = 1.0
    offset: float = 0.0
    surprise: tuple[float, ...] = ()
    """Weights of how likely the actors found the last and the least likely action; none without."""
    threshold: float = 0.5
    """Of the calibrated probability: at it and above an episode passes."""
    abstain_from: float | None = None
    """Calibrated probabilities from here up to the threshold are abstained on; None for none."""
    target: float = 0.05
    """False-positive rate that the threshold was chosen for."""
    episodes: int = 0
    """How many it was fitted on."""

    def __call__(
        self, chances: Sequence[float], surprise: NDArray[np.float64] | None = None
    ) -> list[float]:
        """Return the calibrated probabilities."""
        odds = self.slope * _log_odds(chances) + self.offset
        if self.surprise and surprise is not None:
            odds = odds + surprise @ np.asarray(self.surprise)
        return [float(p) for p in 1 / (1 + np.exp(-np.clip(odds, -60, 60)))]

    def raised(
        self, chances: Sequence[float], surprise: NDArray[np.float64] | None = None
    ) -> "JudgeCalibration":
        """Return it with a threshold that at most `target` of these failures pass, if higher."""
        scores = np.asarray(self(chances, surprise))
        above = float(np.nextafter(_highest_refused(scores, self.target), 1.0))
        return replace(self, threshold=max(self.threshold, above))

    def save(self, folder: Path) -> None:
        """Write it beside the weights."""
        text = json.dumps(asdict(self), indent=1) + "\n"
        (folder / FILE).write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> "JudgeCalibration":
        """Return the one beside the weights, or none at all where nothing was fitted.

        Raises `ModelError` when the file cannot be read as one.
        """
        path = folder / FILE
        if not path.exists():
            return cls()
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{**found, "surprise": tuple(found.get("surprise", ()))})
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise ModelError(f"{path} is no calibration: {error}; train the judge again") from error


UNCALIBRATED = JudgeCalibration()
"""Leaves probabilities as they are, with the line at one half."""


def calibrate(
    chances: Sequence[float],
    labels: Sequence[bool],
    target: float = 0.05,
    surprise: NDArray[np.float64] | None = None,
) -> JudgeCalibration:
    """Fit scaling and threshold on episodes that no weight was fitted on.

    Scaling by BFGS on Platt's softened targets, which keep it finite where all is told
    apart; `surprise` (N, S) adds log-probabilities of what was done. The threshold is the lowest
    one whose false-positive rate on these episodes, one more false positive counted in, is at most
    `target`. Raises `ValueError` without both outcomes.
    """
    truth = np.asarray(labels, np.bool_)
    if not truth.any() or truth.all():
        raise ValueError(
            f"calibration needs successes and failures, found {int(truth.sum())} successes of"
            f" {len(truth)} episodes"
        )
    more = np.zeros((len(truth), 0)) if surprise is None or not surprise.any() else surprise
    slope, offset, *weights = _platt(_log_odds(chances), more, truth)
    scaled = JudgeCalibration(slope, offset, tuple(weights), target=target, episodes=len(truth))
    scores = np.asarray(scaled(chances, more))
    most = _highest_refused(scores[~truth], target)
    above = scores[scores > most]
    threshold = min((most + above.min()) / 2 if len(above) else 1.0, 1.0)
    return replace(scaled, threshold=float(threshold))


def _log_odds(chances: Sequence[float]) -> NDArray[np.float64]:
    p = np.clip(np.asarray(chances, np.float64), _LIMIT, 1 - _LIMIT)
    return np.log(p / (1 - p))


def _platt(
    odds: NDArray[np.float64], more: NDArray[np.float64], truth: NDArray[np.bool_]
) -> list[float]:
    """Return slope, offset and the weights of `more`."""
    from scipy.optimize import minimize
    from scipy.special import expit

    good, bad = int(truth.sum()), int((~truth).sum())
    targets = np.where(truth, (good + 1) / (good + 2), 1 / (bad + 2))
    features = np.column_stack([odds, np.ones_like(odds), more])
    prior = np.array([1.0, *[0.0] * (features.shape[1] - 1)])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores, change = features @ weights, weights - prior
        entropy = float((np.logaddexp(0, scores) - targets * scores).sum())
        gradient = features.T @ (expit(scores) - targets) + _RIDGE * change
        return entropy + 0.5 * _RIDGE * float(change @ change), gradient

    weights = minimize(loss, prior, jac=True, method="BFGS", options={"gtol": 1e-7}).x
    return [max(1e-3, float(weights[0])), *map(float, weights[1:])]


def _highest_refused(wrong: NDArray[np.float64], target: float) -> float:
    """Return the probability above which at most `target` of the failures lie, one more added."""
    allowed = max(0, math.floor(target * (len(wrong) + 1)) - 1)
    return float(np.sort(wrong)[::-1][allowed]) if allowed < len(wrong) else 0.0


# -- how good it is ----------------------------------------------------------------------


class JudgeRate(NamedTuple):
    """A share with its count and Wilson's 95 % interval."""

    value: float | None
    """None where there was nothing to count."""
    of: int
    low: float
    high: float


def measure_rate(count: int, of: int) -> JudgeRate:
    """Return the share `count` of `of`."""
    low, high = wilson(count, of)
    return JudgeRate(count / of if of else None, of, low, high)


class ReliabilityBin(NamedTuple):
    """Episodes of like probability: how sure the judge was, and how often it was so."""

    said: float
    was: float
    episodes: int


@dataclass(frozen=True, slots=True)
class Quality:
    """How a judge did on labelled episodes."""

    episodes: int
    successes: int
    precision: JudgeRate
    recall: JudgeRate
    false_positives: JudgeRate
    brier: float
    ece: float
    """Expected calibration error over ten bins of equal width (Guo et al. 2017)."""
    reliability: tuple[ReliabilityBin, ...]


def measure_quality(chances: Sequence[float], labels: Sequence[bool], threshold: float) -> Quality:
    """Return precision, recall and false-positive rate at the threshold, and calibration."""
    scores, truth = np.asarray(chances, np.float64), np.asarray(labels, np.bool_)
    passed = scores >= threshold
    hits, good = int((passed & truth).sum()), int(truth.sum())
    places = np.minimum((scores * 10).astype(int), 9)
    bins = tuple(
        ReliabilityBin(float(scores[here].mean()), float(truth[here].mean()), int(here.sum()))
        for place in range(10)
        if (here := places == place).any()
    )
    count = len(scores)
    return Quality(
        episodes=count,
        successes=good,
        precision=measure_rate(hits, int(passed.sum())),
        recall=measure_rate(hits, good),
        false_positives=measure_rate(int((passed & ~truth).sum()), count - good),
        brier=float(np.mean((scores - truth) ** 2)) if count else math.nan,
        ece=sum(b.episodes * abs(b.said - b.was) for b in bins) / count if count else math.nan,
        reliability=bins,
    )
