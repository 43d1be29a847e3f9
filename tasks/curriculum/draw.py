"""Drawing: the tasks of a round in order, each with the account of why it was chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tasks.curriculum import account
from tasks.curriculum.account import Account
from tasks.curriculum.balance import EVEN_SHARE, FOCUS, shares_of
from tasks.curriculum.horizon import Horizon
from tasks.curriculum.kinds import Kind
from tasks.curriculum.record import Record
from tasks.curriculum.standing import Rules, Standing
from tasks.curriculum.worth import Worth, worths_of
from tasks.suite import Suite
from tasks.task import Task
from tasks.variants import Attempt, Proposer


@dataclass(frozen=True, slots=True)
class Drawn:
    """A task with the account of why it was chosen."""

    task: Task
    account: Account


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Draws tasks by what they may teach for the steps they take.

    Steps go by value, every site and skill having its part; a bounded share goes to tasks that
    nobody has solved, in turn, and another to tasks that a proposer made; mastered tasks are tried
    again now and then. Shares hold for the beginning of the list as well as for all of it.
    """

    suite: Suite
    kinds: Mapping[str, Kind]
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

    def worths(self, records: Mapping[str, Record], now: int, rounds: int) -> dict[str, Worth]:
        """What is known of each task before round `now` of so many."""
        costs = {
            name: float(self.horizon.steps(self.suite.task(name, 0).max_steps, now, rounds))
            for name in self.kinds
        }
        return worths_of(self.kinds, records, costs, now, self.rules)

    def draw(  # noqa: PLR0913 - each is another part of what is known
        self,
        steps: int,
        now: int,
        rounds: int,
        records: Mapping[str, Record],
        used: Mapping[str, int],
        attempts: Sequence[Attempt],
        proposer: Proposer,
        rng: np.random.Generator,
    ) -> list[Drawn]:
        """Tasks on training seeds for round `now` (from 1) of so many: as many as there are steps
        to spend, so that they suffice where each takes one. None where no task is valid.

        Fresh seeds in order of drawing: `used` counts the seeds of each name taken already. The
        same arguments give the same tasks.
        """
        worths = self.worths(records, now, rounds)
        named = self._named(steps, now, worths, rng)
        if not named:
            return []
        cost = float(np.mean([worths[name].cost for name, _ in named]))
        wanted = int(steps / cost * self.proposed_share)
        usable = [a for a in attempts if self._is_promising(a, worths)]
        made = proposer.propose(usable, wanted, rng)
        proposals = [
            Drawn(task, account.proposed(task.parent, worths.get(task.name)))
            for task in made[:wanted]
        ]
        following = dict(used)
        fresh = []
        for name, why in named:
            fresh.append(Drawn(self.suite.task(name, following.get(name, 0)), why))
            following[name] = following.get(name, 0) + 1
        mixed = _mixed(fresh, proposals, self.proposed_share)
        return [self._limited(drawn, now, rounds) for drawn in mixed[:steps]]

    def _named(
        self, count: int, now: int, worths: Mapping[str, Worth], rng: np.random.Generator
    ) -> list[tuple[str, Account]]:
        """Names with accounts: what is due first, then the rest in even measure."""
        by = {s: [w for w in worths.values() if w.standing is s] for s in Standing}
        learning = by[Standing.LEARNING]
        ranked = learning or [*by[Standing.DUE], *by[Standing.RETIRED]]
        if not ranked and not by[Standing.UNSOLVED]:
            return []
        shares = (
            shares_of(ranked, self.kinds, self.even_share, self.focus) if ranked else np.zeros(0)
        )
        accounts = {
            w.name: account.by_value(w, float(share), ranked, now)
            for w, share in zip(ranked, shares, strict=True)
        }
        due = [w for w in by[Standing.DUE] if learning for _ in range(self.revisits)]
        names = [(w.name, account.revisited(w, now, self.rules)) for w in due]
        turns = _in_turn(by[Standing.UNSOLVED], rng)
        weights = self._weights(ranked, shares, turns)
        turn = 0
        for place in _evenly(weights, count - len(names), rng):
            if place < len(ranked):
                names.append((ranked[place].name, accounts[ranked[place].name]))
            else:
                worth = turns[turn % len(turns)]
                names.append((worth.name, account.unsolved(worth, len(turns), now)))
                turn += 1
        return names[:count]

    def _weights(
        self, ranked: Sequence[Worth], shares: NDArray[np.float64], turns: Sequence[Worth]
    ) -> NDArray[np.float64]:
        """Draws of each task, and of all unsolved ones together as the last, for a step spent."""
        part = (self.unsolved_share if ranked else 1.0) if turns else 0.0
        draws = [
            (1 - part) * share / worth.cost for share, worth in zip(shares, ranked, strict=True)
        ]
        if turns:
            draws.append(part / float(np.mean([worth.cost for worth in turns])))
        weights = np.array(draws, dtype=np.float64)
        return weights / float(weights.sum())

    def _is_promising(self, attempt: Attempt, worths: Mapping[str, Worth]) -> bool:
        """Whether something made from it is worth its steps; a failure of a task that is all but
        mastered is not."""
        name = attempt.task.name
        if name not in worths:
            return True
        match worths[name].standing:
            case Standing.INVALID:
                return False
            case Standing.UNSOLVED:
                return bool(self.suite.easier(name))
            case Standing.LEARNING if not attempt.successes:
                return worths[name].value >= 0.5 * max(worth.value for worth in worths.values())
        return True

    def _limited(self, drawn: Drawn, now: int, rounds: int) -> Drawn:
        task = drawn.task
        steps = self.horizon.steps(task.max_steps, now, rounds)
        return replace(drawn, task=replace(task, max_steps=steps))


def draw_evenly(
    suite: Suite,
    names: Sequence[str],
    count: int,
    used: Mapping[str, int],
    rng: np.random.Generator,
) -> list[Drawn]:
    """`count` tasks, of every name as many, on fresh seeds: what a curriculum is compared with."""
    following = dict(used)
    why = account.even(len(names))
    drawn: list[Drawn] = []
    while len(drawn) < count and names:
        for place in rng.permutation(len(names)):
            name = names[int(place)]
            drawn.append(Drawn(suite.task(name, following.get(name, 0)), why))
            following[name] = following.get(name, 0) + 1
    return drawn[:count]


def _evenly(weights: NDArray[np.float64], count: int, rng: np.random.Generator) -> list[int]:
    """Places drawn so that each comes up by its weight in every stretch of the list, not only on
    the average: what is longest owed comes next."""
    credit = rng.random(len(weights))
    places = []
    for _ in range(max(0, count)):
        credit += weights
        place = int(np.argmax(credit))
        credit[place] -= 1
        places.append(place)
    return places


def _in_turn(worths: Sequence[Worth], rng: np.random.Generator) -> list[Worth]:
    """The longest unseen first, among equals in random order."""
    order = [worths[int(place)] for place in rng.permutation(len(worths))]
    return sorted(order, key=lambda worth: (worth.record.last_round, worth.record.tries))


def _mixed(fresh: Sequence[Drawn], proposals: Sequence[Drawn], share: float) -> list[Drawn]:
    """Both in their order, this share of the beginning being proposals, as long as there are."""
    mixed, left = list[Drawn](), list(reversed(proposals))
    for drawn in fresh:
        while left and (len(proposals) - len(left) + 0.5) < share * (len(mixed) + 1):
            mixed.append(left.pop())
        mixed.append(drawn)
    return [*mixed, *reversed(left)]
