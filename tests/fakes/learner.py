"""Simulated learners: tasks whose success rates rise as they are solved.

What `Population` assumes: each task has a latent skill, success has the chance sigmoid(skill); a
success teaches, the more the rarer it is, and what it teaches is worth a little to tasks of the
same family; nothing is forgotten; an episode takes two steps when it succeeds and eight when it
fails, and no horizon holds it back. `Sudden` and `Curved` learn at the end of a round, as real
policies do: of the one a first success teaches most, the other follows learning curves with
ceilings of their own, in shares set by hand after one run on 42 tasks of MiniWoB++. None assumes
that the curriculum knows any of this.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tasks.curriculum import (
    Curriculum,
    Monitor,
    MonitoredTry,
    SampledTask,
    TaskKind,
    TaskRecord,
    TryOutcome,
    measure_round,
    sample_evenly,
)
from tasks.suite import Suite
from tasks.task import Task
from tasks.variants import Retry

ROUNDS, STEPS = 12, 240
FAMILIES = ("form", "search", "menu")
OUT_OF_REACH = -9.0


@dataclass
class Population:
    """Tasks with what the learner knows of each."""

    rng: np.random.Generator
    kinds: Mapping[str, TaskKind]
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

    def steps(self, name: str, success: bool) -> int:
        """How many an episode takes."""
        return 2 if success else 8

    def rest(self) -> None:
        """What is done at the end of a round."""


@dataclass
class Sudden(Population):
    """A first success teaches most of a task, later ones little."""

    successes: Counter[str] = field(default_factory=Counter)
    """To learn from, demonstrations counted in."""
    fresh: list[str] = field(default_factory=list)

    def play(self, name: str) -> bool:
        """One try, of which it learns when the round is over."""
        success = self.rng.random() < self.chance(name)
        self.fresh += [name] * success
        return bool(success)

    def rest(self) -> None:
        """Learn of the round's successes."""
        for name in self.fresh:
            self.successes[name] += 1
            self.skills[name] += 5 * (1 - self.chance(name)) / self.successes[name]
        self.fresh.clear()


@dataclass(frozen=True)
class Curve:
    """A task's success rate by the lessons it had."""

    ceiling: float
    start: float
    half: float
    """Lessons to get half-way."""
    good: int
    bad: int
    """Steps of an episode that succeeds, and of one that fails."""

    def at(self, lessons: int) -> float:
        """The rate after so many."""
        return self.ceiling - (self.ceiling - self.start) * self.half / (self.half + lessons)


@dataclass
class Curved(Population):
    """Learning curves of all kinds; while it explores a seventh of its successes is lost."""

    curves: dict[str, Curve] = field(default_factory=dict)
    lessons: Counter[str] = field(default_factory=Counter)
    fresh: Counter[str] = field(default_factory=Counter)

    def chance(self, name: str) -> float:
        """Of success, without exploring."""
        return self.curves[name].at(self.lessons[name])

    def play(self, name: str) -> bool:
        """One try, of which it learns when the round is over."""
        success = bool(self.rng.random() < 0.85 * self.chance(name))
        self.fresh[name] += success
        return success

    def steps(self, name: str, success: bool) -> int:
        """How many an episode takes."""
        return self.curves[name].good if success else self.curves[name].bad

    def rest(self) -> None:
        """Learn of the round's successes."""
        self.lessons.update(self.fresh)
        self.fresh.clear()


