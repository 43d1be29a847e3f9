"""P(success), estimated from the outcomes of episodes with similar actions and goals."""

from collections import defaultdict
from collections.abc import Sequence
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from webagent.memory.pages import is_within, masked
from webagent.models.builtin.vocabulary import op_of
from webagent.records import Node
from worldmodel.cases import Occasion, TransitionCase

_MOST = 400
_SHARP = 8.0
"""Exponent of the similarity: the most similar cases count most."""
_BASE = 0.5
"""Weight of the success rate on the kind of page."""
_LESSONS = 600
"""Maximum number of remembered steps for fitting the correction."""
_GROWTH = 1.2
"""Factor by which the remembered steps must grow before the correction is refitted."""
_PRIOR = np.array([0.0, 1.0, 0.0, 0.0, 0.0])
"""Weights of the correction before any fit: the chance by similar steps, unchanged."""
_STEPS = 12
ActionSummary = tuple[str, str, str]
"""Operation, role, and relation of the element or the typed text to the goal."""
_Known = tuple[TransitionCase, tuple[ActionSummary, ...]]
_Array = NDArray[np.float64]


class SuccessMemory:
    """Remembers the outcomes of episodes by their actions in terms of their goals, and corrects the
    success rate of similar steps by its accuracy on left-out episodes."""

    def __init__(self) -> None:
        self._cases: defaultdict[str, list[_Known]] = defaultdict(list)
        self._goals: defaultdict[tuple[str, ...], list[_Known]] = defaultdict(list)
        self._all: list[_Known] = []
        self._own: list[_Known] = []
        """Those that are not demonstrations, which all succeed."""
        self._fitted = 0
        self._weights = _PRIOR

    def add(self, case: TransitionCase) -> None:
        """Remember a step with how its episode ended."""
        known = case, summarize_actions(case)
        self._cases[case.kind].append(known)
        self._goals[case.goal.template].append(known)
        self._all.append(known)
        if not case.transition.shown:
            self._own.append(known)

    def chance(self, there: Occasion) -> float:
        """Return P(success) after the action; 0.5 if nothing similar is remembered."""
        if len(self._all) >= _GROWTH * self._fitted:
            self._fit()
        features = self._describe(there, summarize_actions(there))
        if features is None:
            return 0.5
        return float(_probability(features @ self._weights))

    def _describe(
        self, there: Occasion, ours: tuple[ActionSummary, ...], without: str = ""
    ) -> _Array | None:
        """Return the features: a constant, the chance by the most similar cases and by all with
        such a goal, both as log-odds, the highest similarity, and the steps so far. None if only
        the episode `without` is known."""
        known = self._cases.get(there.kind) or self._goals.get(there.goal.template, [])
        known = [each for each in known[-_MOST:] if each[0].transition.episode != without]
        if not known:
            return None
        won = np.array([float(case.transition.succeeded) for case, _ in known])
        like = np.array([_likeness(case, done, there, ours) for case, done in known])
        weights = np.exp(_SHARP * (like - like.max()))
        base = won.mean()
        near = (weights @ won + _BASE * base) / (weights.sum() + _BASE)
        alike = won[[case.goal.template == there.goal.template for case, _ in known]]
        usual = (alike.sum() + base) / (len(alike) + 1)
        steps = log1p(len(there.situation.steps))
        return np.array([1.0, _log_odds(near), _log_odds(usual), like.max(), steps])

    def _fit(self) -> None:
        """Fit the correction by Newton's method, predicting each episode of the agent's own from
        all others."""
        self._fitted, self._weights = len(self._all), _PRIOR
        order = np.random.default_rng(0).permutation(len(self._own))[:_LESSONS]
        lessons = [self._own[int(i)] for i in sorted(order)]
        told = [(self._describe(c, done, c.transition.episode), c) for c, done in lessons]
        inputs = [features for features, _ in told if features is not None]
        won = np.array([float(c.transition.succeeded) for each, c in told if each is not None])
        if len(set(won.tolist())) < 2:
            return  # failures and successes are needed to tell them apart
        rows = np.array(inputs)
        for _ in range(_STEPS):
            likely = _probability(rows @ self._weights)
            gradient = rows.T @ (won - likely) - (self._weights - _PRIOR)
            spread = (rows * (likely * (1 - likely))[:, None]).T @ rows + np.eye(len(_PRIOR))
            step = np.linalg.solve(spread, gradient)
            self._weights = self._weights + step / max(1.0, np.abs(step).max())


def _log_odds(share: float) -> float:
    held = min(max(share, 1e-3), 1 - 1e-3)
    return log(held / (1 - held))


def _probability(log_odds: _Array) -> _Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -30, 30))))


def summarize_actions(there: Occasion) -> tuple[ActionSummary, ...]:
    """Return the actions so far and the current one, latest first."""
    now = _summarize(there.op, there, there.situation.action, there.situation.observation.nodes)
    past = (
        _summarize(op_of(step.decision.action), there, step.decision.action, step.observation.nodes)
        for step in reversed(there.situation.steps)
    )
    return (now, *past)


def _summarize(op: str, there: Occasion, action: object, nodes: Sequence[Node]) -> ActionSummary:
    mark = getattr(action, "mark", 0)
    node = next((each for each in nodes if mark and each.mark == mark), None)
    text = getattr(action, "text", "") or getattr(action, "option", "")
    goal = there.goal.text.lower()
    told = [_stands(each, there, goal) for each in (text, node.name if node else "") if each]
    if not told and node is not None and node.value:
        told = [_stands(node.value, there, goal)]
    return op, node.role if node else "", " ".join(told)


def _stands(text: str, there: Occasion, goal: str) -> str:
    """Return the relation of a text to the goal: its slot number, that the goal mentions it, or the
    masked text."""
    low = text.lower().strip()
    for i, slot in enumerate(there.goal.slots):
        if slot.text.lower() == low:
            return f"${i}" if slot.kind != "name" else "said"
    if len(low) > 1 and is_within(low, goal):
        return "said"
    return masked(text)


def _likeness(
    case: TransitionCase,
    done: tuple[ActionSummary, ...],
    there: Occasion,
    ours: tuple[ActionSummary, ...],
) -> float:
    same = 1.0 if case.goal.template == there.goal.template else 0.0
    last = (done[0] == ours[0]) + 0.3 * (done[0][:2] == ours[0][:2])
    a, b = set(done), set(ours)
    trail = len(a & b) / len(a | b)
    return 0.7 * same + last + trail + 0.3 * (len(done) == len(ours))
