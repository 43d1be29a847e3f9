"""Logistic regression with few weights, pulled towards a prior."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def fit_logistic(rows: Array, happened: Array, prior: Array, pull: Array | float = 1.0) -> Array:
    """Return k weights for `rows` (n, k) and `happened`, n values of 0 or 1.

    `pull` is how strongly each weight is held to its value in `prior`; scikit-learn's regression
    knows one strength and the prior 0.
    """
    # Imported here: scipy takes a third of a second to load, and few commands fit anything.
    from scipy.optimize import minimize

    def loss(weights: Array) -> tuple[float, Array]:
        logits, away = rows @ weights, weights - prior
        value = np.logaddexp(0.0, logits).sum() - happened @ logits + 0.5 * (pull * away) @ away
        return float(value), rows.T @ (probability(logits) - happened) + pull * away

    found = minimize(loss, prior, jac=True, method="L-BFGS-B", options={"ftol": 1e-12})
    return np.asarray(found.x)


def probability(log_odds: Array) -> Array:
    """Return the probabilities for log-odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -30, 30))))


def log_odds(share: float, least: float = 1e-3) -> float:
    """Return the log-odds of a share, held `least` away from 0 and 1."""
    held = min(max(share, least), 1 - least)
    return float(np.log(held / (1 - held)))
