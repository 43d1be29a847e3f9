"""Sampling: the tasks of a round in order, each with the reason why it was chosen."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from tasks.curriculum.estimates import (
    Rules,
    TaskEstimate,
    TaskKind,
    TaskStanding,
    estimate_tasks,
    group_names,
)
from tasks.curriculum.record import TaskRecord
from tasks.suite import Suite
from tasks.task import Task
from tasks.variants import Proposer, TriedTask

EVEN_SHARE = 0.1
"""Share of the steps that is spread evenly over sites and skills."""
FOCUS = 1.5
"""Tries go by this power of the gain for a step. At 1 most of them still go to the many tasks with
little to gain; the higher, the more a mistaken expectation costs."""
_MOST, _MOST_OF_RANKED = 3.0, 1.5
"""Times as many tries as it had if all tasks, or all that are drawn by gain, had as many: those of
a task, at most. What a try is worth is as old as the round; after some ten the task may be
learnt."""
_LEAST = 1e-6
"""Gain for a step that every task has, so that none is out for good."""


def share_steps(
    estimates: Sequence[TaskEstimate],
    kinds: Mapping[str, TaskKind],
    even: float = EVEN_SHARE,
    focus: float = FOCUS,
) -> NDArray[np.float64]:
    """Return the share of the steps of each of these tasks; they sum to 1.

    By what a step of each is expected to gain, no task being given many times the tries that it had
    if all had as many; but for the part `even`: that is divided equally
    among all sites and all skills that have one of these tasks, and inside each again by gain. So
    each of n sites and skills together has at least even / n, however little its tasks are worth.
    Where a suite has neither, all goes by gain.
    """
    rates = np.array([max(estimate.rate, _LEAST) for estimate in estimates])
    tries = rates**focus
    most = max(_MOST / len(kinds), _MOST_OF_RANKED / len(estimates))
    values = _cap(tries / tries.sum(), most) * np.array([estimate.cost for estimate in estimates])
    by_gain = values / values.sum()
    places = {estimate.name: place for place, estimate in enumerate(estimates)}
    groups = [
        [places[name] for name in names if name in places] for names in group_names(kinds).values()
    ]
    groups = [group for group in groups if group]
    if not groups:
        return np.asarray(by_gain)
    spread = np.zeros(len(estimates))
    for group in groups:
        spread[group] += values[group] / values[group].sum() / len(groups)
    return np.asarray((1 - even) * by_gain + even * spread)


def _cap(shares: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Return shares of at most so much each, what is cut off divided among the others by theirs;
    `most` times their number is more than 1."""
    shares = shares.copy()
    is_full = np.zeros(len(shares), dtype=bool)
    while (over := shares > most).any():
        is_full |= over
        shares[is_full] = most
        shares[~is_full] *= (1.0 - most * is_full.sum()) / shares[~is_full].sum()
    return shares


class Reason(StrEnum):
    """What a task was sampled for."""

    VALUE = "value"
    UNSOLVED = "unsolved"
    REVISIT = "revisit"
    PROPOSED = "proposed"
    EVEN = "even"
    """Every task as much: no curriculum."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a task was sampled."""

    reason: Reason
    why: str
    """A sentence."""
    value: float = 0.0
    """Validity × E[p (1 - p)], 1 being the most."""
    gain: float = 0.0
    """What a try is expected to add to the success rate."""
    chance: float = 0.5
    """The mean of what is believed of its success rate."""
    validity: float = 1.0
    share: float = 0.0
    """Of the steps that go by value."""


def explain_value(
    estimate: TaskEstimate, share: float, ranked: Sequence[TaskEstimate], now: int
) -> Explanation:
    """Explain a task that may teach something."""
    low, high = estimate.belief.interval()
    rank = 1 + sum(other.rate > estimate.rate for other in ranked)
    why = (
        f"{_history(estimate.record, now)}, so its chance is taken to be {_percent(low)} to"
        f" {_percent(high)} and its value {estimate.value:.2f}; a try of"
        f" {estimate.cost:.0f} steps is expected to add {100 * estimate.gain:.1f} points, for its"
        f" steps number {rank} of {len(ranked)}; it gets {share:.0%} of the steps"
    )
    return _explain(Reason.VALUE, f"{why}{_doubt(estimate)}", estimate, share)


def explain_unsolved(estimate: TaskEstimate, count: int, now: int) -> Explanation:
    """Explain a task that nobody has solved yet."""
    record = estimate.record
    why = (
        f"never solved in {record.all_tries} tries, the last in round {record.last_round};"
        f" one of {count} such tasks that are tried in turn, the longest unseen first"
    )
    return _explain(Reason.UNSOLVED, f"{why}{_doubt(estimate)}", estimate, 0.0)


def explain_revisit(estimate: TaskEstimate, now: int, rules: Rules) -> Explanation:
    """Explain a task that was mastered."""
    why = (
        f"mastered ({estimate.record.successes} of {estimate.record.tries} tries) and not tried for"
        f" {now - estimate.record.last_round} rounds; tried again to see whether it still is"
        f" {_percent(rules.mastered)} or better"
    )
    return _explain(Reason.REVISIT, why, estimate, 0.0)


