"""The curriculum: decides what to try next by how much there is to learn from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.proposer import Attempt, Proposer
from tasks.suite import Suite
from tasks.task import Task


@dataclass(frozen=True, slots=True)
class Record:
    """How a task went so far, under the policy that is to improve."""

    tries: int = 0
    successes: int = 0

    @property
    def worth(self) -> float:
        """E[p (1 - p)] with p ~ Beta(successes + 1, failures + 1), scaled so that 1 is the most.

        A task that was never tried is worth 2/3, one that always or never succeeds tends to 0.
        """
        a, b = self.successes + 1, self.tries - self.successes + 1
        return 4 * a * b / ((a + b) * (a + b + 1))

    def and_one(self, success: bool) -> "Record":
        """The record with one more try."""
        return Record(self.tries + 1, self.successes + success)


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Draws tasks: by worth, with a floor under all of them, some made by a proposer."""

    suite: Suite
    names: tuple[str, ...]
    floor: float = 0.15
    """Least worth of a task, so that solved ones are revisited and hopeless ones kept in view."""
    proposed_share: float = 0.25
    """Share of the draws that may go to tasks a proposer made."""

    def draw(
        self,
        count: int,
        records: Mapping[str, Record],
        used: Mapping[str, int],
        attempts: Sequence[Attempt],
        proposer: Proposer,
        rng: np.random.Generator,
    ) -> list[Task]:
        """`count` tasks on training seeds; `used` counts the seeds of each name taken already.

        Fresh seeds in order of drawing; the same arguments give the same tasks.
        """
        weights = np.array([max(records.get(n, Record()).worth, self.floor) for n in self.names])
        following = dict(used)
        proposed = list(proposer.propose(attempts, int(count * self.proposed_share), rng))
        chosen = rng.choice(len(self.names), count - len(proposed), p=weights / weights.sum())
        fresh = []
        for choice in chosen:
            name = self.names[int(choice)]
            fresh.append(self.suite.task(name, following.get(name, 0)))
            following[name] = following.get(name, 0) + 1
        tasks = [*fresh, *proposed]
        return [tasks[int(i)] for i in rng.permutation(len(tasks))]
