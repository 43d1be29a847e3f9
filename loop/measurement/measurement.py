"""Playing a measurement: the policy, then the baselines beside it, with time and tokens noted."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from evaluators.rules import is_infeasible
from loop.console.progress import count_episodes
from loop.costs import format_spending
from loop.measurement.environment import WorldFactory, open_worlds
from loop.measurement.scoring import HEADLINE, EpisodeScorer, open_scorer
from loop.measurement.selection import TaskSelection
from loop.measurement.settings import BenchmarkConfig, arm_of, contestant, judge_of, judging
from loop.notes import read_judge_id
from loop.student import BUILTIN, note_student
from loop.summary.context import GIVE_UP, NOTHING, PHASE, RECORDING, REPLAY
from loop.world_models import open_lookahead
from webagent.action import Action, Answer, GiveUp
from webagent.models.spending import Ledger, MeteredModel
from webagent.policy.policy import Policy, Script, ScriptedPolicy, play_actions, replay_recording
from webagent.records import STUDENT, Observation, Provenance, Step, Trajectory
from webagent.rollout import PlannedEpisode, Recorder, collect, plan_episodes
from webagent.store import Store

if TYPE_CHECKING:
    pass

Learn: TypeAlias = Callable[[Trajectory, float | None], object]
"""Takes an episode and its success, None where nobody can say."""
ORACLES = "oracles"
TRIES = 3
"""Seeds on which an oracle is tried until it has succeeded once."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Recordings:
    """Successes to replay, by the names of their tasks, and where they come from."""

    source: str
    by_task: Mapping[str, Trajectory]


def describe_replay(source: str, known: Collection[str], names: Sequence[str]) -> str:
    """Of which tasks there is a success to replay, in a sentence."""
    missing = [name for name in names if name not in known]
    if len(missing) == len(names):
        return (
            f"{REPLAY}: not played, {source} show no success of these tasks; give --replay RUN"
            " with episodes that went well"
        )
    if not missing:
        return f"{REPLAY}: of a success of each task that {source} show"
    more = f" and {len(missing) - _SHOWN} more" * (len(missing) > _SHOWN)
    return (
        f"{REPLAY}: of successes that {source} show; nothing to replay for {len(missing)} of"
        f" {len(names)} tasks ({', '.join(missing[:_SHOWN])}{more})"
    )


def describe_changes(played: Iterable[Trajectory]) -> list[str]:
    """Return which tables changed where nothing was done, in a sentence; empty if none did."""
    idle = [each.evidence.get("changes") for each in played if each.provenance.arm == NOTHING]
    tables = sorted({name for found in idle if isinstance(found, dict) for name in found})
    advice = "name what is volatile under `passing` of the site, or right answers fail"
    return [f"{NOTHING}: {', '.join(tables)} changed all the same; {advice}"] if tables else []


def plan_solutions(chosen: TaskSelection, names: Iterable[str], trial: int) -> list[PlannedEpisode]:
    """Episodes in which oracles show their tasks, on seeds that are not measured."""
    from benchmarks.oracles import ORACLES

    split = "train" if chosen.split == "development" else "development"
    tasks = [chosen.suite.task(name, trial, split) for name in names]
    known = [task for task in tasks if task.name in ORACLES]
    return plan_episodes(known, Provenance(arm="oracle", phase=RECORDING, round=trial))


def plan_baselines(
    chosen: TaskSelection, known: Collection[str], seeds: int
) -> list[PlannedEpisode]:
    """The episodes of all baselines, on the first seeds that are measured; a replay of the tasks
    that are `known`."""
    tasks = chosen.tasks(seeds)
    by_arm = {NOTHING: tasks}
    if any(map(is_infeasible, tasks)):
        by_arm[GIVE_UP] = tasks
    by_arm[REPLAY] = [task for task in tasks if task.name in known]
    return [
        entry
        for arm, own in by_arm.items()
        for entry in plan_episodes(own, Provenance(arm=arm, phase=PHASE))
    ]


def build_policy(recordings: Recordings) -> ScriptedPolicy:
    """Plays each episode as the baseline that its arm names."""
    scripts: dict[str, Script] = {
        NOTHING: play_actions([Answer("")]),
        GIVE_UP: play_actions([GiveUp("at once")]),
    }

    def script(trajectory: Trajectory, observation: Observation) -> Action | None:
        arm = trajectory.provenance.arm
        played = scripts.get(arm) or replay_recording(recordings.by_task[trajectory.task.name])
        return played(trajectory, observation)

    return ScriptedPolicy(script, source="script", name="baseline")


def find_recordings(run: Path, chosen: TaskSelection) -> Recordings:
    """The first success that a run holds of each task: on another seed, where tasks have seeds.

    Raises `StoreError` for a folder that is no run.
    """
    wanted = {task.id: task.name for task in chosen.tasks(1)}
    measured = {(task.id, task.seed) for task in chosen.tasks()} if chosen.suite.is_seeded else ()
    found: dict[str, Trajectory] = {}
    with Store.open(run) as store:
        judges = {read_judge_id(store), HEADLINE.id}
        successes = {
            episode
            for episode, scores in store.scores().items()
            if any(s.name == "success" and s.value == 1.0 and s.evaluator in judges for s in scores)
        }
        for entry in store.entries(world="browser"):
            name = wanted.get(entry.task, "")
            is_usable = entry.id in successes and (entry.task, entry.seed) not in measured
            if name and name not in found and is_usable and (played := store.load(entry.id)):
                found[name] = played
    return Recordings(f"the episodes of {run}", found)


