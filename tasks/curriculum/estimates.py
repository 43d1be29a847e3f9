"""What is known of each task: its chance of success, what a try may teach and cost, its
standing."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from tasks.curriculum.record import RoundRecord, TaskRecord, excuse_failures
from tasks.suite import Suite

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
        """Return P(p > level)."""
        return float(self._masses()[level < _POINTS].sum())

    def interval(self, mass: float = 0.8) -> tuple[float, float]:
        """Return the bounds that leave out equally much on either side."""
        reached = np.cumsum(self._masses())
        rest = (1 - mass) / 2
        low, high = np.searchsorted(reached, [rest, 1 - rest])
        return float(_POINTS[low]), float(_POINTS[min(int(high), len(_POINTS) - 1)])

    def with_evidence(self, successes: float, failures: float) -> "Belief":
        """Return the belief with so much more evidence."""
        return Belief(self.a + successes, self.b + failures)

    def _masses(self) -> NDArray[np.float64]:
        """Return the probability of each of the points, equally far apart."""
        logs = (self.a - 1) * np.log(_POINTS) + (self.b - 1) * np.log1p(-_POINTS)
        masses = np.exp(logs - logs.max())
        return np.asarray(masses / masses.sum())


@dataclass(frozen=True, slots=True)
class TaskKind:
    """Where a task is done and what it takes."""

    site: str = ""
    """Empty where pages are wherever their addresses say."""
    skills: tuple[str, ...] = ()
    is_demonstrated: bool = False
    """Whether the policy was trained on demonstrations of it."""


def find_kinds(
    suite: Suite, names: Sequence[str], demonstrated: Collection[str] = ()
) -> dict[str, TaskKind]:
    """Return the kind of each task, as the first task of its name has it."""
    first = {name: suite.task(name, 0) for name in names}
    return {
        name: TaskKind(task.site, task.skills, name in demonstrated) for name, task in first.items()
    }


def group_names(kinds: Mapping[str, TaskKind]) -> dict[str, list[str]]:
    """Return the names under each site and each skill, as `site fossil@1` and `skill search`."""
    found: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        groups = [f"site {kind.site}"] if kind.site else []
        for group in [*groups, *(f"skill {skill}" for skill in kind.skills)]:
            found.setdefault(group, []).append(name)
    return found


def find_alike(kinds: Mapping[str, TaskKind]) -> dict[str, list[list[str]]]:
    """Return for each task the groups of others that say most of it: with the same skill, else on
    the same site, else of all; demonstrated ones and others apart."""
    found = {}
    for name, kind in kinds.items():
        peers = [n for n, k in kinds.items() if k.is_demonstrated == kind.is_demonstrated]
        others = [n for n in peers if n != name]
        by_skill = [[n for n in others if skill in kinds[n].skills] for skill in kind.skills]
        on_site = [n for n in others if kinds[n].site == kind.site]
        groups = [group for group in by_skill if group] or [on_site or others]
        found[name] = [group for group in groups if group]
    return found


Array = NDArray[np.float64]

EXPLORING = 0.9
"""What exploring leaves of a success rate."""
ROUNDS_OF_LEARNING = 3
"""How often the prior is fitted to all tasks."""
PRIOR_TASKS = 10.0
"""How many tasks the prior from before counts for."""

_CEILINGS = np.array([0.005, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0])
_STARTS = np.array([0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
"""Parts of the ceiling."""
_HALVES = np.array([0.3, 1.0, 3.0, 10.0])
_START_WEIGHTS = np.array([0.25, 0.15, 0.15, 0.13, 0.12, 0.09, 0.07, 0.04])
_CEILING_GROUPS = (_CEILINGS < 0.05, (_CEILINGS >= 0.05) & (_CEILINGS < 0.95), _CEILINGS >= 0.95)
_REACH = {True: (0.15, 0.35, 0.5), False: (0.5, 0.25, 0.25)}
"""Of tasks that the policy was shown, and of others: the weights of ceilings near nothing, between,
and near one."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """What is expected of a task."""

    chance: float
    """E[p] now, without exploring."""
    gain: float
    """What one try is expected to add to p: E[p · what a success adds]."""


@dataclass(frozen=True, slots=True)
class _Curves:
    """Every curve that is thought of: three arrays [curves]."""

    ceiling: Array
    start: Array
    half: Array

    def at(self, lessons: float) -> Array:
        """Return the success rate of each after so many lessons: [curves]."""
        return self.ceiling - (self.ceiling - self.start) * self.half / (self.half + lessons)


def estimate_prospects(
    kinds: Mapping[str, TaskKind], records: Mapping[str, TaskRecord]
) -> dict[str, Prospect]:
    """Return what is expected of each of these tasks, by what all of them have shown."""
    found: dict[str, Prospect] = {}
    for is_shown in (True, False):
        names = [name for name, kind in kinds.items() if kind.is_demonstrated == is_shown]
        known = [records.get(name, TaskRecord()) for name in names]
        likelihoods = [_measure_likelihood(record) for record in known]
        # What is thought of tasks before any was tried: [curves], sums to 1.
        ceilings = np.zeros(len(_CEILINGS))
        for group, weight in zip(_CEILING_GROUPS, _REACH[is_shown], strict=True):
            ceilings[group] = weight / group.sum()
        halves = np.full(len(_HALVES), 1 / len(_HALVES))
        prior = np.einsum("i,j,k->ijk", ceilings, _START_WEIGHTS, halves).ravel()
        weights = prior
        # The same as the tasks have it among them, by expectation and maximisation.
        for _ in range(ROUNDS_OF_LEARNING):
            counts = PRIOR_TASKS * prior
            for likelihood in likelihoods:
                posterior = weights * likelihood
                counts = counts + posterior / posterior.sum()
            weights = counts / counts.sum()
        for name, record, likelihood in zip(names, known, likelihoods, strict=True):
            posterior = weights * likelihood
            posterior /= posterior.sum()
            lessons = record.demonstrations + record.successes
            chance = _CURVES.at(lessons)
            more = _CURVES.at(lessons + 1) - chance
            found[name] = Prospect(float(posterior @ chance), float(posterior @ (chance * more)))
    return found


_GRID = np.meshgrid(_CEILINGS, _STARTS, _HALVES, indexing="ij")
_CURVES = _Curves(_GRID[0].ravel(), (_GRID[0] * _GRID[1]).ravel(), _GRID[2].ravel())


def _measure_likelihood(record: TaskRecord) -> Array:
    """Return how well each curve explains the outcomes, the best one by 1: [curves]."""
    lessons, logs = float(record.demonstrations), np.zeros(len(_CURVES.half))
    for played in record.rounds:
        chance = np.clip(EXPLORING * _CURVES.at(lessons), 1e-4, 1 - 1e-4)
        failures = played.tries - played.successes
        logs += played.successes * np.log(chance) + failures * np.log1p(-chance)
        lessons += played.successes
    return np.asarray(np.exp(logs - logs.max()))


class TaskStanding(StrEnum):
    """Exactly one at a time."""

    LEARNING = "learning"
    """Drawn by its value."""
    UNSOLVED = "unsolved"
    """Tried and never solved: drawn in turn, from a share of their own."""
    RETIRED = "retired"
    """Surely mastered: not drawn until its revisit."""
    DUE = "due"
    """Mastered, and to be tried again in this round."""
    INVALID = "invalid"
    """Not drawn: its outcomes say nothing."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When a task goes from one standing to another."""

    keep: float = 0.5
    """What evidence still counts for after one more round."""
    mastered: float = 0.8
    """Success rate, exploring, from which there is nothing more to learn."""
    certainty: float = 0.9
    """Probability that a task is mastered from which it is retired."""
    revisit: int = 3
    """Rounds after its last try that a retired task is tried again."""
    patience: int = 8
    """Tries without a success after which a task is one that nobody has solved."""
    oracle_patience: int = 5
    """Failed tries of a demonstrator, and of the policy, after which a task that nobody solved is
    invalid."""
    least_validity: float = 0.25
    """Validity below which a task is not drawn."""


