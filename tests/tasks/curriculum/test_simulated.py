"""A simulated learner needs fewer steps with the curriculum than with tasks drawn evenly.

What the simulation assumes: each task has a latent skill, success has the chance sigmoid(skill); a
success teaches, the more the rarer it is, and what it teaches is worth a little to tasks of the
same family; nothing is forgotten; an episode takes two steps when it succeeds and eight when it
fails, and no horizon holds it back. It does not assume that the curriculum knows any of this.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from tasks.curriculum import Curriculum, Drawn, Kind, Outcome, Record, draw_evenly
from tasks.proposer import Retry
from tasks.suite import Suite
from tasks.task import Task

ROUNDS, STEPS = 12, 240
FAMILIES = ("form", "search", "menu")
OUT_OF_REACH = -9.0


def make(name: str, seed: int, settings: Mapping[str, object]) -> Task:
    """A task that is nothing but its name and seed."""
    return Task(f"fake/{name}@1", "", seed=seed)


@dataclass
class Population:
    """Tasks with what the learner knows of each."""

    rng: np.random.Generator
    kinds: Mapping[str, Kind]
    skills: dict[str, float]

    def chance(self, name: str) -> float:
        """Of success."""
        return 1 / (1 + float(np.exp(-self.skills[name])))

    @property
    def success(self) -> float:
        """Over all tasks."""
        return float(np.mean([self.chance(name) for name in self.kinds]))

    def play(self, name: str) -> bool:
        """One try, of which it learns when it succeeds."""
        chance = self.chance(name)
        if self.rng.random() > chance:
            return False
        for other, kind in self.kinds.items():
            if kind == self.kinds[name] and self.skills[other] > OUT_OF_REACH:
                self.skills[other] += (0.6 if other == name else 0.05) * (1 - chance)
        return True


def all_within_reach(seed: int) -> Population:
    """A third is mastered from the start, a third within reach, a third far from it."""
    rng = np.random.default_rng(1000 + seed)
    kinds = {f"t{i}": Kind("site", (FAMILIES[i % 3],)) for i in range(24)}
    levels = {0: 4.0, 1: -1.0, 2: -3.5}
    means = {name: levels[place // 3 % 3] for place, name in enumerate(kinds)}
    skills = {name: mean + float(rng.normal(0, 0.5)) for name, mean in means.items()}
    return Population(rng, kinds, skills)


def half_never_shown(seed: int) -> Population:
    """Half has demonstrations and is done more often than not; of the other half two thirds can
    never be done."""
    rng = np.random.default_rng(1000 + seed)
    kinds = {f"t{i}": Kind("site", (FAMILIES[i % 3],), i % 2 == 0) for i in range(36)}
    skills = {}
    for name, kind in kinds.items():
        within = float(rng.normal(1.0, 1.8) if kind.is_demonstrated else rng.normal(-0.5, 1.5))
        reachable = kind.is_demonstrated or rng.random() < 1 / 3
        skills[name] = within if reachable else OUT_OF_REACH
    return Population(rng, kinds, skills)


Learner = Callable[[int], Population]


def drawn_by(
    curriculum: Curriculum,
    is_even: bool,
    now: int,
    records: Mapping[str, Record],
    used: Mapping[str, int],
    rng: np.random.Generator,
) -> list[Drawn]:
    """The tasks of a round."""
    if is_even:
        return draw_evenly(curriculum.suite, curriculum.suite.names, STEPS, used, rng)
    return curriculum.draw(STEPS, now, ROUNDS, records, used, (), Retry(), rng)


def course(population: Population, is_even: bool, seed: int, rounds: int) -> list[float]:
    """Success after 0, 1, 2, … steps."""
    rng = np.random.default_rng(seed)
    suite = Suite("fake@1", tuple(population.kinds), make)
    curriculum = Curriculum(suite, population.kinds)
    records = {
        name: Record(demonstrations=2) if kind.is_demonstrated else Record()
        for name, kind in population.kinds.items()
    }
    used, found = Counter[str](), [population.success]
    for now in range(1, rounds + 1):
        left = STEPS
        for one in drawn_by(curriculum, is_even, now, records, used, rng):
            if left < 8:
                break
            success = population.play(one.task.name)
            steps = 2 if success else min(8, one.task.max_steps)
            left -= steps
            used[one.task.name] += 1
            outcome = Outcome.SUCCESS if success else Outcome.FAILURE
            records[one.task.name] = records[one.task.name].and_one(now, outcome, steps)
            found += [population.success] * steps
    return found


def steps_saved(make_one: Learner, rounds: int, seeds: int, level: float = 1.0) -> float:
    """How many times as many steps even draws need to this success, or to the highest that both
    reach where that is lower."""
    with_it, without = (
        np.mean(
            _of_one_length([course(make_one(s), even, s, rounds) for s in range(seeds)]), axis=0
        )
        for even in (False, True)
    )
    level = min(level, with_it.max(), without.max())
    return float(np.argmax(without >= level) / np.argmax(with_it >= level))


def _of_one_length(courses: list[list[float]]) -> list[list[float]]:
    most = max(map(len, courses))
    return [found + [found[-1]] * (most - len(found)) for found in courses]


@pytest.mark.parametrize("level", [0.6, 0.7])
def test_a_simulated_learner_reaches_the_same_success_in_fewer_steps(level: float) -> None:
    assert steps_saved(all_within_reach, ROUNDS, 6, level) > 1.2


def test_steps_are_saved_where_half_of_the_tasks_were_never_shown() -> None:
    assert steps_saved(half_never_shown, 5, 8) > 1.3


def test_the_simulated_learners_start_below_what_they_are_to_reach() -> None:
    assert max(all_within_reach(seed).success for seed in range(6)) < 0.55
    assert max(half_never_shown(seed).success for seed in range(8)) < 0.6
