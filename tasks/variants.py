"""Variants: tasks that were tried, again on the same seed, easier or harder."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from tasks.suite import Suite
from tasks.task import Task


@dataclass(frozen=True, slots=True)
class TriedTask:
    """A task that was tried, and how often it went well."""

    task: Task
    tries: int
    successes: int


class Proposer(Protocol):
    """Makes tasks out of attempts."""

    def propose(
        self, attempts: Sequence[TriedTask], count: int, rng: np.random.Generator
    ) -> list[Task]:
        """At most `count` new tasks; each names in `parent` the task it was made from."""
        ...


@dataclass(frozen=True, slots=True)
class Retry:
    """The same task on the same seed again, until it was solved or tried `patience` times.

    What was failed once is played anew from a fresh page, so a lucky exploration can turn a
    failure into the demonstration that was missing.
    """

    patience: int = 3

    def propose(
        self, attempts: Sequence[TriedTask], count: int, rng: np.random.Generator
    ) -> list[Task]:
        """Failed tasks that were not yet tried too often, drawn without replacement."""
        open_ = [f for f in attempts if not f.successes and f.tries < self.patience]
        order = rng.permutation(len(open_))[:count]
        tasks = [open_[int(i)].task for i in order]
        return [replace(task, parent=task.parent or f"{task.id}:{task.seed}") for task in tasks]


@dataclass(frozen=True, slots=True)
class Variation:
    """Tasks under other settings of their generators, where the benchmark has such: what failed
    made easier, what is mastered made harder; and elsewhere another proposer's idea."""

    suite: Suite
    otherwise: Proposer
    mastered: float = 0.9
    """Success rate from which a task is made harder, after at least `enough` tries."""
    enough: int = 5
    easier_share: float = 0.5
    """Share of the proposals that may be easier variants."""
    harder_share: float = 0.1

    def propose(
        self, attempts: Sequence[TriedTask], count: int, rng: np.random.Generator
    ) -> list[Task]:
        """Variants that were not tried before, then what the other proposer makes of the rest."""
        tries, successes = Counter[str](), Counter[str]()
        for attempt in attempts:
            tries[attempt.task.name] += attempt.tries
            successes[attempt.task.name] += attempt.successes
        rates = {name: successes[name] / n for name, n in tries.items() if n >= self.enough}
        names = {name for name, rate in rates.items() if rate >= self.mastered}
        failed = [a for a in attempts if not a.successes]
        solved = [a for a in attempts if a.successes and a.task.name in names]
        tried = {(a.task.id, a.task.seed) for a in attempts}
        made = self._variants(failed, self.suite.easier, tried)[: int(count * self.easier_share)]
        made += self._variants(solved, self.suite.harder, tried)[: int(count * self.harder_share)]
        return [*made, *self.otherwise.propose(attempts, count - len(made), rng)]

    def _variants(
        self,
        attempts: Sequence[TriedTask],
        settings_of: Callable[[str], Mapping[str, Any]],
        tried: set[tuple[str, int]],
    ) -> list[Task]:
        variants = []
        for attempt in attempts:
            settings = settings_of(attempt.task.name)
            if settings:
                made = self.suite.make(attempt.task.name, attempt.task.seed, settings)
                if (made.id, made.seed) not in tried:
                    variants.append(replace(made, parent=attempt.task.id))
        return variants