class CostRecorder:
    """The run's recorder, which also notes time, steps and what was decided on in a session, on
    top of earlier ones."""

    def __init__(self, store: Store, arm: str) -> None:
        self.begin, self.finish, self.load = store.begin, store.finish, store.load
        self.add_exchanges = store.add_exchanges
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

    async def play_plan(self, plan: Sequence[PlannedEpisode]) -> None:
        """Play the policy alone on a plan of one's own; every episode is scored as it ends."""
        async with (
            self._judge() as verdicts,
            open_worlds(self.config, self.chosen, self.store) as on,
        ):
            await self._play_policy(on, verdicts, plan, is_measured=False)

    async def play(self) -> None:
        """Play what has not been played yet, and score every episode as it ends."""
        async with (
            self._judge() as verdicts,
            open_worlds(self.config, self.chosen, self.store) as on,
        ):
            plan = self.chosen.plan(arm_of(self.config))
            await self._play_policy(on, verdicts, plan, is_measured=True)
            if self.config.baselines and self.config.baseline_seeds:
                plain = on.plain()
                with CostRecorder(self.store, BASELINES) as clock:
                    from benchmarks.oracles import OraclePolicy

                    if self.config.replay is not None:
                        recordings = find_recordings(self.config.replay, self.chosen)
                    else:
                        found: dict[str, Trajectory] = {}
                        for trial in range(TRIES):
                            left = [name for name in self.chosen.names if name not in found]
                            shown_plan = plan_solutions(self.chosen, left, trial)
                            for shown in await self._collect(
                                shown_plan, OraclePolicy(), plain, verdicts, clock
                            ):
                                if await verdicts.give(shown) == 1.0:
                                    found[shown.task.name] = shown
                        recordings = Recordings(ORACLES, found)
                    known = recordings.by_task
                    note = describe_replay(recordings.source, known, self.chosen.names)
                    self.store.put_state(NOTES, [note])
                    plan = plan_baselines(self.chosen, known, self.config.baseline_seeds)
                    played = await self._collect(
                        plan, build_policy(recordings), plain, verdicts, clock
                    )
                    self.store.put_state(NOTES, [note, *describe_changes(played)])

    @asynccontextmanager
    async def _judge(self) -> AsyncIterator[EpisodeScorer]:
        spec = judge_of(self.config)
        named = judging(self.config) if spec.asks_a_model else None
        async with open_scorer(self.store, spec, named, self.ledger) as verdicts:
            yield verdicts

    async def _play_policy(
        self,
        stage: WorldFactory,
        verdicts: EpisodeScorer,
        plan: Sequence[PlannedEpisode],
        *,
        is_measured: bool,
    ) -> None:
        played = contestant(self.config)
        played.asking.note(self.store)
        metered = partial(MeteredModel, ledger=self.ledger)
        choice, restating = self.config.player.student, self.config.player.restating
        student = choice.open() if choice.student else None
        # No verdict of a measured episode reaches a student, and one that was brought along is
        # measured as it is.
        learns = student is not None and (not is_measured or choice.student == BUILTIN)

        def learn(trajectory: Trajectory, success: float | None) -> None:
            if student is not None and learns:
                student.learn(trajectory, None if is_measured else success)

        async with AsyncExitStack() as ends:
            clock = ends.enter_context(CostRecorder(self.store, arm_of(self.config)))
            if student is not None:
                note_student(self.store, student)
                if learns:
                    ends.callback(student.save, self.store.folder / STUDENT)
            policy = await ends.enter_async_context(played.ready(stage.images, metered))
            if restating.is_on:
                from webagent.policy.restating import put_in_front

                model = restating.chosen.contestant().language_model()
                ends.push_async_callback(model.close)
                policy = put_in_front(policy, MeteredModel(model, self.ledger, "restate"))
            lookahead, images = self.config.player.lookahead, self.store.images.get
            ahead = await ends.enter_async_context(
                open_lookahead(lookahead, images, self.config.split)
            )
            policy = ahead(policy, self.ledger) if ahead else policy
            policy = student.in_front_of(policy) if student else policy
            await self._collect(plan, policy, stage, verdicts, clock, self.budget, learn)

    async def _collect(  # noqa: PLR0913 - each is a separate decision of the caller
        self,
        plan: Sequence[PlannedEpisode],
        policy: Policy,
        stage: WorldFactory,
        verdicts: EpisodeScorer,
        recorder: Recorder,
        budget: int | None = None,
        learn: Learn = lambda trajectory, success: None,
    ) -> list[Trajectory]:
        """Play a plan; scores come as episodes end, and all are there when this returns."""
        if not plan:
            return []
        known = set(self.store.ids("any"))
        scoring: list[asyncio.Future[None]] = []
        cost = partial(format_spending, self.ledger)
        with count_episodes(len(plan), cost=cost) as counter:

            async def score(trajectory: Trajectory) -> None:
                value = await verdicts.give(trajectory)
                learn(trajectory, value)
                counter.count(trajectory, value, is_new=trajectory.id not in known)

            try:
                return await collect(
                    plan,
                    policy,
                    stage.open_world,
                    concurrency=self.config.run.concurrency * self.config.run.workers,
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
