"""Playing a measurement: the policy, then the baselines beside it, with time and tokens noted."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from rich.console import Console

from loop.console.progress import count_episodes
from loop.costs import format_spending
from loop.measurement import baselines
from loop.measurement.baselines import Recordings
from loop.measurement.scoring import EpisodeScorer, open_scorer
from loop.measurement.selection import TaskSelection
from loop.measurement.settings import BenchmarkConfig, arm_of, contestant, judge_of, judging
from loop.measurement.worlds import WorldFactory, open_worlds
from webagent.models.spending import Ledger, MeteredModel
from webagent.policy.policy import Policy
from webagent.records import Step, Trajectory
from webagent.rollout import PlannedEpisode, Recorder, collect
from webagent.store import Store


class CostRecorder:
    """The run's recorder, which also notes time, steps and what was decided on in a session, on
    top of earlier ones."""

    def __init__(self, store: Store, arm: str) -> None:
        self.begin, self.finish, self.load = store.begin, store.finish, store.load
        self._store, self._key = store, self._key_of(arm)
        self._started = time.monotonic()
        self._sums: defaultdict[str, float] = defaultdict(float)

    def __enter__(self) -> "CostRecorder":
        return self

    def __exit__(self, *failure: object) -> None:
        before = self._noted(self._store, self._key)
        self._sums["seconds"] = time.monotonic() - self._started
        names = ("seconds", "steps", *self._sums)
        now = {name: self._sums[name] + before.get(name, 0.0) for name in names}
        self._store.put_state(self._key, {**before, **now})

    def add_step(self, episode: str, position: int, step: Step) -> None:
        """Keep the step, and add what it took to the sums."""
        self._store.add_step(episode, position, step)
        decision = step.decision
        seconds = {"decision_seconds": decision.seconds, "world_seconds": step.seconds}
        tokens = {
            name: decision.usage[name]
            for name in ("input_tokens", "output_tokens")
            if name in decision.usage
        }
        for name, value in {"steps": 1, **seconds, **tokens}.items():
            self._sums[name] += value

    @classmethod
    def spent(cls, store: Store, *arms: str) -> float:
        """Seconds that the run has taken in earlier sessions for these arms."""
        return sum(cls._noted(store, cls._key_of(arm)).get("seconds", 0.0) for arm in arms)

    @staticmethod
    def _key_of(arm: str) -> str:
        return f"round:{arm}:0:0"

    @staticmethod
    def _noted(store: Store, key: str) -> dict[str, float]:
        noted = store.get_state(key)
        found = noted if isinstance(noted, dict) else {}
        return {k: float(v) for k, v in found.items() if isinstance(v, int | float)}


BASELINES = "baselines"
"""What the time of all baselines is noted under."""
NOTES = "benchmark:notes"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One benchmark run."""

    config: BenchmarkConfig
    chosen: TaskSelection
    store: Store
    ledger: Ledger
    budget: int | None = None
    """Real steps of the policy, at most, those of earlier sessions included."""
    worker: str = ""
    """Told apart from others that play parts of the same run beside it."""
    seen: Callable[[Trajectory], None] | None = None
    """Called with every episode that ends, in place of showing how far it is."""

    async def play_plan(self, plan: Sequence[PlannedEpisode]) -> None:
        """Play the policy alone on a plan of one's own; every episode is scored as it ends."""
        async with (
            self._judge() as verdicts,
            open_worlds(self.config, self.chosen, self.store) as on,
        ):
            await self._play_policy(on, verdicts, plan)

    async def play(self) -> None:
        """Play what has not been played yet, and score every episode as it ends."""
        async with (
            self._judge() as verdicts,
            open_worlds(self.config, self.chosen, self.store) as on,
        ):
            await self._play_policy(on, verdicts, self.chosen.plan(arm_of(self.config)))
            if self.config.baselines:
                plain = on.plain()
                with CostRecorder(self.store, BASELINES) as clock:
                    recordings = await self._recordings(plain, verdicts, clock)
                    known = recordings.by_task
                    note = baselines.describe_replay(recordings.source, known, self.chosen.names)
                    self.store.put_state(NOTES, [note])
                    plan = baselines.plan_baselines(self.chosen, known, self.config.baseline_seeds)
                    await self._collect(
                        plan, baselines.build_policy(recordings), plain, verdicts, clock
                    )

    @asynccontextmanager
    async def _judge(self) -> AsyncIterator[EpisodeScorer]:
        spec = judge_of(self.config)
        asked = judging(self.config) if spec.asks_a_model else None
        async with open_scorer(self.store, spec, asked, self.ledger) as verdicts:
            yield verdicts

    async def _play_policy(
        self, stage: WorldFactory, verdicts: EpisodeScorer, plan: Sequence[PlannedEpisode]
    ) -> None:
        played = contestant(self.config)
        played.asking.note(self.store)
        metered = partial(MeteredModel, ledger=self.ledger)
        with CostRecorder(self.store, arm_of(self.config) + self.worker) as clock:
            async with played.ready(stage.images, metered) as policy:
                await self._collect(plan, policy, stage, verdicts, clock, self.budget)

    async def _recordings(
        self, stage: WorldFactory, verdicts: EpisodeScorer, clock: Recorder
    ) -> Recordings:
        """Successes to replay: those of a run, or what the oracles show now."""
        from loop.policies import ScriptedSolutions

        if self.config.replay is not None:
            return baselines.find_recordings(self.config.replay, self.chosen)
        found: dict[str, Trajectory] = {}
        for trial in range(baselines.TRIES):
            left = [name for name in self.chosen.names if name not in found]
            plan = baselines.plan_solutions(self.chosen, left, trial)
            for shown in await self._collect(plan, ScriptedSolutions(), stage, verdicts, clock):
                if await verdicts.give(shown) == 1.0:
                    found[shown.task.name] = shown
        return Recordings(baselines.ORACLES, found)

    async def _collect(
        self,
        plan: Sequence[PlannedEpisode],
        policy: Policy,
        stage: WorldFactory,
        verdicts: EpisodeScorer,
        recorder: Recorder,
        budget: int | None = None,
    ) -> list[Trajectory]:
        """Play a plan; scores come as episodes end, and all are there when this returns."""
        if not plan:
            return []
        known = set(self.store.ids("any"))
        scoring: list[asyncio.Future[None]] = []
        shown = Console(quiet=True) if self.seen else None
        with count_episodes(len(plan), shown, partial(format_spending, self.ledger)) as counter:

            async def score(trajectory: Trajectory) -> None:
                value = await verdicts.give(trajectory)
                counter.count(trajectory, value, is_new=trajectory.id not in known)
                if self.seen:
                    self.seen(trajectory)

            try:
                return await collect(
                    plan,
                    policy,
                    stage.open_world,
                    concurrency=self.config.concurrency,
                    recorder=recorder,
                    budget_steps=budget,
                    on_episode=lambda t: scoring.append(asyncio.ensure_future(score(t))),
                )
            except asyncio.CancelledError:
                for each in scoring if verdicts.is_paid else ():
                    each.cancel()
                raise
            finally:
                for result in await asyncio.gather(*scoring, return_exceptions=True):
                    if isinstance(result, Exception):
                        raise result
