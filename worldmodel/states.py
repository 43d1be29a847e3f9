"""States for search: of a real site, reached again by fresh start and replay, and of a dream."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from evaluators.evaluator import Evaluator
from tasks.task import Task
from webagent.action import Answer, GiveUp, is_final
from webagent.errors import GuardError, WorldError
from webagent.policy.policy import replay_recording
from webagent.records import SEARCHED, Decision, Ending, Observation, Step, Trajectory
from webagent.rollout.world import OpenWorld, World, call_in_time
from worldmodel.lookahead import extend, goes_on
from worldmodel.prediction import WorldModel, expect
from worldmodel.search import OpenStates, SearchState
from worldmodel.transitions import Situation

_SECONDS = 60.0
"""For each call to the world."""


@dataclass(slots=True)
class ReplayedStates:
    """States of a real site. Wherever its world is not in the state that is wanted, the task is
    started afresh and what led there is done again; each action counts as a real step."""

    world: World
    episode: Trajectory
    """As it begins."""
    evaluator: Evaluator
    limit: int
    """Real steps, at most."""
    sees_checks: bool = False
    """Whether the evaluator is the task's own checks, so that their evidence is captured."""
    steps: int = 0
    starts: int = 0
    failures: int = 0
    """Times that the world broke, or the guard refused: parts of the tree that were not seen."""
    _here: Trajectory | None = field(default=None)
    """What was done in the world as it is now; None where that is not known."""

    @property
    def usage(self) -> Mapping[str, int]:
        """Return the real steps, the fresh starts and what failed."""
        counts = {SEARCHED: self.steps, "search_starts": self.starts}
        return {**counts, "search_failures": self.failures}

    @property
    def task(self) -> Task:
        """Return the task as whoever searches may see it."""
        return self.episode.task if self.sees_checks else hide_checks(self.episode.task)

    async def start(self) -> SearchState:
        """Return the state of a fresh start. Raises `WorldError`."""
        return await self._valued(await self._reach(replace(self.episode, steps=())))

    async def after(self, state: SearchState, decision: Decision) -> SearchState | None:
        """Return what comes of an action in a state, once that is reached again; None where the
        limit leaves too few steps for it, or the state cannot be reached any more. An action that
        the guard refuses, or that the world breaks under, leads to an end that is worth nothing."""
        trajectory, page = state.trajectory, state.trajectory.last
        assert page is not None
        done = replace(trajectory, steps=(*trajectory.steps, Step(page, decision)))
        if is_final(decision.action):
            # Nothing is done in the world; the evidence is that of the state.
            return await self._valued(done)
        is_there = self._here is not None and self._here.steps == trajectory.steps
        if self.steps + 1 + (0 if is_there else len(trajectory.steps)) > self.limit:
            return None
        try:
            if not is_there:
                await self._reach(trajectory)
        except WorldError:
            self.failures += 1
            return None
        try:
            return await self._valued(await self._step(done))
        except (GuardError, WorldError):
            self._here, self.failures = None, self.failures + 1
            return SearchState(replace(done, last=page), 0.0, is_over=True)

    async def _reach(self, trajectory: Trajectory) -> Trajectory:
        """Bring the world into a state; tried once more where it fails under way."""
        try:
            return await self._replay(trajectory)
        except WorldError:
            if self.steps + len(trajectory.steps) >= self.limit:
                raise
            return await self._replay(trajectory)

    async def _replay(self, trajectory: Trajectory) -> Trajectory:
        self.starts += 1
        page = await call_in_time("reset", self.world.reset(self.task), _SECONDS)
        goal = self.episode.goal or page.goal
        self._here = replace(self.episode, task=self.task, steps=(), last=page, goal=goal)
        now = self._here
        script = replay_recording(trajectory)
        for step in trajectory.steps:
            assert now.last is not None
            action = script(now, now.last) or step.decision.action
            decision = replace(step.decision, action=action)
            now = await self._step(replace(now, steps=(*now.steps, Step(now.last, decision))))
        if trajectory.steps:
            # Known by what it was when it was first reached.
            now = self._here = trajectory
        return now

    async def _step(self, done: Trajectory) -> Trajectory:
        """Do the last action of a trajectory and return it with the page that followed."""
        self._here = None
        self.steps += 1
        action = done.steps[-1].decision.action
        page = await call_in_time("step", self.world.step(action), _SECONDS)
        self._here = replace(done, last=page)
        return self._here

    async def _valued(self, done: Trajectory) -> SearchState:
        """Return the state with what the evaluator says of an episode that stops there."""
        last = done.last
        assert last is not None
        final = done.steps[-1].decision.action if done.steps else None
        ending = _ending(done, last)
        if self.sees_checks and not isinstance(final, Answer | GiveUp):
            evidence = await call_in_time("evidence", self.world.evidence(self.task), _SECONDS)
            done = replace(done, evidence=evidence)
            if self.task.probes or self.task.evidence:
                self._here = None  # looking may have moved the pages
        stopped = replace(done, ending=ending or Ending.ANSWERED)
        if ending is None:
            stopped = replace(stopped, steps=(*done.steps, Step(last, Decision(Answer("")))))
        said = (await self.evaluator(stopped)).value
        value = 0.5 if said is None else said
        return SearchState(done, value, ending is not None)


