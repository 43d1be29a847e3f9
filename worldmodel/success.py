"""P(success), estimated from the outcomes of episodes with similar actions and goals."""

from collections import defaultdict
from collections.abc import Sequence
from math import exp, log1p

import numpy as np

from webagent.memory.goals import Goal, weigh_keys
from webagent.memory.pages import is_within, masked
from webagent.models.builtin.vocabulary import op_of
from webagent.records import Node
from webagent.regression import Array, fit_logistic, log_odds, probability
from worldmodel.cases import Occasion, TransitionCase

_MOST = 400
_SHARP = 8.0
"""Exponent of the similarity: the most similar cases count most."""
_BASE = 0.5
"""Weight of the success rate on the kind of page, and of one half against that of the goal."""
_SHARP_GOALS = 12.0
"""Exponent of the likeness of goals."""
_OTHER_WORDS = 0.9
"""Likeness of two goals with the same words in another order."""
_LESSONS = 600
"""Maximum number of remembered steps for fitting the correction."""
_GROWTH = 1.2
"""Factor by which the remembered steps must grow before the correction is refitted."""
_PRIOR = np.array([0.0, 1.0, 0.0, 0.0, 0.0])
"""Weights of the correction before any fit: the chance by similar steps, unchanged."""
ActionSummary = tuple[str, str, str]
"""Operation, role, and relation of the element or the typed text to the goal."""
_Known = tuple[TransitionCase, tuple[ActionSummary, ...]]


class SuccessMemory:
    """Remembers the outcomes of episodes by their actions in terms of their goals, and corrects the
    success rate of similar steps by its accuracy on left-out episodes."""

    def __init__(self) -> None:
        self._cases: defaultdict[str, list[_Known]] = defaultdict(list)
        self._goals = GoalRates()
        self._all: list[_Known] = []
        self._own: list[_Known] = []
        """Those that are not demonstrations, which all succeed."""
        self._fitted = 0
        self._weights = _PRIOR

    def add(self, case: TransitionCase) -> None:
        """Remember a step with how its episode ended."""
        known = case, summarize_actions(case)
        self._cases[case.kind].append(known)
        self._goals.add(case.goal, case.transition.episode, case.transition.succeeded)
        self._all.append(known)
        if not case.transition.shown:
            self._own.append(known)

    def chance(self, there: Occasion) -> float:
        """Return P(success) after the action; 0.5 if nothing is remembered."""
        if not self._all:
            return 0.5
        if len(self._all) >= _GROWTH * self._fitted:
            # Fit the correction, predicting each episode of the agent's own from all others.
            self._fitted, self._weights = len(self._all), _PRIOR
            order = np.random.default_rng(0).permutation(len(self._own))[:_LESSONS]
            lessons = [self._own[int(i)] for i in sorted(order)]
            won = np.array([float(case.transition.succeeded) for case, _ in lessons])
            if len(set(won.tolist())) == 2:  # failures and successes, to tell them apart
                rows = [self._describe(c, done, c.transition.episode) for c, done in lessons]
                self._weights = fit_logistic(np.array(rows), won, _PRIOR)
        return float(probability(self._describe(there, summarize_actions(there)) @ self._weights))

    def _describe(
        self, there: Occasion, ours: tuple[ActionSummary, ...], without: str = ""
    ) -> Array:
        """Return the features: a constant, the chance by the most similar cases and by all episodes
        with such a goal, both as log-odds, the highest similarity, and the steps so far. The
        episode `without` is left out."""
        usual = self._goals.rate(there.goal, without)
        known = self._cases.get(there.kind, [])[-_MOST:]
        known = [each for each in known if each[0].transition.episode != without]
        near, highest = usual, 0.0
        if known:
            won = np.array([float(case.transition.succeeded) for case, _ in known])
            like = np.array(
                [
                    0.7 * (case.goal.template == there.goal.template)
                    + (done[0] == ours[0])
                    + 0.3 * (done[0][:2] == ours[0][:2])
                    + len(set(done) & set(ours)) / len(set(done) | set(ours))
                    + 0.3 * (len(done) == len(ours))
                    for case, done in known
                ]
            )
            highest = float(like.max())
            weights = np.exp(_SHARP * (like - highest))
            near = float((weights @ won + _BASE * won.mean()) / (weights.sum() + _BASE))
        steps = log1p(len(there.situation.steps))
        return np.array([1.0, log_odds(near), log_odds(usual), highest, steps])


class GoalRates:
    """Success rates of episodes by their goals; goals in other words count as far as they share
    them."""

    def __init__(self) -> None:
        self._ended: defaultdict[tuple[str, ...], dict[str, bool]] = defaultdict(dict)
        self._goals: list[Goal] = []
        """One of each template."""
        self._like: dict[tuple[str, ...], list[float]] = {}
        """By template: its likeness with each of these goals, as far as it was asked for."""

    def add(self, goal: Goal, episode: str, succeeded: bool) -> None:
        """Remember how an episode ended."""
        if goal.template not in self._ended:
            self._goals.append(goal)
        self._ended[goal.template][episode] = succeeded

    def rate(self, goal: Goal, without: str = "") -> float:
        """Return the success rate of episodes with such a goal, leaving one out; 0.5 if there are
        no others."""
        like = self._like.setdefault(goal.template, [])
        ours = weigh_keys(goal).keys()
        for other in self._goals[len(like) :]:
            # How far two goals are put in the same words: 1 where only their values differ.
            theirs = weigh_keys(other).keys()
            shared = len(ours & theirs) / (len(ours | theirs) or 1)
            like.append(1.0 if other.template == goal.template else _OTHER_WORDS * shared)
        ended = [
            (share, [won for each, won in self._ended[other.template].items() if each != without])
            for share, other in zip(like, self._goals, strict=True)
        ]
        best = max((share for share, won in ended if won), default=0.0)
        total, successes = 0.0, 0.0
        for share, won in ended:
            weight = exp(_SHARP_GOALS * (share - best))
            total += weight * len(won)
            successes += weight * sum(won)
        return (successes + _BASE * 0.5) / (total + _BASE)


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
    places = [_stands(each, there, goal) for each in (text, node.name if node else "") if each]
    if op == "answer" and places and places == [masked(text)]:
        places = ["else"]  # that these words were right elsewhere says nothing
    if not places and node is not None and node.value:
        places = [_stands(node.value, there, goal)]
    return op, node.role if node else "", " ".join(places)


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
