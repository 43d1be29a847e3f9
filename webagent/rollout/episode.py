"""The central loop: one task played to its typed ending."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from tasks.task import Task
from webagent.action import Answer, GiveUp, is_final
from webagent.errors import (
    CaptchaError,
    GuardError,
    ModelError,
    PolicyError,
    StoppedError,
    WorldError,
)
from webagent.exchange import EXCHANGES, Exchange
from webagent.policy.policy import Policy
from webagent.records import PERSON, Decision, Ending, Observation, Provenance, Step, Trajectory
from webagent.rollout.traces import open_spans
from webagent.rollout.world import World, call_in_time
from webagent.serialize import dumps, to_json


@dataclass(frozen=True, slots=True)
class PlannedEpisode:
    """One episode to be played."""

    task: Task
    provenance: Provenance


INTERRUPTED = "interrupted"
"""The error of an attempt that a kill cut off, of this process or of what held the world."""


def plan_episodes(tasks: Iterable[Task], provenance: Provenance) -> list[PlannedEpisode]:
    """Return the tasks in order, numbered by `Provenance.index`."""
    return [
        PlannedEpisode(task, replace(provenance, index=index)) for index, task in enumerate(tasks)
    ]


def episode_id(task: Task, provenance: Provenance, attempt: int = 1) -> str:
    """Return the name of an episode: the same whenever and wherever the same plan is played.

    Made from the task's id and seed but not from its address, which may hold a port that changes
    from run to run.
    """
    named = dumps([task.id, task.seed, to_json(provenance)])
    return f"{hashlib.sha256(named).hexdigest()[:20]}-{attempt}"


class Recorder(Protocol):
    """Keeps an episode while it happens. The store is one."""

    def begin(self, trajectory: Trajectory) -> None:
        """Keep the start of the episode; nothing has been done yet."""

    def add_step(self, episode: str, position: int, step: Step) -> None:
        """Keep one step; it is safe once this returns."""

    def finish(self, trajectory: Trajectory) -> None:
        """Keep the end of the episode; its steps are known."""

    def load(self, episode: str) -> Trajectory | None:
        """Return what is known of an episode; None if it never began."""


@runtime_checkable
class ExchangeRecorder(Protocol):
    """A recorder that also keeps what models were sent and said. The store is one."""

    def add_exchanges(self, episode: str, position: int, exchanges: Sequence[Exchange]) -> None:
        """Keep the exchanges for the step at this position, which may never come about."""


class NullRecorder:
    """Keeps nothing."""

    def begin(self, trajectory: Trajectory) -> None:
        """Let it go."""

    def add_step(self, episode: str, position: int, step: Step) -> None:
        """Let it go."""

    def finish(self, trajectory: Trajectory) -> None:
        """Let it go."""

    def load(self, episode: str) -> Trajectory | None:
        """Return None: nothing is known of any episode."""
        return None


async def run_episode(  # noqa: PLR0913 - the one call everything goes through
    task: Task,
    policy: Policy,
    world: World,
    *,
    provenance: Provenance | None = None,
    attempt: int = 1,
    max_steps: int | None = None,
    recorder: Recorder | None = None,
    step_timeout: float = 60.0,
) -> Trajectory:
    """Play the task and say how it ended; every failure that has a name becomes an ending.

    `max_steps` replaces the task's own limit. Each step goes to the recorder as it happens.
    `step_timeout` is in seconds and holds for each call to the world. The world stays open: it
    belongs to the caller. Raises `StoreError` when the recorder cannot write; whatever else is
    raised is a defect. An episode that is cancelled stays under way in the recorder.
    """
    if max_steps is not None:
        task = replace(task, max_steps=max_steps)
    episode = _Episode(task, provenance or Provenance(), attempt, recorder or NullRecorder())
    error = ""
    gathering = EXCHANGES.set(episode.exchanges)
    try:
        episode.see(await call_in_time("reset", world.reset(task), step_timeout))
        while (ending := episode.ending()) is None:
            decision = await policy.act(episode.trajectory, episode.page)
            with episode.turn(decision):
                if not is_final(decision.action):
                    stepping = world.step(decision.action)
                    episode.see(await call_in_time("step", stepping, step_timeout))
    except PolicyError as failure:
        ending, error = Ending.POLICY_UNREADABLE, str(failure)
    except GuardError as failure:
        ending, error = Ending.GUARD_REFUSED, str(failure)
    except StoppedError as failure:
        ending, error = Ending.STOPPED, str(failure)
    except CaptchaError as failure:
        ending, error = Ending.CAPTCHA, str(failure)
    except WorldError as failure:
        ending, error = Ending.WORLD_FAILED, str(failure)
    except ModelError as failure:
        ending, error = Ending.MODEL_FAILED, str(failure)
    finally:
        EXCHANGES.reset(gathering)
    return await episode.finish(ending, error, world, step_timeout)


class _Episode:
    """A trajectory under way; `page` is what the agent sees now."""

    page: Observation

    def __init__(
        self, task: Task, provenance: Provenance, attempt: int, recorder: Recorder
    ) -> None:
        self.trajectory = Trajectory(
            id=episode_id(task, provenance, attempt),
            task=task,
            goal=task.goal,
            provenance=provenance,
            attempt=attempt,
        )
        self.exchanges: list[Exchange] = []
        """With models, since the last step was kept."""
        self._recorder, self._spans = recorder, open_spans(self.trajectory)
        self._started = time.monotonic()
        recorder.begin(self.trajectory)

    def see(self, page: Observation) -> None:
        self.page = page
        self.trajectory = replace(
            self.trajectory, goal=self.trajectory.goal or page.goal, last=page
        )

    def ending(self) -> Ending | None:
        """Return how the episode has ended of itself; None to go on."""
        steps = self.trajectory.steps
        if self.page.over:
            return Ending.TASK_OVER
        match steps[-1].decision.action if steps else None:
            case Answer():
                return Ending.ANSWERED
            case GiveUp():
                return Ending.GAVE_UP
        own = sum(step.decision.weights != PERSON for step in steps)
        return Ending.STEP_LIMIT if own >= self.trajectory.task.max_steps else None

    @contextmanager
    def turn(self, decision: Decision) -> Iterator[None]:
        """Keep the step whatever comes of it: what was refused or broke the page matters most."""
        seen, began = self.page, time.monotonic()
        try:
            yield
        finally:
            step = Step(seen, decision, time.monotonic() - began)
            steps = (*self.trajectory.steps, step)
            self.trajectory = replace(self.trajectory, steps=steps)
            self._recorder.add_step(self.trajectory.id, len(steps) - 1, step)
            self._keep_exchanges(len(steps) - 1, step)

    def _keep_exchanges(self, position: int, step: Step | None = None) -> None:
        if self._spans is not None and (step or self.exchanges):
            self._spans.add_step(position, step, self.exchanges)
        if self.exchanges and isinstance(self._recorder, ExchangeRecorder):
            self._recorder.add_exchanges(self.trajectory.id, position, tuple(self.exchanges))
        self.exchanges.clear()

    async def finish(self, ending: Ending, error: str, world: World, seconds: float) -> Trajectory:
        """Capture the evidence while the page is there, and close the record."""
        self._keep_exchanges(len(self.trajectory.steps))
        evidence = self.trajectory.evidence
        last = self.trajectory.last
        if ending is Ending.WORLD_FAILED:
            last = None
        elif last is not None or ending is not Ending.STOPPED:  # that comes before a page, too
            try:
                capturing = world.evidence(self.trajectory.task)
                evidence = await call_in_time("evidence", capturing, seconds)
            except WorldError as failure:
                is_cut_off = str(failure) == INTERRUPTED
                error = INTERRUPTED if is_cut_off else f"no evidence: {failure}"
                ending = Ending.WORLD_FAILED
        self.trajectory = replace(
            self.trajectory,
            last=last,
            ending=ending,
            evidence=evidence,
            error=error,
            seconds=time.monotonic() - self._started,
        )
        self._recorder.finish(self.trajectory)
        if self._spans is not None:
            self._spans.finish(self.trajectory)
        return self.trajectory
