"""A place at a browser where episodes are moved from outside, step by step."""

import asyncio
import io
import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL.Image import open as open_image

from evaluators.rules import checks_hold
from tasks.task import Task
from webagent.action import Action, Wait, parse_action
from webagent.browser import Browser, BrowserWorld
from webagent.errors import ActionError, PolicyError, WorldError
from webagent.observation.variants import VARIANTS, Variant
from webagent.records import Decision, Ending, Observation, Trajectory
from webagent.rollout import run_episode

Image: TypeAlias = npt.NDArray[np.uint8]
"""Of shape (height, width, 3), red, green and blue."""

_TRIES = 3


def pixels(png: bytes) -> Image:
    """A PNG as an array."""
    with open_image(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


@dataclass(frozen=True, slots=True)
class Turn:
    """What one reset or step comes to, in Gymnasium's terms."""

    seen: dict[str, Any]
    info: dict[str, Any]
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False

    @property
    def ended(self) -> bool:
        """Whether the next call must be a reset."""
        return self.terminated or self.truncated


class Episode:
    """`run_episode` turned inside out: whoever calls `step` is its policy.

    So endings, limits, time-outs and evidence are those of every other episode.
    """

    def __init__(self, task: Task, world: BrowserWorld) -> None:
        self._asked: asyncio.Queue[Observation] = asyncio.Queue()
        self._told: asyncio.Queue[Decision] = asyncio.Queue()
        self._running = asyncio.create_task(run_episode(task, self, world))

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Asks outside, and waits for what is said there."""
        self._asked.put_nowait(observation)
        return await self._told.get()

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> list[Decision]:
        """Raises `PolicyError`: outside there is one action at a time."""
        raise PolicyError("an episode that is moved from outside proposes nothing")

    async def next(self) -> Observation | Trajectory:
        """The page that waits for an action, or the finished episode."""
        asked = asyncio.create_task(self._asked.get())
        await asyncio.wait({asked, self._running}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            return asked.result()
        asked.cancel()
        return await self._running

    async def step(self, action: Action, source: str) -> Observation | Trajectory:
        """Do the action; what `next` says."""
        self._told.put_nowait(Decision(action, source=source))
        return await self.next()

    async def leave(self) -> None:
        """Stop wherever it is."""
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)


class Player:
    """Plays one episode after another in a context of the browser."""

    def __init__(
        self,
        browser: Browser,
        screenshot: bool = False,
        max_tokens: int = 2000,
        variant: Variant = VARIANTS["text"],
    ) -> None:
        self._browser = browser
        self._wants_image = screenshot or bool(variant.image)
        self._variant = variant
        self._max_tokens = max_tokens
        self._score = checks_hold()
        self._world: BrowserWorld | None = None
        self._episode: Episode | None = None
        self._page: Observation | None = None
        self._image: Image | None = None

    async def reset(self, task: Task) -> Turn:
        """Start the task on a fresh page. Raises `WorldError` when it fails time and again."""
        await self._leave_episode()
        self._page = self._image = None
        reason = ""
        for _ in range(_TRIES):
            self._world = self._world or await self._browser.world(variant=self._variant)
            self._episode = Episode(task, self._world)
            first = await self._episode.next()
            if isinstance(first, Observation):
                return await self._turn(first, {"task": task.id, "seed": task.seed})
            reason = first.error
            await self._give_up_world()
        raise WorldError(f"{task.id} did not start in {_TRIES} tries: {reason}")

    async def step(self, text: str) -> Turn:
        """Do the action. Text that is not one costs a step, and the outcome says why.

        Raises `RuntimeError` when no episode is under way.
        """
        if self._episode is None:
            raise RuntimeError("no episode is under way; call reset first")
        source, reason = "environment", ""
        try:
            action = parse_action(text)
        except ActionError as error:
            action, source, reason = Wait(0), "unreadable", str(error)
        result = await self._episode.step(action, source)
        if isinstance(result, Trajectory):
            return await self._end(result)
        return await self._turn(replace(result, outcome=reason or result.outcome), {})

    async def screenshot(self) -> Image:
        """The page as it looks. Raises `WorldError` when there is none."""
        return pixels(await self._photograph())

    async def close(self) -> None:
        """Leave the browser; it stays open for others."""
        await self._leave_episode()
        await self._give_up_world()

    async def _end(self, whole: Trajectory) -> Turn:
        """The last turn. A world that failed gives no reward, not even none: not a number."""
        self._episode = None
        has_failed = whole.ending is Ending.WORLD_FAILED
        if has_failed:
            await self._give_up_world()
        score = await self._score(whole)
        info = {
            "ending": str(whole.ending),
            "success": score.value == 1.0,
            "reason": whole.error if has_failed else score.reason,
        }
        is_cut = has_failed or whole.ending is Ending.STEP_LIMIT
        return replace(
            await self._turn(whole.last, info),
            reward=math.nan if score.value is None else score.value,
            terminated=not is_cut,
            truncated=is_cut,
        )

    async def _turn(self, page: Observation | None, info: dict[str, Any]) -> Turn:
        """What is to be seen; where the page is gone, what was seen last."""
        self._page = page = page or self._page
        if page is None:
            raise RuntimeError("an episode ends before its first page was seen")
        seen: dict[str, Any] = {
            "goal": page.goal,
            "page": self._variant.write(page, self._max_tokens),
            "url": page.url,
            "outcome": page.outcome,
        }
        if self._wants_image:
            seen["screenshot"] = self._image = await self._newest_image(page)
        return Turn(seen, {"observation": page, **info})

    async def _photograph(self) -> bytes:
        if self._world is None:
            raise WorldError("there is no page to look at; call reset first")
        return await self._world.screenshot()

    async def _newest_image(self, page: Observation) -> Image:
        try:
            return pixels(self._variant.picture(await self._photograph(), page))
        except WorldError:
            if self._image is None:
                raise
            return self._image

    async def _leave_episode(self) -> None:
        if self._episode is not None:
            await self._episode.leave()
            self._episode = None

    async def _give_up_world(self) -> None:
        world, self._world = self._world, None
        if world is not None:
            await world.close()
