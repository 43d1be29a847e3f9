"""A session: one arm of one repeat, with its resources and its costs."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.rules import checks_hold
from loop.arms import Arm
from loop.executors.worker import OpenWorlds
from loop.folder import RunFolder
from loop.jobs import Say
from loop.judges import Judges
from loop.judging.scoring import OUTAGE
from loop.measurement.settings import contestant, judging
from loop.settings import ImproveConfig
from loop.task_split import TaskSplit, join_proposals, load_suite, read_split
from tasks.suite import Suite
from tasks.task import Json, Task
from webagent.browser.world import ViewerPictures
from webagent.errors import ModelError
from webagent.models.spending import Ledger
from webagent.policy.policy import Policy
from webagent.records import Ending, Provenance, Trajectory
from webagent.rollout import OpenWorld, PlannedEpisode, StepBudget, collect
from webagent.store import Store
from webagent.training.fit import FitConfig, FitReport

Progress = Callable[[float, float], None]
"""Told how far a training is, as a share, and its loss."""
LENIENT_SCORE = "raw_positive"
HEADLINE, LENIENT = checks_hold(), checks_hold(LENIENT_SCORE)
"""The frozen judge: rules over evidence. The loop never trains it."""
SHARED = "none"
"""The arm under which demonstrations and initial weights are stored, for all arms of a repeat."""


BUILTIN_RATE = 2e-3
"""Peak learning rate of the built-in network's initial training, unless --learning-rate is set."""
_RETRIES = 2
"""Retries of an episode that failed because of the browser, site or model."""


