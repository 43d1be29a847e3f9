"""Sessions of clients: a place among so many, an episode at a time, its reward when it is over."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Any

from apps.serve.settings import ServeConfig
from apps.serve.wire import (
    ErrorCode,
    MessageError,
    ResetData,
    ServedTurn,
    StepData,
    list_tools,
    read_action,
)
from apps.stepped import EpisodeRunner
from benchmarks.sites.hosting import Hosting
from evaluators.combine import ask
from evaluators.evaluator import FunctionEvaluator
from loop.judging.specification import EvaluatorBuilder
from loop.measurement.environment import load_guard
from loop.measurement.scoring import SECONDS, has_checks
from loop.measurement.selection import TaskSelection
from loop.measurement.settings import judge_of, judging
from tasks.suite import SEEDS_PER_SPLIT, UnknownTask
from tasks.task import Task
from webagent.action import Wait
from webagent.browser import Browser, BrowserLimits
from webagent.browser.sessions.login import Logins
from webagent.browser.sessions.profile import Profile
from webagent.errors import ActionError, ModelError, WorldError
from webagent.observation.variants import ObservationVariant, variant_named
from webagent.records import Observation, Score, Trajectory
from webagent.rollout import World

logger = logging.getLogger(__name__)

_KEPT_LONGER = 60.0
"""Seconds that a page outlives the lease of its session, so that the lease is what ends it."""


@dataclass(slots=True)
class Stage:
    """What all sessions share."""

    config: ServeConfig
    chosen: TaskSelection
    browser: Browser
    open_world: Callable[[Callable[[bytes], str] | None], Awaitable[World]]
    """With a function that keeps screenshots, or None for none."""
    evaluate: FunctionEvaluator
    variant: ObservationVariant
    pictures: dict[str, bytes] = field(default_factory=dict)
    """Screenshots of the episodes under way."""
    opened: int = 0
    """Sessions so far."""
    episodes: int = 0
    failures: int = 0
    """Episodes that were lost for a reason outside the agent."""
    places: int = 0
    """Sessions that play now."""

    def take_place(self) -> None:
        """Count one session more. Raises `MessageError` where there are too many."""
        most = self.config.max_sessions
        if self.places >= most:
            raise MessageError(
                ErrorCode.CAPACITY_REACHED,
                f"{most} sessions are playing, the maximum; close one, or start the server with"
                " a higher --max-sessions",
            )
        self.places += 1

    def choose_task(self, request: ResetData) -> Task:
        """Return the task of an episode. Raises `MessageError` for one that is not served.

        Without a name the seed goes through the tasks in turn, then through their pages.
        """
        names, number = self.chosen.names, request.seed
        if number is None:
            number = self.episodes
        name = request.task
        if not name:
            name, number = names[number % len(names)], number // len(names)
        try:
            if name not in names:
                raise UnknownTask(name, names)
            split = request.split or self.config.split
            return self.chosen.suite.task(name, number % SEEDS_PER_SPLIT, split)
        except UnknownTask as error:
            raise MessageError(ErrorCode.VALIDATION_ERROR, f"reset: {error}") from error

    async def score(self, whole: Trajectory) -> Score:
        """Return the judge's score of a finished episode. Raises `WorldError` where it abstains:
        no number may stand for that."""
        if whole.ending is not None and whole.ending.is_infrastructure:
            raise WorldError(f"{whole.ending}: {whole.error}")
        asking = ask(self.evaluate, whole, seconds=SECONDS)
        # A judge of one's own may raise anything, and the session goes on.
        (result,) = await asyncio.gather(asking, return_exceptions=True)
        if isinstance(result, Exception):
            logger.error("the judge %s raised", self.evaluate.id, exc_info=result)
            raise WorldError(f"the judge {self.evaluate.id} raised {result!r}") from result
        if isinstance(result, BaseException):
            raise result
        if result.score.value is None:
            raise WorldError(f"the judge abstained on this episode: {result.score.reason}")
        return result.score


@asynccontextmanager
async def open_stage(config: ServeConfig, chosen: TaskSelection) -> AsyncIterator[Stage]:
    """Yield a browser, the tasks' sites and the judge, ready. Raises `SetupError`."""
    played = config.played
    spec, model = judge_of(played), None
    if spec.asks_a_model:
        model = judging(played).language_model()
    pictures: dict[str, bytes] = {}
    evaluate = EvaluatorBuilder(model, pictures.__getitem__, SECONDS).evaluator(spec)
    profile, variant = Profile(har_replay=config.har), variant_named(config.observation)
    hosted = Hosting(config.max_sessions, config.selection.sites, Logins(config.selection.logins))
    limits = BrowserLimits(lease_seconds=60 * config.lease_minutes + _KEPT_LONGER)
    guard = load_guard(played, chosen)
    try:
        async with (
            hosted as hosting,
            Browser(guard=guard, limits=limits, pages=config.max_sessions) as browser,
        ):
            await hosting.prepare(chosen.tasks(1))

            async def open_world(keep: Callable[[bytes], str] | None) -> World:
                opening = partial(browser.world, keep, profile, variant, logins=hosting.logins)
                return await hosting.worlds(opening)()

            yield Stage(config, chosen, browser, open_world, evaluate, variant, pictures)
    finally:
        if model is not None:
            await model.close()


