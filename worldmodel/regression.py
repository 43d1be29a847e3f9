"""Logistic regression with few weights, pulled towards a prior."""

import numpy as np
from numpy.typing import NDArray

_STEPS = 12
Array = NDArray[np.float64]


def fit_logistic(rows: Array, happened: Array, prior: Array, pull: float = 1.0) -> Array:
    """Return the weights by Newton's method: `rows` of n × k features, `happened` n values of 0 or
    1; `pull` is the strength of the pull towards the k `prior` weights."""
    weights = prior
    for _ in range(_STEPS):
        likely = probability(rows @ weights)
        gradient = rows.T @ (happened - likely) - pull * (weights - prior)
        spread = (rows * (likely * (1 - likely))[:, None]).T @ rows + pull * np.eye(len(prior))
        step = np.linalg.solve(spread, gradient)
        weights = weights + step / max(1.0, np.abs(step).max())
    return weights


def probability(log_odds: Array) -> Array:
    """Return the probabilities for log-odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -30, 30))))


def log_odds(share: float, least: float = 1e-3) -> float:
    """Return the log-odds of a share, held `least` away from 0 and 1."""
    held = min(max(share, least), 1 - least)
    return float(np.log(held / (1 - held)))
