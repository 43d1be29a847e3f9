"""Accuracy: how often the world model is right on real transitions, beside what copying gets."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np

from webagent.models.builtin.vocabulary import keys_of
from webagent.records import Observation, Trajectory
from worldmodel.model import Outcome, Situation
from worldmodel.transitions import Transition

_BATCH = 32
_WHOLE = 10_000
_LineKey: TypeAlias = tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
Changes: TypeAlias = Counter[tuple[str, _LineKey]]


class Predictor(Protocol):
    """What can be measured: the world model, or a baseline."""

    def outcomes(self, situations: Sequence[Situation]) -> list[Outcome]:
        """Return how each action would turn out."""
        ...

    def imagine(
        self, situations: Sequence[Situation], rngs: Sequence[np.random.Generator | None]
    ) -> list[tuple[Observation, bool]]:
        """Return the next page of each situation."""
        ...


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Figures in [0, 1], None where there was nothing to measure; `asdict` makes JSON of it.

    Pages are compared line by line, capitals, white space and focus aside, and only where the
    episode went on: nobody acts on a page that is over. Changed lines are counted over all pages
    together (micro average); a line that changed is one that went and one that came.
    """

    transitions: int
    went_on: int
    """Transitions after which the episode went on."""
    exact: float | None
    """Share of pages predicted line for line."""
    changed_precision: float | None
    """Share of the changes predicted that took place."""
    changed_recall: float | None
    """Share of the changes that took place that were predicted."""
    changed_f1: float | None
    no_change: float | None
    """Share of the pages that stayed as they were that were predicted to."""
    ends: float | None
    """Share of transitions told rightly to end the episode or not."""
    success: float | None
    """Share of transitions whose episode's outcome was told rightly."""
    brier: float | None
    """Mean squared error of P(success); less is better, 0.25 is a coin's."""
    failure_called_success: float | None
    """Share of the failures that were taken for successes: the error that misleads a search."""


@dataclass(frozen=True, slots=True)
class CopyPage:
    """The baseline: every page stays as it is, and every action has the same outcome."""

    outcome: Outcome

    @classmethod
    def most_frequent(cls, transitions: Sequence[Transition]) -> "CopyPage":
        """Return the one whose outcome has the frequencies of these (training) transitions."""
        ends = [float(t.after.over) for t in transitions]
        same = [float(not t.after.over and not changes(t.before, t.after)) for t in transitions]
        succeeds = [float(t.succeeded) for t in transitions]
        return cls(Outcome(*(_mean(values) or 0.0 for values in (ends, same, succeeds))))

    def outcomes(self, situations: Sequence[Situation]) -> list[Outcome]:
        """Return the same for all."""
        return [self.outcome] * len(situations)

    def imagine(
        self, situations: Sequence[Situation], rngs: Sequence[np.random.Generator | None]
    ) -> list[tuple[Observation, bool]]:
        """Return the pages there are."""
        over, succeeds = self.outcome.ends >= 0.5, self.outcome.succeeds >= 0.5
        return [(replace(s.observation, over=over), succeeds) for s in situations]


@dataclass(frozen=True, slots=True)
class _MeasuredTransition:
    """One transition with what was predicted of it."""

    truth: Transition
    page: Observation
    outcome: Outcome

    @property
    def goes_on(self) -> bool:
        return not self.truth.after.over

    @property
    def happened(self) -> Changes:
        return changes(self.truth.before, self.truth.after)

    @property
    def predicted(self) -> Changes:
        return changes(self.truth.before, self.page)

    @property
    def is_exact(self) -> bool:
        return not self.page.over and _line_keys(self.page) == _line_keys(self.truth.after)


def measure(world: Predictor, transitions: Iterable[Transition]) -> Accuracy:
    """Return how right the most probable predictions are, on transitions `world` has not seen."""
    seen, measured = list(transitions), []
    for first in range(0, len(seen), _BATCH):
        batch = seen[first : first + _BATCH]
        situations = [Situation(t.before, t.steps, t.action) for t in batch]
        outcomes = world.outcomes(situations)
        pages = world.imagine(situations, [None] * len(batch))
        for truth, outcome, (page, _) in zip(batch, outcomes, pages, strict=True):
            measured.append(_MeasuredTransition(truth, page, outcome))
    going = [one for one in measured if one.goes_on]
    unchanged = [one for one in going if not one.happened]
    happened = sum(one.happened.total() for one in going)
    predicted = sum(one.predicted.total() for one in going)
    both = sum((one.happened & one.predicted).total() for one in going)
    pairs = [(one.outcome.succeeds, one.truth.succeeded) for one in measured]
    return Accuracy(
        transitions=len(measured),
        went_on=len(going),
        exact=_mean([one.is_exact for one in going]),
        changed_precision=both / predicted if predicted else None,
        changed_recall=both / happened if happened else None,
        changed_f1=2 * both / (happened + predicted) if happened + predicted else None,
        no_change=_mean([not one.page.over and not one.predicted for one in unchanged]),
        ends=_mean([(one.outcome.ends >= 0.5) != one.goes_on for one in measured]),
        success=_mean([(chance >= 0.5) == success for chance, success in pairs]),
        brier=_mean([(chance - success) ** 2 for chance, success in pairs]),
        failure_called_success=_mean([chance >= 0.5 for chance, success in pairs if not success]),
    )


def changes(before: Observation, after: Observation) -> Changes:
    """Return the lines that went and the lines that came, however often each."""
    old, new = Counter(_line_keys(before)), Counter(_line_keys(after))
    gone = Counter({("gone", line): count for line, count in (old - new).items()})
    come = Counter({("come", line): count for line, count in (new - old).items()})
    return gone + come


def _line_keys(page: Observation) -> list[_LineKey]:
    """Return the lines of a page, capitals, white space and focus aside."""
    return [
        (
            node.role,
            node.kind,
            keys_of(node.name, _WHOLE),
            keys_of(node.value, _WHOLE),
            tuple(sorted(state for state in node.states if state != "focused")),
        )
        for node in page.nodes
    ]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


HELD_BACK = 7
"""One real episode in so many is never trained on, so that belief can be checked against it."""


def is_held_back(trajectory: Trajectory) -> bool:
    """Return whether the episode is kept for checking; fixed by its id."""
    return int(trajectory.id[:8], 16) % HELD_BACK == 0


def precision_of_belief(
    world: Predictor, transitions: Sequence[Transition], belief: float
) -> tuple[float, int]:
    """Return how often real last steps that the model gave P(success) >= `belief` did succeed.

    Returns that share and how many there were; 0 when it believed in none.
    """
    ended = [t for t in transitions if t.after.over]
    outcomes = world.outcomes([Situation(t.before, t.steps, t.action) for t in ended])
    believed = [
        t for t, o in zip(ended, outcomes, strict=True) if o.succeeds >= belief and o.ends >= 0.5
    ]
    right = sum(t.succeeded for t in believed)
    return (right / len(believed) if believed else 0.0), len(believed)