@dataclass(frozen=True, slots=True)
class Session:
    """The settings and resources of the stages."""

    config: ImproveConfig
    folder: RunFolder
    store: Store
    open_worlds: OpenWorlds
    arm: Arm
    repeat: int
    say: Say
    judges: Judges = field(default_factory=Judges)
    ledger: Ledger = field(default_factory=Ledger)
    """Limits and spending on models."""
    proposed: dict[str, Task] = field(default_factory=dict)
    """Tasks proposed in this arm before its rounds, by name."""

    @property
    def split(self) -> TaskSplit:
        """Return which tasks are for training and which for evaluation."""
        return read_split(self.folder, self.config)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the training tasks."""
        return (*self.split.learning, *self.proposed)

    @property
    def suite(self) -> Suite:
        """Return the suite of the tasks."""
        return join_proposals(load_suite(self.config), self.proposed)

    @property
    def withheld(self) -> frozenset[str]:
        """Return the tasks without demonstrations in this repeat."""
        return self.split.withhold(self.config.demonstrating.withhold, self.repeat)

    @property
    def open_world(self) -> OpenWorld:
        """Return real worlds for episodes of these tasks, including those on local sites."""
        return self.worlds(self.store.images.add)

    @property
    def measured_world(self) -> OpenWorld:
        """The same with pictures of a number of pages for whoever looks at the run."""
        keep, most = self.store.images.add, self.config.evaluation.pictures
        return self.worlds(keep, ViewerPictures(keep, most) if most > 0 else None)

    def worlds(
        self, keep: Callable[[bytes], str], shown: ViewerPictures | None = None
    ) -> OpenWorld:
        """Return the same with another folder for images, if any are used; screenshots for viewing
        alone go to `shown`."""
        asked = contestant(self.config.played, knows=False)
        is_shown = asked.images or (self.config.judges_ask and judging(self.config.played).images)
        return self.open_worlds(keep, keep if is_shown else shown, asked.asking.variant)

    def provenance(self, phase: str, round: int = 0, arm: str = "") -> Provenance:
        """Return the provenance of episodes of a phase."""
        arm = arm or self.arm.name
        return Provenance(arm=arm, repeat=self.repeat, round=round, phase=phase)

    def progress(self, stage: str) -> Progress:
        """Report the progress of a training."""
        return lambda done, loss: self.say(stage, min(done, 1.0), f"loss {loss:.3f}")

    def progress_of(self, stage: str, total: int) -> Callable[[Trajectory], None]:
        """Return a function that reports the number of finished episodes of a stage."""
        seen: list[str] = []

        def tell(trajectory: Trajectory) -> None:
            seen.append(trajectory.id)
            self.say(stage, min(len(seen) / total, 1.0), f"{len(seen)} episodes")

        return tell

    def fit_config(self, tokens: int, round: int) -> FitConfig:
        """Return the training configuration: seeds differ by repeat and round; rounds after the
        first use half the learning rate."""
        rate = (self.config.fit.learning_rate or BUILTIN_RATE) * (0.5 if round else 1.0)
        seed = 1000 * self.repeat + round
        return FitConfig(tokens=tokens, learning_rate=rate, seed=seed)

    @contextmanager
    def timed(self, round: int) -> Iterator[None]:
        """Add the round's wall time, over all attempts at it, to the run's state and, once it is
        done, the usage of models."""
        started, key = time.monotonic(), f"spent-before:{self.arm.name}:{self.repeat}:{round}"
        before = self.store.get_state(key)
        if not isinstance(before, dict):
            before = {"model_tokens": self.ledger.tokens, "money": self.ledger.money() or 0.0}
            self.store.put_state(key, before)
        try:
            yield
        finally:
            self._add_costs(round, seconds=time.monotonic() - started)
        noted = self._read_costs(round)
        if self.config.is_metered and "model_tokens" not in noted:
            now = {"model_tokens": self.ledger.tokens, "money": self.ledger.money()}
            spent = {name: value - float(str(before[name])) for name, value in now.items() if value}
            self._add_costs(round, **{"model_tokens": 0.0, **spent})

    def charge(self, round: int, training: FitReport) -> None:
        """Add the cost of a training of the policy."""
        self._add_costs(
            round,
            train_tokens=training.tokens,
            train_seconds=training.seconds,
            train_cpu_seconds=training.cpu_seconds,
        )
        self.store.put_state(self._loss_key(round), training.loss)

    def read_costs(self, round: int) -> dict[str, float]:
        """Return what a round cost so far, by name, and the loss of its training."""
        noted = self._read_costs(round) | {"loss": self.store.get_state(self._loss_key(round))}
        return {
            name: float(value) for name, value in noted.items() if isinstance(value, int | float)
        }

    def _add_costs(self, round: int, **costs: float) -> None:
        total = self._read_costs(round)
        for name, cost in costs.items():
            before = total.get(name)
            total[name] = cost + (before if isinstance(before, int | float) else 0.0)
        self.store.put_state(self._costs_key(round), total)

    def _read_costs(self, round: int) -> dict[str, Json]:
        spent = self.store.get_state(self._costs_key(round))
        return dict(spent) if isinstance(spent, dict) else {}

    def _loss_key(self, round: int) -> str:
        return f"loss:{self.arm.name}:{self.repeat}:{round}"

    def _costs_key(self, round: int) -> str:
        return f"round:{self.arm.name}:{self.repeat}:{round}"


async def play_episodes(
    session: Session,
    plan: Sequence[PlannedEpisode],
    policy: Policy,
    stage: str,
    budget: StepBudget | None = None,
    earlier: int = 0,
) -> list[Trajectory]:
    """Play a plan in the browser and report progress; `earlier` episodes were played before on the
    same budget.

    Raises `ModelError` for a model that seems to be unavailable. Episodes that its model failed in
    an earlier session are retried.
    """
    played, lost, fresh = earlier, 0, 0
    steps = budget.spent if budget else 0
    before = set(session.store.ids("any"))
    failed, failure = _count_model_failures(session.store, plan), ""
    is_measured = bool(plan) and plan[0].provenance.phase == "evaluate"

    def seen(trajectory: Trajectory) -> None:
        nonlocal played, steps, lost, fresh, failure
        fresh += trajectory.id not in before
        is_lost = trajectory.ending is Ending.MODEL_FAILED and trajectory.id not in before
        lost = lost + 1 if is_lost else 0
        failure = trajectory.error if is_lost else failure
        if lost >= OUTAGE:
            raise ModelError(
                f"the model failed in the last {OUTAGE} episodes, the latest: {trajectory.error}"
            )
        played += 1
        steps += len(trajectory.steps)
        done = steps / budget.limit if budget and budget.limit else played / len(plan)
        session.say(stage, min(done, 1.0), f"{played} episodes, {steps} steps")

    episodes = await collect(
        plan,
        policy,
        session.measured_world if is_measured else session.open_world,
        concurrency=session.config.run.concurrency * session.config.browsers,
        recorder=session.store,
        budget_steps=budget,
        on_episode=seen,
        retries=_RETRIES + failed,
    )
    if len(plan) > 1 and lost and lost == fresh:
        raise ModelError(
            f"the model failed in every one of {lost} tries at {len(plan)} episodes, the latest:"
            f" {failure}"
        )
    return episodes


def _count_model_failures(store: Store, plan: Sequence[PlannedEpisode]) -> int:
    """Return the maximum number of times the model failed one of these episodes in earlier
    sessions."""
    places = {planned.provenance for planned in plan}
    arms = {(place.arm, place.repeat, place.round, place.phase) for place in places}
    counts = Counter(
        (arm, repeat, round, phase, entry.index)
        for arm, repeat, round, phase in arms
        for entry in store.entries(
            "finished",
            arm=arm,
            repeat=repeat,
            round=round,
            phase=phase,
            ending=[Ending.MODEL_FAILED],
        )
    )
    return max(counts.values(), default=0)


async def score_episodes(session: Session, episodes: Sequence[Trajectory]) -> list[float | None]:
    """Return the headline score of each episode; stored, with the lenient one where its task has
    it."""
    if session.judges.measuring is not None:
        return list(await asyncio.gather(*map(session.judges.measuring.give, episodes)))
    values = []
    for trajectory in episodes:
        headline = await HEADLINE(trajectory)
        session.store.score(trajectory.id, headline)
        if any(check.score == LENIENT_SCORE for check in trajectory.task.checks):
            session.store.score(trajectory.id, await LENIENT(trajectory))
        values.append(headline.value)
    return values
