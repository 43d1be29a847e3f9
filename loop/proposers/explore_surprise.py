"""Surprise: how little of a transition was foreseen, for going first where it is most.

After CuES (arXiv 2512.01311), with the world model's own accuracy in place of a model's opinion.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias

from loop.proposers.explorer import offer_of
from loop.proposers.frontier import pattern_of
from webagent.action import Action
from webagent.records import Observation, Step

if TYPE_CHECKING:
    from worldmodel.accuracy import Predictor


@dataclass(frozen=True, slots=True)
class Moved:
    """A transition of an exploration: what was seen, done, and seen then. What a world model trains
    on says besides how the episode ended, which exploring does not."""

    steps: tuple[Step, ...]
    before: Observation
    action: Action
    after: Observation
    episode: str = ""


Surprise: TypeAlias = Callable[[Moved], float]
"""From 0, foreseen, to 1."""


def by_novelty() -> Surprise:
    """Where there is no world model: one over the root of how often the same was tried on the same
    kind of page with the same outcome. Counts as it is asked."""
    counts: Counter[tuple[str, ...]] = Counter()

    def surprise(moved: Moved) -> float:
        deed = offer_of(moved.before, moved.action)
        key = (pattern_of(moved.before.url), deed, pattern_of(moved.after.url))
        counts[key] += 1
        return 1.0 / sqrt(counts[key])

    return surprise


def by_prediction(world: "Predictor") -> Surprise:
    """What the world model got wrong: one less the F1 of the changes it predicted, and where
    nothing changed or was predicted to, whether the page is as predicted."""
    from worldmodel.accuracy import measure
    from worldmodel.transitions import Transition

    def surprise(moved: Moved) -> float:
        m = moved
        named = Transition(m.steps, m.before, m.action, m.after, False, "explore", m.episode)
        told = measure(world, [named])
        right = told.changed_f1 if told.changed_f1 is not None else told.exact
        return 1.0 - (right if right is not None else 0.0)

    return surprise
