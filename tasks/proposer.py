"""Proposers: new tasks out of what went wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tasks.suite import Suite
from tasks.task import Task


@dataclass(frozen=True, slots=True)
class Attempt:
    """A task that was tried, and how often it went well."""

    task: Task
    tries: int
    successes: int


class Proposer(Protocol):
    """Makes tasks out of attempts that failed."""

    def propose(
        self, failures: Sequence[Attempt], count: int, rng: np.random.Generator
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
        self, failures: Sequence[Attempt], count: int, rng: np.random.Generator
    ) -> list[Task]:
        """Failed tasks that were not yet tried too often, drawn without replacement."""
        open_ = [f for f in failures if not f.successes and f.tries < self.patience]
        order = rng.permutation(len(open_))[:count]
        return [_child(open_[int(i)].task) for i in order]


@dataclass(frozen=True, slots=True)
class Variation:
    """The failed task with its generator set to easier pages, where the benchmark has such
    settings; and elsewhere another proposer's idea."""

    suite: Suite
    otherwise: Proposer

    def propose(
        self, failures: Sequence[Attempt], count: int, rng: np.random.Generator
    ) -> list[Task]:
        """Easier variants of failed tasks first, then what the other proposer makes of the rest."""
        easier: list[Task] = []
        for attempt in failures:
            settings = self.suite.easier(attempt.task.name)
            if settings and not attempt.successes and len(easier) < count // 2:
                made = self.suite.make(attempt.task.name, attempt.task.seed, settings)
                easier.append(replace(made, parent=attempt.task.id))
        return [*easier, *self.otherwise.propose(failures, count - len(easier), rng)]


def _child(task: Task) -> Task:
    return replace(task, parent=task.parent or f"{task.id}:{task.seed}")