def find_validity(record: TaskRecord, rules: Rules) -> tuple[float, str]:
    """Return how far outcomes of the task can be believed, in [0, 1], with the reason where that is
    not 1.

    (1 + judged tries) / (1 + all tries), those in which the world failed or the check could not be
    evaluated included, but for as many as are excused; 0 where demonstrators and the policy always
    failed.
    """
    unsolved = not record.successes and not record.shown_successes
    if unsolved and min(record.shown, record.all_tries) >= rules.oracle_patience:
        return 0.0, (
            f"nobody can do it: {record.shown} tries of a demonstrator and {record.all_tries} of"
            " the policy all failed"
        )
    broken = sum(played.broken for played in record.rounds)
    unjudged = sum(played.unjudged for played in record.rounds)
    lost = broken + unjudged
    if not lost:
        return 1.0, ""
    causes = [f"its page failed {broken} times"] if broken else []
    causes += [f"its check could not be evaluated {unjudged} times"] if unjudged else []
    reason = f"{' and '.join(causes)} in {record.all_tries + lost} tries"
    own = max(0.0, lost - record.excused)
    if not own:
        return 1.0, ""
    if record.excused:
        reason += f", {record.excused:.1f} of these as others failed in the same rounds"
    return (1 + record.all_tries) / (1 + record.all_tries + own), reason


