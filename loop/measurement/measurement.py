"""The playing of a measurement: the policy first, then the baselines beside it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from rich.console import Console

from loop.console.progress import count_episodes
from loop.costs import format_spending
from loop.measurement import baselines
from loop.measurement.baselines import Recordings
from loop.measurement.clock import Clock
from loop.measurement.scoring import Verdicts, judging_in
from loop.measurement.selection import Chosen
from loop.measurement.settings import BenchmarkConfig, arm_of, contestant, judge_of, judging
from loop.measurement.worlds import Stage, stage_of
from webagent.models.metered import Ledger, MeteredModel
from webagent.policy.policy import Policy
from webagent.records import Trajectory
from webagent.rollout import PlannedEpisode, Recorder, collect
from webagent.store import Store

BASELINES = "baselines"
"""What the time of all baselines is noted under."""
NOTES = "benchmark:notes"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One benchmark run."""

    config: BenchmarkConfig
    chosen: Chosen
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
        async with self._judge() as verdicts, stage_of(self.config, self.chosen, self.store) as on:
            await self._play_policy(on, verdicts, plan)

    async def play(self) -> None:
        """Play what has not been played yet, and score every episode as it ends."""
        async with self._judge() as verdicts, stage_of(self.config, self.chosen, self.store) as on:
            await self._play_policy(on, verdicts, self.chosen.plan(arm_of(self.config)))
            if self.config.baselines:
                plain = on.plain()
                with Clock(self.store, BASELINES) as clock:
                    recordings = await self._recordings(plain, verdicts, clock)
                    known = recordings.by_task
                    note = baselines.replay_told(recordings.source, known, self.chosen.names)
                    self.store.put_state(NOTES, [note])
                    plan = baselines.plan(self.chosen, known, self.config.baseline_seeds)
                    await self._collect(plan, baselines.policy(recordings), plain, verdicts, clock)

    @asynccontextmanager
    async def _judge(self) -> AsyncIterator[Verdicts]:
        spec = judge_of(self.config)
        asked = judging(self.config) if spec.asks_a_model else None
        async with judging_in(self.store, spec, asked, self.ledger) as verdicts:
            yield verdicts

    async def _play_policy(
        self, stage: Stage, verdicts: Verdicts, plan: Sequence[PlannedEpisode]
    ) -> None:
        played = contestant(self.config)
        played.asking.note(self.store)
        metered = partial(MeteredModel, ledger=self.ledger)
        with Clock(self.store, arm_of(self.config) + self.worker) as clock:
            async with played.ready(stage.images, metered) as policy:
                await self._collect(plan, policy, stage, verdicts, clock, self.budget)

    async def _recordings(self, stage: Stage, verdicts: Verdicts, clock: Recorder) -> Recordings:
        """Successes to replay: those of a run, or what the oracles show now."""
        from loop.policies import ScriptedSolutions

        if self.config.replay is not None:
            return baselines.recorded(self.config.replay, self.chosen)
        found: dict[str, Trajectory] = {}
        for trial in range(baselines.TRIES):
            left = [name for name in self.chosen.names if name not in found]
            plan = baselines.oracle_plan(self.chosen, left, trial)
            for shown in await self._collect(plan, ScriptedSolutions(), stage, verdicts, clock):
                if await verdicts.give(shown) == 1.0:
                    found[shown.task.name] = shown
        return Recordings(baselines.ORACLES, found)

    async def _collect(
        self,
        plan: Sequence[PlannedEpisode],
        policy: Policy,
        stage: Stage,
        verdicts: Verdicts,
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