def explain_proposal(parent: str, estimate: TaskEstimate | None) -> Explanation:
    """Explain a task that a proposer made."""
    known = f" ({_percent(estimate.belief.mean)} of whose kind succeed)" if estimate else ""
    return Explanation(
        Reason.PROPOSED, f"made from {parent or 'nothing known'}{known} by a proposer"
    )


def explain_even(count: int) -> Explanation:
    """Explain a task that was sampled without a curriculum."""
    return Explanation(Reason.EVEN, f"every one of {count} tasks is tried as often")


def _explain(reason: Reason, why: str, estimate: TaskEstimate, share: float) -> Explanation:
    return Explanation(
        reason, why, estimate.value, estimate.gain, estimate.belief.mean, estimate.validity, share
    )


def _history(record: TaskRecord, now: int) -> str:
    if not record.tries:
        strayed = record.all_tries
        tried = f"all {strayed} tries failed after a random action" if strayed else "never tried"
        shown = record.demonstrations
        return f"{tried}, {shown} demonstrations learnt from" if shown else tried
    last = record.rounds[-1]
    when = "in the round before" if last.round == now - 1 else f"in round {last.round}"
    if record.tries == last.tries:
        return f"{last.successes} of {last.tries} tries succeeded {when}"
    return (
        f"{last.successes} of {last.tries} tries succeeded {when} and {record.successes} of"
        f" {record.tries} in all"
    )


def _doubt(estimate: TaskEstimate) -> str:
    return (
        f"; {estimate.doubt}, so it counts {_percent(estimate.validity)}" if estimate.doubt else ""
    )


def _percent(share: float) -> str:
    return f"{share:.0%}"


@dataclass(frozen=True, slots=True)
class Horizon:
    """AgentGym-RL's ScalingInter (arXiv 2509.08755): interaction grows while a policy learns.

    There 8, 12 and 15 steps by phases; here a share of what the task allows, in even steps.
    """

    first: float = 0.5
    """Share of a task's steps in the first round."""
    grown: float = 0.6
    """Share of the rounds after which tasks have all their steps."""
    short: int = 10
    """Steps that a task is never held below; tasks that allow no more are left alone."""

    def steps(self, most: int, round: int, rounds: int) -> int:
        """Return the steps of an episode in a round (from 1) of so many, for a task that allows
        `most`."""
        turns = max(1.0, self.grown * rounds)
        share = min(1.0, self.first + (1 - self.first) * (round - 1) / turns)
        return min(most, max(self.short, math.ceil(most * share)))


NO_LIMIT = Horizon(first=1.0)
"""All steps from the first round on."""


