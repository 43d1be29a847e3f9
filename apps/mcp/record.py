"""What an assistant does in a session, kept as an episode like any other."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tasks.task import Task
from webagent.action import Action
from webagent.errors import WorldError
from webagent.records import Decision, Ending, Observation, Provenance, Step, Trajectory
from webagent.rollout import Recorder, World, episode_id

SOURCE, PHASE = "assistant", "collect"
_SPARE, _LEAST_STEPS = 2, 10
"""Whoever plays the task again may take so many times the assistant's steps, and ten at least."""


class Record:
    """A session's episode: begun with the session, a step for every action, closed in the end."""

    def __init__(
        self, task: Task, provenance: Provenance, recorder: Recorder, page: Observation
    ) -> None:
        name = episode_id(task, provenance)
        self.trajectory = Trajectory(name, task, task.goal, last=page, provenance=provenance)
        self._recorder = recorder
        self._began = self._last = time.monotonic()
        recorder.begin(self.trajectory)

    @contextmanager
    def turn(self, seen: Observation, action: Action) -> Iterator[None]:
        """Keeps the step whatever comes of it. Raises `StoreError`."""
        now = time.monotonic()
        decision = Decision(
            action, source=SOURCE, weights=self.trajectory.provenance.arm, seconds=now - self._last
        )
        try:
            yield
        finally:
            self._last = time.monotonic()
            step, steps = Step(seen, decision, self._last - now), self.trajectory.steps
            self.trajectory = replace(self.trajectory, steps=(*steps, step))
            self._recorder.add_step(self.trajectory.id, len(steps), step)

    async def finish(
        self, ending: Ending, last: Observation | None, world: World, error: str = ""
    ) -> None:
        """Close the record. Raises `StoreError`."""
        task = self.trajectory.task
        evidence = self.trajectory.evidence
        if ending is not Ending.WORLD_FAILED:
            try:
                evidence = await world.evidence(task)
            except WorldError as failure:
                error = "; ".join(filter(None, (error, f"no evidence: {failure}")))
        taken = len(self.trajectory.steps)
        self.trajectory = replace(
            self.trajectory,
            task=replace(task, max_steps=max(_LEAST_STEPS, _SPARE * taken)),
            last=None if ending is Ending.WORLD_FAILED else last,
            ending=ending,
            evidence=evidence,
            error=error,
            seconds=time.monotonic() - self._began,
        )
        self._recorder.finish(self.trajectory)