def find_unscored(config: ServeConfig, chosen: TaskSelection) -> str:
    """Return the first task that nobody could score; empty where there is none."""
    if config.judging.judge != "rules":
        return ""
    return next((task.id for task in chosen.tasks(1) if not has_checks(task)), "")


class ServedSession:
    """One client's: an episode after the other, while its lease lasts."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        stage.opened += 1
        self._name = f"{stage.opened}"
        self._runner: EpisodeRunner[World] | None = None
        self._has_images = False
        self._task: Task | None = None
        self._page: Observation | None = None
        self._steps = 0
        self._episode = ""
        self._is_playing = False
        self._lost = ""

    @property
    def has_place(self) -> bool:
        """Return whether it holds one of the places."""
        return self._runner is not None

    async def reset(self, request: ResetData) -> ServedTurn:
        """Begin an episode. Raises `MessageError`, and `WorldError` where no page opens."""
        task = self._stage.choose_task(request)
        images = request.images or self._stage.config.images or bool(self._stage.variant.image)
        if self._runner is None:
            self._stage.take_place()
        elif images != self._has_images:
            await self._runner.close()
            self._runner = None
        if self._runner is None:
            opening = partial(self._stage.open_world, self._keep if images else None)
            self._runner = EpisodeRunner(opening)
            self._has_images = images
        self._stage.episodes += 1
        self._forget_pictures()
        self._task, self._steps, self._is_playing, self._lost = task, 0, False, ""
        self._episode = request.episode_id or f"{self._name}-{self._stage.episodes}"
        try:
            page = await self._runner.begin(task)
        except WorldError as error:
            raise self._fail(error) from error
        self._is_playing = True
        return self._turn(page, reward=None)

    async def step(self, request: StepData) -> ServedTurn:
        """Do an action; what is not one costs a step, and the outcome says why.

        Raises `MessageError` where no episode is in progress, and `WorldError` where it is lost.
        """
        if self._runner is None or not self._is_playing:
            lost = f"; the last one is lost: {self._lost}" if self._lost else ""
            code = ErrorCode.SESSION_ERROR if self._lost else ErrorCode.VALIDATION_ERROR
            raise MessageError(code, f"no episode is in progress{lost}; call reset to start one")
        source, refusal = "client", ""
        try:
            action = read_action(request)
        except ActionError as error:
            action, source, refusal = Wait(0), "unreadable", str(error)
        try:
            result = await self._runner.act(action, source)
            self._steps += 1
            if isinstance(result, Observation):
                return self._turn(replace(result, outcome=refusal or result.outcome), reward=0.0)
            self._is_playing = False
            score = await self._stage.score(result)
        except (WorldError, ModelError) as error:
            raise self._fail(error) from error
        page = result.last or self._page
        if page is None:
            raise RuntimeError("the episode ended before its first page was observed")
        turn = self._turn(page, reward=score.value)
        return replace(turn, done=True, ending=str(result.ending), reason=score.reason)

    def tools(self) -> dict[str, Any]:
        """Return the answer to a client that lists the tools."""
        data = {"observation": {"tools": list_tools()}, "reward": 0.0, "done": False}
        return {"type": "observation", "data": data}

    def state(self) -> dict[str, Any]:
        """Return where the episode stands."""
        return {
            "episode_id": self._episode or None,
            "step_count": self._steps,
            "task": self._task.id if self._task else "",
            "seed": self._task.seed if self._task else 0,
            "is_playing": self._is_playing,
            "lease_seconds": 60 * self._stage.config.lease_minutes,
        }

    async def leave(self, reason: str = "") -> None:
        """Close the page and give the place back; `reason` is the answer to later steps."""
        runner, self._runner = self._runner, None
        was_playing, self._is_playing = self._is_playing, False
        if was_playing and reason:
            self._lost = reason
        self._forget_pictures()
        if runner is not None:
            self._stage.places -= 1
            await runner.close()

    def _keep(self, png: bytes) -> str:
        reference = f"{self._name}/{sha256(png).hexdigest()}"
        self._stage.pictures[reference] = png
        return reference

    def _forget_pictures(self) -> None:
        own = f"{self._name}/"
        for reference in [each for each in self._stage.pictures if each.startswith(own)]:
            del self._stage.pictures[reference]

    def _fail(self, error: WorldError | ModelError) -> WorldError:
        self._is_playing = False
        self._lost = str(error)
        self._stage.failures += 1
        return WorldError(f"{error}; this says nothing of the agent, reset begins another episode")

    def _turn(self, page: Observation, reward: float | None) -> ServedTurn:
        self._page = page
        task, variant = self._task, self._stage.variant
        if task is None:
            raise RuntimeError("a step before the first reset")
        png = self._stage.pictures.get(page.screenshot) if self._has_images else None
        return ServedTurn(
            goal=page.goal,
            page=variant.write(page, self._stage.config.max_tokens),
            url=page.url,
            outcome=page.outcome,
            task=task.id,
            seed=task.seed,
            step=self._steps,
            max_steps=task.max_steps,
            image=variant.picture(png, page) if png else None,
            reward=reward,
        )
