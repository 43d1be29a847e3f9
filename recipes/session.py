"""A session: one arm of one repeat at work, with what it holds and what it has cost."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from evaluators.rules import checks_hold
from recipes.arms import Arm
from recipes.folder import RunFolder
from recipes.learner import Progress
from recipes.settings import ImproveConfig
from recipes.workers import Say
from tasks.benchmarks import miniwob
from tasks.task import Json
from webagent.browser import Browser
from webagent.policy.policy import Policy
from webagent.records import Provenance, Trajectory
from webagent.rollout import Planned, collect
from webagent.store import Store
from webagent.training.fit import FitConfig, FitReport

HEADLINE, LENIENT = checks_hold(), checks_hold("raw_positive")
"""The frozen judge: rules over evidence. The loop never trains it."""
SHARED = "none"
"""The arm under whose name demonstrations and first weights are kept, for all arms of a repeat."""


@dataclass(frozen=True, slots=True)
class Session:
    """What the stages need to know and hold."""

    config: ImproveConfig
    folder: RunFolder
    store: Store
    browser: Browser
    arm: Arm
    repeat: int
    say: Say

    @property
    def believes(self) -> bool:
        """Whether the arm has a learned judge in place of the checks."""
        return self.arm.believes != "checks"

    @property
    def names(self) -> tuple[str, ...]:
        """The tasks of the run."""
        return miniwob.select(self.config.tasks)

    def provenance(self, phase: str, round: int = 0, arm: str = "") -> Provenance:
        """Where episodes of a phase come from."""
        arm = arm or self.arm.name
        return Provenance(arm=arm, repeat=self.repeat, round=round, phase=phase)

    def progress(self, stage: str) -> Progress:
        """Tells how far a training is."""
        return lambda done, loss: self.say(stage, min(done, 1.0), f"loss {loss:.3f}")

    def fit_config(self, tokens: int, round: int) -> FitConfig:
        """Seeds differ by repeat and round; rounds after the first go on at half the rate."""
        rate = self.config.learning_rate * (0.5 if round else 1.0)
        seed = 1000 * self.repeat + round
        return FitConfig(tokens=tokens, learning_rate=rate, seed=seed)

    @contextmanager
    def timed(self, round: int) -> Iterator[None]:
        """Adds the round's wall time, over all tries of it, to the run's state."""
        started = time.monotonic()
        try:
            yield
        finally:
            self._add_costs(round, seconds=time.monotonic() - started)

    def charge(self, round: int, training: FitReport) -> None:
        """Adds what a training of the policy cost."""
        self._add_costs(
            round,
            train_tokens=training.tokens,
            train_seconds=training.seconds,
            train_cpu_seconds=training.cpu_seconds,
        )

    def _add_costs(self, round: int, **costs: float) -> None:
        key = f"round:{self.arm.name}:{self.repeat}:{round}"
        spent = self.store.get_state(key)
        total: dict[str, Json] = dict(spent) if isinstance(spent, dict) else {}
        for name, cost in costs.items():
            before = total.get(name)
            total[name] = cost + (before if isinstance(before, int | float) else 0.0)
        self.store.put_state(key, total)


async def play(
    session: Session,
    plan: Sequence[Planned],
    policy: Policy,
    stage: str,
    budget: int | None = None,
) -> list[Trajectory]:
    """Play a plan in the browser, telling how far it is."""
    played = steps = 0

    def seen(trajectory: Trajectory) -> None:
        nonlocal played, steps
        played += 1
        steps += len(trajectory.steps)
        done = steps / budget if budget else played / len(plan)
        session.say(stage, min(done, 1.0), f"{played} episodes, {steps} steps")

    return await collect(
        plan,
        policy,
        partial(session.browser.world, keep_picture=session.store.images.add),
        concurrency=session.config.concurrency,
        recorder=session.store,
        budget_steps=budget,
        on_episode=seen,
    )


async def scored(session: Session, episodes: Sequence[Trajectory]) -> list[float | None]:
    """The headline score of each episode; both of the benchmark's scores are stored."""
    values = []
    for trajectory in episodes:
        headline, lenient = await HEADLINE(trajectory), await LENIENT(trajectory)
        session.store.score(trajectory.id, headline, lenient)
        values.append(headline.value)
    return values
