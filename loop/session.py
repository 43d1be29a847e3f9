"""A session: one arm of one repeat, with its resources and the costs of its rounds."""

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from evaluators.evaluator import FunctionEvaluator
from loop.arms import Arm
from loop.costs import check_cost_cap, load_prices, open_ledger, read_stop_reason
from loop.executors.executor import BrowserSetup, open_executor
from loop.folder import RunFolder
from loop.jobs import ReportProgress
from loop.judging.named import LearningJudge, open_judges
from loop.measurement.environment import load_guard
from loop.measurement.selection import TaskSelection
from loop.measurement.settings import contestant, judging
from loop.playing import Player
from loop.proposers.places import ProposalPlace, describe_places
from loop.proposers.requests import SiteScope
from loop.settings import ImproveConfig
from loop.task_split import (
    TaskSplit,
    find_leak,
    join_proposals,
    list_held_out,
    load_suite,
    read_split,
)
from loop.world_models import build_outcome_judge, open_model
from tasks.suite import Suite
from tasks.task import Json, Task
from webagent.errors import WebAgentError
from webagent.models.model import Model
from webagent.models.spending import Ledger
from webagent.records import Provenance
from webagent.store import Store
from webagent.training.tracking import Trackers

if TYPE_CHECKING:
    from webagent.training.fit import FitConfig, FitReport

TrainingProgress = Callable[[float, float], None]
"""Takes the share of a training that is done, and its loss."""
SHARED = "none"
"""The arm under which demonstrations and initial weights are stored, for all arms of a repeat."""

BUILTIN_RATE = 2e-3
"""Peak learning rate of the built-in network's initial training, unless --learning-rate is set."""
_CLOCK = "clock"
"""`clock:JOB` stores the seconds that a job has taken, over all attempts at it."""


@dataclass(frozen=True, slots=True)
class Session:
    """The settings and resources of the stages."""

    config: ImproveConfig
    folder: RunFolder
    store: Store
    arm: Arm
    repeat: int
    report: ReportProgress
    player: Player
    judge: LearningJudge | None = None
    """The judge whose verdicts the arm learns from; None for the tasks' checks."""
    ledger: Ledger = field(default_factory=Ledger)
    """Limits and spending on models."""
    proposed: dict[str, Task] = field(default_factory=dict)
    """Tasks proposed in this arm before its rounds, by name."""
    places: Mapping[ProposalPlace, SiteScope] = field(default_factory=dict)
    """Where tasks are proposed, with what is known of the site; empty without a proposer."""
    find_leak: Callable[[Task], str] = lambda task: ""
    """Returns why training on a task would leak one that is evaluated on; empty if it would not."""
    world_model: Model | None = None
    """The language model behind the memory of real steps, where the arm uses one."""
    outcome_judge: FunctionEvaluator | None = None
    """The judge of imagined outcomes; None for the world model's P(success)."""
    trackers: Trackers = field(default_factory=Trackers)
    """Where the rounds' figures are sent; the arm and repeat are one run there."""

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

    def provenance(self, phase: str, round: int = 0, arm: str = "") -> Provenance:
        """Return the provenance of episodes of a phase."""
        arm = arm or self.arm.name
        return Provenance(arm=arm, repeat=self.repeat, round=round, phase=phase)

    def report_loss(self, stage: str) -> TrainingProgress:
        """Return a function that reports the progress of a training."""
        return lambda done, loss: self.report(stage, min(done, 1.0), f"loss {loss:.3f}")

    def fit_config(self, tokens: int, round: int) -> "FitConfig":
        """Return the training configuration: seeds differ by repeat and round; rounds after the
        first use half the learning rate."""
        from webagent.training.fit import FitConfig

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

    def charge(self, round: int, training: "FitReport") -> None:
        """Add the cost of a training of the policy."""
        self._add_costs(
            round,
            train_tokens=training.tokens,
            imagined_tokens=training.imagined,
            updates=training.updates,
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


class CapReached(WebAgentError):
    """A run reached a limit before its end."""


@asynccontextmanager
async def open_session(
    report: ReportProgress, config: ImproveConfig, folder: RunFolder, arm: Arm, repeat: int
) -> AsyncIterator[Session]:
    """Yield what the arm needs: store, browser, sites, judges, world model, trackers and limits.

    Raises `CapReached` at the end if a cap was reached; everything done until then is stored.
    """
    tracking = folder.path / "tracking" / f"{arm.name}-{repeat}"
    tracked = f"{folder.path.name}/{arm.name} {repeat}"
    with (
        folder.store() as store,
        closing(Trackers(config.fit.track, tracking, tracked)) as trackers,
    ):
        ledger = Ledger()
        if config.is_metered:
            ledger = open_ledger(store, config.run.caps, load_prices())
        suite, split = load_suite(config), read_split(folder, config)
        names = dict.fromkeys((*split.learning, *split.measured))
        setup = BrowserSetup(
            tuple(suite.task(name, 0) for name in names),
            config.run.concurrency,
            config.selection.sites,
            config.selection.logins,
            load_guard(config.played, TaskSelection.of(config.played)),
        )
        places = {}
        if config.proposing.proposer != "none" and arm.learns_from == "experience":
            tasks = [suite.task(name, 0) for name in split.learning]
            places = await describe_places(tasks, config.selection.sites)
        predicts = arm.dreams or arm.acts_by in ("lookahead", "rerank")
        async with (
            open_executor(setup, config.run.executor, config.browsers) as open_worlds,
            open_judges(config, folder, store, ledger, (arm.name, repeat)) as judges,
            open_model(config.lookahead) if predicts else nullcontext() as world_model,
        ):
            outcome_judge = None
            if predicts:
                outcome_judge = build_outcome_judge(
                    config.lookahead, world_model, store.images.get, ledger
                )
            policy = contestant(config.played, knows=False)
            player = Player(
                store,
                report,
                open_worlds,
                config.run.concurrency * config.browsers,
                policy.asking.variant,
                policy.images or (config.judges_ask and judging(config.played).images),
                config.evaluation.pictures,
                judges.measuring,
            )
            yield Session(
                *(config, folder, store, arm, repeat, report, player),
                judge=judges.learning,
                ledger=ledger,
                places=places,
                find_leak=partial(find_leak, held_out=list_held_out(config, split)),
                world_model=world_model,
                outcome_judge=outcome_judge,
                trackers=trackers,
            )
        if config.is_metered and (reason := read_stop_reason(store)):
            raise CapReached(f"stopped before its end: {reason}")


def check_caps(config: ImproveConfig) -> None:
    """Raise `SetupError` for caps that leave nothing to do, or that cannot be enforced."""
    config.run.caps.check()
    prices = load_prices()
    for model in config.paid or ("",):
        check_cost_cap(config.run.caps, model, prices)


@contextmanager
def count_seconds(store: Store, job: str) -> Iterator[float]:
    """Yield the seconds that all jobs have taken, and add those of this one."""
    before = {
        key: float(value)
        for key, value in store.states(f"{_CLOCK}:").items()
        if isinstance(value, int | float)
    }
    started, key = time.monotonic(), f"{_CLOCK}:{job}"
    try:
        yield sum(before.values())
    finally:
        store.put_state(key, before.get(key, 0.0) + time.monotonic() - started)
