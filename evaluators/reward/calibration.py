"""Calibration of a reward model: how often it is right, and from which probability it passes."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webagent.errors import ModelError

FILE = "calibration.json"
_LIMIT = 1e-6
_RIDGE = 1e-3
"""Pull towards an unchanged scale, which keeps the weights finite where all is separated."""


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """Platt's scaling of log-odds (Platt 1999), with a threshold."""

    slope: float = 1.0
    offset: float = 0.0
    threshold: float = 0.5
    """Of the calibrated probability: at it and above an episode passes."""
    target: float = 0.05
    """False-positive rate that the threshold was chosen for."""
    episodes: int = 0
    """How many it was fitted on."""

    def __call__(self, chances: Sequence[float]) -> list[float]:
        """Return the calibrated probabilities."""
        from scipy.special import expit

        return [float(p) for p in expit(self.slope * _log_odds(chances) + self.offset)]

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
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise ModelError(f"{path} is no calibration: {error}; fit it again") from error


UNCALIBRATED = JudgeCalibration()
"""Leaves probabilities as they are, with the line at one half."""


def calibrate(
    chances: Sequence[float], labels: Sequence[bool], target: float = 0.05
) -> JudgeCalibration:
    """Fit scaling and threshold on episodes that no weight was fitted on.

    Scaling by BFGS on Platt's softened targets. The threshold is the lowest one whose
    false-positive rate on these episodes, one more false positive counted in, is at most `target`.
    Raises `ValueError` without both outcomes.
    """
    truth = np.asarray(labels, np.bool_)
    if not truth.any() or truth.all():
        raise ValueError(
            f"calibration needs successes and failures, found {int(truth.sum())} successes of"
            f" {len(truth)} episodes"
        )
    slope, offset = _platt(_log_odds(chances), truth)
    scaled = JudgeCalibration(slope, offset, target=target, episodes=len(truth))
    scores = np.asarray(scaled(chances))
    failures = np.sort(scores[~truth])[::-1]
    allowed = max(0, math.floor(target * (len(failures) + 1)) - 1)
    most = float(failures[allowed]) if allowed < len(failures) else 0.0
    above = scores[scores > most]
    threshold = min((most + above.min()) / 2 if len(above) else 1.0, 1.0)
    return replace(scaled, threshold=float(threshold))


def _log_odds(chances: Sequence[float]) -> NDArray[np.float64]:
    p = np.clip(np.asarray(chances, np.float64), _LIMIT, 1 - _LIMIT)
    return np.log(p / (1 - p))


def _platt(odds: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Return slope and offset."""
    from scipy.optimize import minimize
    from scipy.special import expit

    good, bad = int(truth.sum()), int((~truth).sum())
    targets = np.where(truth, (good + 1) / (good + 2), 1 / (bad + 2))
    features = np.column_stack([odds, np.ones_like(odds)])
    prior = np.array([1.0, 0.0])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores, change = features @ weights, weights - prior
        entropy = float((np.logaddexp(0, scores) - targets * scores).sum())
        gradient = features.T @ (expit(scores) - targets) + _RIDGE * change
        return entropy + 0.5 * _RIDGE * float(change @ change), gradient

    slope, offset = minimize(loss, prior, jac=True, method="BFGS", options={"gtol": 1e-7}).x
    return max(1e-3, float(slope)), float(offset)
