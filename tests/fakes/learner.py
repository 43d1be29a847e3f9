"""A simulated learner: tasks with latent skills that rise as they are solved."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tasks.curriculum import (
    Curriculum,
    Drawn,
    Kind,
    Monitor,
    Outcome,
    Record,
    Tried,
    draw_evenly,
    monitor,
)
from tasks.proposer import Retry
from tasks.suite import Suite
from tasks.task import Task

ROUNDS = 12
FAMILIES = ("form", "search", "menu")
KINDS = {f"t{i}": Kind("site", (FAMILIES[i % 3],)) for i in range(24)}


def _make(name: str, seed: int, settings: Mapping[str, object]) -> Task:
    return Task(f"fake/{name}@1", "", seed=seed)


SUITE = Suite("fake@1", tuple(KINDS), _make)
"""Of tasks that are nothing but their names and seeds."""


@dataclass
class Population:
    """Tasks with what the learner knows of each."""

    rng: np.random.Generator
    levels: tuple[float, float, float] = (4.0, -1.0, -3.5)
    """Skills of the three thirds of the tasks at the start."""
    taught: float = 0.6
    """By how much a success raises the skill, the rarer the more."""
    skills: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, name in enumerate(KINDS):
            self.skills[name] = self.levels[place // 3 % 3] + float(self.rng.normal(0, 0.5))

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
                share = 1.0 if other == name else 1 / 12
                self.skills[other] += self.taught * share * (1 - chance)
        return True


@dataclass
class Course:
    """A learner going through rounds, with what the curriculum is told of it."""

    population: Population
    rng: np.random.Generator
    curriculum: Curriculum | None = field(default_factory=lambda: Curriculum(SUITE, KINDS))
    steps: int = 240
    """Of a round."""
    records: dict[str, Record] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)
    spent: int = 0
    monitors: list[Monitor] = field(default_factory=list)

    def go(self, now: int, level: float = 1.0) -> None:
        """One round, or as much of it as it takes to the level."""
        left, tried = self.steps, list[Tried]()
        for one in self._drawn(now):
            if left < 8 or self.population.success >= level:
                break
            name = one.task.name
            success = self.population.play(name)
            steps = 2 if success else min(8, one.task.max_steps)
            self.spent, left = self.spent + steps, left - steps
            self.used[name] += 1
            outcome = Outcome.SUCCESS if success else Outcome.FAILURE
            self.records[name] = self.records.get(name, Record()).and_one(now, outcome, steps)
            tried.append(Tried(name, one.task.seed, "click", success, success))
        if self.curriculum is not None:
            worths = self.curriculum.worths(self.records, now + 1, ROUNDS)
            self.monitors.append(monitor(now, tried, worths))

    def _drawn(self, now: int) -> list[Drawn]:
        if self.curriculum is None:
            return draw_evenly(SUITE, SUITE.names, self.steps, self.used, self.rng)
        return self.curriculum.draw(
            self.steps, now, ROUNDS, self.records, self.used, (), Retry(), self.rng
        )