@dataclass(frozen=True, slots=True)
class SampledTask:
    """A task with the reason why it was chosen."""

    task: Task
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Samples tasks by what they may teach for the steps they take.

    Steps go by value, every site and skill having its part; a bounded share goes to tasks that
    nobody has solved, in turn, and another to tasks that a proposer made; mastered tasks are tried
    again now and then. Shares hold for the beginning of the list as well as for all of it.
    """

    suite: Suite
    kinds: Mapping[str, TaskKind]
    """The tasks to draw from."""
    rules: Rules = field(default_factory=Rules)
    horizon: Horizon = field(default_factory=Horizon)
    even_share: float = EVEN_SHARE
    focus: float = FOCUS
    """Tries go by this power of the gain for a step."""
    unsolved_share: float = 0.15
    """Share of the steps for tasks that nobody has solved, at most."""
    proposed_share: float = 0.25
    """Share of the draws for tasks a proposer made, at most."""
    revisits: int = 2
    """Tries of a retired task when it is due."""

    def estimates(
        self, records: Mapping[str, TaskRecord], now: int, rounds: int
    ) -> dict[str, TaskEstimate]:
        """Return what is known of each task before round `now` of so many."""
        costs = {
            name: float(self.horizon.steps(self.suite.task(name, 0).max_steps, now, rounds))
            for name in self.kinds
        }
        return estimate_tasks(self.kinds, records, costs, now, self.rules)

    def sample_tasks(  # noqa: PLR0913 - each is another part of what is known
        self,
        steps: int,
        now: int,
        rounds: int,
        records: Mapping[str, TaskRecord],
        used: Mapping[str, int],
        attempts: Sequence[TriedTask],
        proposer: Proposer,
        rng: np.random.Generator,
    ) -> list[SampledTask]:
        """Return tasks on training seeds for round `now` (from 1) of so many: as many as there are
        steps to spend, so that they suffice where each takes one. None where no task is valid.

        Fresh seeds in order: `used` counts the seeds of each name taken already. The same arguments
        give the same tasks.
        """
        estimates = self.estimates(records, now, rounds)
        named = self._choose_names(steps, now, estimates, rng)
        if not named:
            return []
        cost = float(np.mean([estimates[name].cost for name, _ in named]))
        wanted = int(steps / cost * self.proposed_share)
        usable = [a for a in attempts if self._is_promising(a, estimates)]
        made = proposer.propose(usable, wanted, rng)
        proposals = [
            SampledTask(task, explain_proposal(task.parent, estimates.get(task.name)))
            for task in made[:wanted]
        ]
        following = dict(used)
        fresh = []
        for name, why in named:
            fresh.append(SampledTask(self.suite.task(name, following.get(name, 0)), why))
            following[name] = following.get(name, 0) + 1
        mixed = _mix(fresh, proposals, self.proposed_share)
        limited = []
        for drawn in mixed[:steps]:
            most = self.horizon.steps(drawn.task.max_steps, now, rounds)
            limited.append(replace(drawn, task=replace(drawn.task, max_steps=most)))
        return limited

    def _choose_names(
        self, count: int, now: int, estimates: Mapping[str, TaskEstimate], rng: np.random.Generator
    ) -> list[tuple[str, Explanation]]:
        """Return names with explanations: what is due first, then the rest in even measure."""
        by = {s: [w for w in estimates.values() if w.standing is s] for s in TaskStanding}
        learning = by[TaskStanding.LEARNING]
        ranked = learning or [*by[TaskStanding.DUE], *by[TaskStanding.RETIRED]]
        if not ranked and not by[TaskStanding.UNSOLVED]:
            return []
        shares = (
            share_steps(ranked, self.kinds, self.even_share, self.focus) if ranked else np.zeros(0)
        )
        explanations = {
            w.name: explain_value(w, float(share), ranked, now)
            for w, share in zip(ranked, shares, strict=True)
        }
        due = [w for w in by[TaskStanding.DUE] if learning for _ in range(self.revisits)]
        names = [(w.name, explain_revisit(w, now, self.rules)) for w in due]
        # The longest unseen first, among equals in random order.
        unsolved = by[TaskStanding.UNSOLVED]
        shuffled = [unsolved[int(place)] for place in rng.permutation(len(unsolved))]
        turns = sorted(shuffled, key=lambda w: (w.record.last_round, w.record.tries))
        weights = self._weigh(ranked, shares, turns)
        turn = 0
        for place in _spread_evenly(weights, count - len(names), rng):
            if place < len(ranked):
                names.append((ranked[place].name, explanations[ranked[place].name]))
            else:
                estimate = turns[turn % len(turns)]
                names.append((estimate.name, explain_unsolved(estimate, len(turns), now)))
                turn += 1
        return names[:count]

    def _weigh(
        self,
        ranked: Sequence[TaskEstimate],
        shares: NDArray[np.float64],
        turns: Sequence[TaskEstimate],
    ) -> NDArray[np.float64]:
        """Return the weight of each task, and of all unsolved ones together as the last, for a step
        spent."""
        part = (self.unsolved_share if ranked else 1.0) if turns else 0.0
        draws = [
            (1 - part) * share / estimate.cost
            for share, estimate in zip(shares, ranked, strict=True)
        ]
        if turns:
            draws.append(part / float(np.mean([estimate.cost for estimate in turns])))
        weights = np.array(draws, dtype=np.float64)
        return weights / float(weights.sum())

    def _is_promising(self, attempt: TriedTask, estimates: Mapping[str, TaskEstimate]) -> bool:
        """Return whether something made from it is worth its steps; a failure of a task that is all
        but mastered is not."""
        name = attempt.task.name
        if name not in estimates:
            return True
        match estimates[name].standing:
            case TaskStanding.INVALID:
                return False
            case TaskStanding.UNSOLVED:
                return bool(self.suite.easier(name))
            case TaskStanding.LEARNING if not attempt.successes:
                return estimates[name].value >= 0.5 * max(
                    estimate.value for estimate in estimates.values()
                )
        return True


def sample_evenly(
    suite: Suite,
    names: Sequence[str],
    count: int,
    used: Mapping[str, int],
    rng: np.random.Generator,
) -> list[SampledTask]:
    """Return `count` tasks, of every name as many, on fresh seeds: what a curriculum is compared
    with."""
    following = dict(used)
    why = explain_even(len(names))
    drawn: list[SampledTask] = []
    while len(drawn) < count and names:
        for place in rng.permutation(len(names)):
            name = names[int(place)]
            drawn.append(SampledTask(suite.task(name, following.get(name, 0)), why))
            following[name] = following.get(name, 0) + 1
    return drawn[:count]


def _spread_evenly(weights: NDArray[np.float64], count: int, rng: np.random.Generator) -> list[int]:
    """Return places such that each comes up by its weight in every stretch of the list, not only on
    the average: what is longest owed comes next."""
    credit = rng.random(len(weights))
    places = []
    for _ in range(max(0, count)):
        credit += weights
        place = int(np.argmax(credit))
        credit[place] -= 1
        places.append(place)
    return places


def _mix(
    fresh: Sequence[SampledTask], proposals: Sequence[SampledTask], share: float
) -> list[SampledTask]:
    """Return both in their order, this share of the beginning being proposals, as long as there
    are."""
    mixed, left = list[SampledTask](), list(reversed(proposals))
    for drawn in fresh:
        while left and (len(proposals) - len(left) + 0.5) < share * (len(mixed) + 1):
            mixed.append(left.pop())
        mixed.append(drawn)
    return [*mixed, *reversed(left)]
