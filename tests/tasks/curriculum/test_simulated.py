"""A simulated learner needs fewer steps with the curriculum than with tasks drawn evenly.

What the simulation assumes: each task has a latent skill, success has the chance sigmoid(skill); a
success teaches, the more the rarer it is, and what it teaches is worth a little to tasks of the
same family; nothing is forgotten; an episode takes two steps when it succeeds and eight when it
fails. A third of the tasks is mastered from the start, a third within reach, a third far from it.
It does not assume that the curriculum knows any of this.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

from tasks.curriculum import Curriculum, Drawn, Kind, Outcome, Record, draw_evenly
from tasks.proposer import Retry
from tasks.suite import Suite
from tasks.task import Task

ROUNDS, STEPS = 12, 240
FAMILIES = ("form", "search", "menu")
KINDS = {f"t{i}": Kind("site", (FAMILIES[i % 3],)) for i in range(24)}


def make(name: str, seed: int, settings: Mapping[str, object]) -> Task:
    """A task that is nothing but its name and seed."""
    return Task(f"fake/{name}@1", "", seed=seed)


SUITE = Suite("fake@1", tuple(KINDS), make)


@dataclass
class Population:
    """Tasks with what the learner knows of each."""

    rng: np.random.Generator
    skills: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        levels = {0: 4.0, 1: -1.0, 2: -3.5}
        for place, name in enumerate(KINDS):
            self.skills[name] = levels[place // 3 % 3] + float(self.rng.normal(0, 0.5))

    def chance(self, name: str) -> float:
        """Of success."""
        return 1 / (1 + float(np.exp(-self.skills[name])))

    @property
    def success(self) -> float:
        """Over all tasks."""
        return float(np.mean([self.chance(name) for name in KINDS]))

    def play(self, name: str) -> bool:
        """One try, of which it learns when it succeeds."""
        chance = self.chance(name)
        if self.rng.random() > chance:
            return False
        for other, kind in KINDS.items():
            if kind == KINDS[name]:
                self.skills[other] += (0.6 if other == name else 0.05) * (1 - chance)
        return True


def drawn_by(
    curriculum: Curriculum | None,
    now: int,
    records: Mapping[str, Record],
    used: Mapping[str, int],
    rng: np.random.Generator,
) -> list[Drawn]:
    """The tasks of a round."""
    if curriculum is None:
        return draw_evenly(SUITE, SUITE.names, STEPS, used, rng)
    return curriculum.draw(STEPS, now, ROUNDS, records, used, (), Retry(), rng)


def steps_to(level: float, curriculum: Curriculum | None, seed: int) -> int:
    """Steps until the mean success is at the level; all there are where it never is."""
    rng = np.random.default_rng(seed)
    population, spent = Population(np.random.default_rng(1000 + seed)), 0
    records: dict[str, Record] = {}
    used = Counter[str]()
    for now in range(1, ROUNDS + 1):
        left = STEPS
        for one in drawn_by(curriculum, now, records, used, rng):
            if left < 8:
                break
            success = population.play(one.task.name)
            steps = 2 if success else min(8, one.task.max_steps)
            spent, left = spent + steps, left - steps
            used[one.task.name] += 1
            outcome = Outcome.SUCCESS if success else Outcome.FAILURE
            record = records.get(one.task.name, Record())
            records[one.task.name] = record.and_one(now, outcome, steps)
            if population.success >= level:
                return spent
    return spent


@pytest.mark.parametrize("level", [0.6, 0.7])
def test_a_simulated_learner_reaches_the_same_success_in_fewer_steps(level: float) -> None:
    curriculum = Curriculum(SUITE, KINDS)
    with_it = np.mean([steps_to(level, curriculum, seed) for seed in range(6)])
    without = np.mean([steps_to(level, None, seed) for seed in range(6)])
    assert without > 1.2 * with_it


def test_the_simulated_learner_starts_below_what_it_is_to_reach() -> None:
    starts = [Population(np.random.default_rng(1000 + seed)).success for seed in range(6)]
    assert max(starts) < 0.55