def hide_checks(task: Task) -> Task:
    """Return a task without its checks and what they need."""
    return replace(task, checks=(), evidence={}, probes=(), records=(), queries={})


def _ending(done: Trajectory, last: Observation) -> Ending | None:
    match done.steps[-1].decision.action if done.steps else None:
        case Answer():
            return Ending.ANSWERED
        case GiveUp():
            return Ending.GAVE_UP
    if last.over:
        return Ending.TASK_OVER
    return Ending.STEP_LIMIT if len(done.steps) >= done.task.max_steps else None


def replay_states(
    open_world: OpenWorld, evaluator: Evaluator, limit: int, *, sees_checks: bool
) -> OpenStates:
    """Return what gives an episode's states in a world of their own beside the episode's."""

    @asynccontextmanager
    async def open_states(
        trajectory: Trajectory, observation: Observation
    ) -> AsyncIterator[ReplayedStates]:
        world = await open_world()
        try:
            yield ReplayedStates(world, trajectory, evaluator, limit, sees_checks)
        finally:
            await world.close()

    return open_states


@dataclass(slots=True)
class DreamtStates:
    """States as a world model expects them, from where an episode stands; valued by its P(success),
    or by an evaluator of the episode as it is imagined."""

    model: WorldModel
    episode: Trajectory
    page: Observation
    evaluator: Evaluator | None = None
    steps: int = 0

    @property
    def usage(self) -> Mapping[str, int]:
        """Return the imagined steps."""
        return {"imagined_steps": self.steps}

    async def start(self) -> SearchState:
        """Return the real state, which is worth less than any that is imagined."""
        return SearchState(replace(self.episode, last=self.page), 0.0)

    async def after(self, state: SearchState, decision: Decision) -> SearchState:
        """Return what is expected of an action. Raises `ModelError`."""
        before = state.trajectory
        assert before.last is not None
        at = Situation(before.last, before.steps, decision.action, before.task.max_steps)
        [told] = await expect(self.model, [at])
        self.steps += 1
        imagined = extend(before, at, told)
        value: float | None = told.outcome.succeeds
        if self.evaluator is not None:
            value = (await self.evaluator(imagined)).value
        steps = (*before.steps, Step(before.last, decision))
        under_way = replace(imagined, steps=steps, ending=None)
        return SearchState(under_way, 0.5 if value is None else value, not goes_on(told))


def dream_states(model: WorldModel, evaluator: Evaluator | None) -> OpenStates:
    """Return what gives the states that a world model imagines from where an episode stands."""

    @asynccontextmanager
    async def open_states(
        trajectory: Trajectory, observation: Observation
    ) -> AsyncIterator[DreamtStates]:
        yield DreamtStates(model, trajectory, observation, evaluator)

    return open_states