def of_levels(seed: int, levels: tuple[float, float, float]) -> Population:
    """A third of the tasks about each level."""
    rng = np.random.default_rng(1000 + seed)
    kinds = {f"t{i}": TaskKind("site", (FAMILIES[i % 3],)) for i in range(24)}
    means = {name: levels[place // 3 % 3] for place, name in enumerate(kinds)}
    skills = {
        name: mean if mean == OUT_OF_REACH else mean + float(rng.normal(0, 0.5))
        for name, mean in means.items()
    }
    return Population(rng, kinds, skills)


def all_within_reach(seed: int) -> Population:
    """A third is mastered from the start, a third within reach, a third far from it."""
    return of_levels(seed, (4.0, -1.0, -3.5))


def half_never_shown(seed: int) -> Population:
    """Half has demonstrations and is done more often than not; of the other half two thirds can
    never be done."""
    rng = np.random.default_rng(1000 + seed)
    kinds = {f"t{i}": TaskKind("site", (FAMILIES[i % 3],), i % 2 == 0) for i in range(36)}
    skills = {}
    for name, kind in kinds.items():
        within = float(rng.normal(1.0, 1.8) if kind.is_demonstrated else rng.normal(-0.5, 1.5))
        reachable = kind.is_demonstrated or rng.random() < 1 / 3
        skills[name] = within if reachable else OUT_OF_REACH
    return Population(rng, kinds, skills)


def sudden(seed: int) -> Sudden:
    """Half has two demonstrations and is mostly done; half of the others is out of reach, and the
    rest is seldom done until it was done once."""
    rng = np.random.default_rng(1000 + seed)
    kinds = {f"t{i}": TaskKind("site", (FAMILIES[i % 3],), i % 2 == 0) for i in range(42)}
    skills = {}
    for name, kind in kinds.items():
        within = float(rng.normal(1.5, 2.0) if kind.is_demonstrated else rng.normal(-1.5, 1.2))
        reachable = kind.is_demonstrated or rng.random() < 1 / 2
        skills[name] = within if reachable else OUT_OF_REACH
    shown = Counter({name: 2 for name, kind in kinds.items() if kind.is_demonstrated})
    return Sudden(rng, kinds, skills, shown)


def curved(seed: int) -> Curved:
    """42 tasks, half with two demonstrations; a fifth of these and half of the others are out of
    reach."""
    rng = np.random.default_rng(7000 + seed)
    kinds = {f"t{i}": TaskKind("site", (FAMILIES[i % 3],), i % 2 == 0) for i in range(42)}
    curves = {name: _curve(rng, kind.is_demonstrated) for name, kind in kinds.items()}
    shown = Counter({name: 2 for name, kind in kinds.items() if kind.is_demonstrated})
    return Curved(rng, kinds, {}, curves, shown)


def _curve(rng: np.random.Generator, is_demonstrated: bool) -> Curve:
    kind = rng.random()
    ceiling, start, half = (0.03, 0.0, 1.0) if is_demonstrated else (0.01, 0.003, 1.0)
    if is_demonstrated and kind < 0.45:
        ceiling, start, half = 0.98, 0.1, 0.15
    elif is_demonstrated and kind < 0.8:
        ceiling, start, half = float(rng.uniform(0.4, 0.95)), 0.05, 1.0
    elif not is_demonstrated and kind < 0.15:
        ceiling, start, half = 0.98, float(rng.uniform(0.8, 0.98)), 1.0
    elif not is_demonstrated and kind < 0.35:
        ceiling, start, half = float(rng.uniform(0.5, 1.0)), float(rng.uniform(0.02, 0.25)), 1.0
    elif not is_demonstrated and kind < 0.5:
        start = float(rng.uniform(0.2, 0.7))
        ceiling, half = float(rng.uniform(start, 1.0)), 3.0
    good, bad = np.clip(rng.lognormal((0.9, 1.4), (0.6, 0.7)), 1, (10, 20)).round()
    return Curve(ceiling, start, half * float(rng.lognormal(0, 0.7)), int(good), int(bad))


LEVELS = (
    (4.0, -1.0, -3.5),
    (4.0, 0.0, OUT_OF_REACH),
    (1.0, -1.0, -2.0),
    (4.0, 4.0, -1.0),
    (0.5, 0.0, -0.5),
)


def population_of(seed: int) -> Population:
    """One of six kinds, by turns."""
    kind = seed % (len(LEVELS) + 1)
    return of_levels(seed, LEVELS[kind]) if kind < len(LEVELS) else half_never_shown(seed)


def _make(name: str, seed: int, settings: Mapping[str, object]) -> Task:
    """A task that is nothing but its name and seed."""
    return Task(f"fake/{name}@1", "", seed=seed)


@dataclass
class Course:
    """A learner going through rounds, with what the curriculum is told of it."""

    population: Population
    rng: np.random.Generator
    is_even: bool = False
    """Whether tasks are drawn evenly."""
    steps: int = STEPS
    """Of a round."""
    found: list[float] = field(default_factory=list)
    """Success after 0, 1, 2, … steps."""
    monitors: list[Monitor] = field(default_factory=list)
    records: dict[str, TaskRecord] = field(init=False)
    curriculum: Curriculum = field(init=False)
    used: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        kinds = self.population.kinds
        self.curriculum = Curriculum(Suite("fake@1", tuple(kinds), _make), kinds)
        self.found.append(self.population.success)
        self.records = {
            name: TaskRecord(demonstrations=2) if kind.is_demonstrated else TaskRecord()
            for name, kind in kinds.items()
        }

    def go(self, now: int) -> None:
        """One round."""
        left, tried = self.steps, list[MonitoredTry]()
        for one in self._drawn(now):
            if left < 8:
                break
            name = one.task.name
            success = self.population.play(name)
            steps = min(self.population.steps(name, success), one.task.max_steps)
            left -= steps
            self.used[name] += 1
            outcome = TryOutcome.SUCCESS if success else TryOutcome.FAILURE
            self.records[name] = self.records[name].with_try(now, outcome, steps)
            self.found += [self.population.success] * steps
            tried.append(MonitoredTry(name, one.task.seed, "click", success, success))
        self.population.rest()
        self.found[-1] = self.population.success
        if not self.is_even:
            estimates = self.curriculum.estimates(self.records, now + 1, ROUNDS)
            self.monitors.append(measure_round(now, tried, estimates))

    def _drawn(self, now: int) -> list[SampledTask]:
        if self.is_even:
            names = self.curriculum.suite.names
            return sample_evenly(self.curriculum.suite, names, self.steps, self.used, self.rng)
        known = (self.records, self.used, ())
        return self.curriculum.sample_tasks(self.steps, now, ROUNDS, *known, Retry(), self.rng)