def find_standing(record: TaskRecord, now: int, rules: Rules) -> TaskStanding:
    """Return the standing before round `now`.

    A task retires at the end of a round after which it is surely mastered, and comes back when a
    later try of it fails.
    """
    if find_validity(record, rules)[0] < rules.least_validity:
        return TaskStanding.INVALID
    retired, seen = False, list[RoundRecord]()
    for played in record.rounds:
        seen.append(played)
        if retired:
            retired = played.successes == played.tries
            continue
        evidence = TaskRecord(tuple(seen)).evidence(played.round + 1, rules.keep)
        retired = Belief().with_evidence(*evidence).above(rules.mastered) >= rules.certainty
    if retired:
        is_due = now - record.last_round >= rules.revisit
        return TaskStanding.DUE if is_due else TaskStanding.RETIRED
    if record.all_tries >= rules.patience and not record.successes:
        return TaskStanding.UNSOLVED
    return TaskStanding.LEARNING


TAUGHT, UNTAUGHT = 0.6, 0.2
"""What a success rate is taken to be where nothing was tried: of tasks whose demonstrations the
policy was trained on, and of others."""
PRIOR_TRIES = 2.0
"""How many tries what is known of similar tasks counts for."""
_MOST_CERTAIN = 0.95
"""A prior mean is never further from a half than this."""


@dataclass(frozen=True, slots=True)
class TaskEstimate:
    """What the curriculum knows of a task before a round."""

    name: str
    record: TaskRecord
    belief: Belief
    validity: float
    doubt: str
    """Why the validity is not 1; empty where it is."""
    standing: TaskStanding
    cost: float
    """Steps that a try takes, as far as is known."""
    gain: float
    """Validity × what a try is expected to add to the success rate, in [0, 1]."""

    @property
    def rate(self) -> float:
        """What a step is expected to add to the success rate."""
        return self.gain / self.cost

    @property
    def value(self) -> float:
        """Validity × E[p (1 - p)], in [0, 1]."""
        return self.validity * self.belief.value


def estimate_tasks(
    kinds: Mapping[str, TaskKind],
    records: Mapping[str, TaskRecord],
    costs: Mapping[str, float],
    now: int,
    rules: Rules,
) -> dict[str, TaskEstimate]:
    """Estimate each task before round `now`; `costs` has the steps a try may take at most."""
    records = excuse_failures(records)
    empty = TaskRecord()
    peers = find_alike(kinds)
    found = {}
    expected = estimate_prospects(kinds, records)
    for name in kinds:
        record = records.get(name, empty)
        groups = [[records.get(n, empty) for n in group] for group in peers[name]]
        prior = _belief_prior(
            TAUGHT if kinds[name].is_demonstrated else UNTAUGHT, groups, now, rules
        )
        validity, doubt = find_validity(record, rules)
        steps = sum(played.steps for played in record.rounds)
        found[name] = TaskEstimate(
            name=name,
            record=record,
            belief=prior.with_evidence(*record.evidence(now, rules.keep)),
            validity=validity,
            doubt=doubt,
            standing=find_standing(record, now, rules),
            # The mean steps of a try, the most it may take counted in once.
            cost=max(1.0, (steps + costs[name]) / (record.all_tries + 1)),
            gain=validity * expected[name].gain,
        )
    return found


def _belief_prior(
    start: float, groups: Sequence[Sequence[TaskRecord]], now: int, rules: Rules
) -> Belief:
    """Return what similar tasks say: their success rate, each group as much, counted as two tries.

    Where they were not tried either, the mean is `start`.
    """
    untried = Belief(PRIOR_TRIES * start, PRIOR_TRIES * (1 - start))
    means = []
    for group in groups:
        evidence = [record.evidence(now, rules.keep) for record in group]
        known = untried.with_evidence(sum(s for s, _ in evidence), sum(f for _, f in evidence))
        means.append(known.mean)
    mean = sum(means) / len(means) if means else start
    mean = min(max(mean, 1 - _MOST_CERTAIN), _MOST_CERTAIN)
    return Belief(PRIOR_TRIES * mean, PRIOR_TRIES * (1 - mean))
