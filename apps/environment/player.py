"""Episodes moved from outside, step by step, in Gymnasium's terms."""

import io
import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL.Image import open as open_image

from apps.environment.stage import Stage
from benchmarks.rules import checks_hold
from tasks.task import Task
from webagent.action import Wait, parse_action
from webagent.browser import Browser
from webagent.errors import ActionError, WorldError
from webagent.observation.variants import VARIANTS, ObservationVariant
from webagent.records import Ending, Observation, Trajectory

Image: TypeAlias = npt.NDArray[np.uint8]
"""Of shape (height, width, 3), red, green and blue."""


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


class Player:
    """Plays one episode after another in a context of the browser."""

    def __init__(
        self,
        browser: Browser,
        screenshot: bool = False,
        max_tokens: int = 2000,
        variant: ObservationVariant = VARIANTS["text"],
    ) -> None:
        self._stage = Stage(browser, variant)
        self._wants_image = screenshot or bool(variant.image)
        self._variant = variant
        self._max_tokens = max_tokens
        self._score = checks_hold()
        self._page: Observation | None = None
        self._image: Image | None = None

    async def reset(self, task: Task) -> Turn:
        """Start the task on a fresh page. Raises `WorldError` when it fails time and again."""
        self._page = self._image = None
        first = await self._stage.begin(task)
        return await self._turn(first, {"task": task.id, "seed": task.seed})

    async def step(self, text: str) -> Turn:
        """Do the action. Text that is not one costs a step, and the outcome says why.

        Raises `RuntimeError` when no episode is under way.
        """
        source, reason = "environment", ""
        try:
            action = parse_action(text)
        except ActionError as error:
            action, source, reason = Wait(0), "unreadable", str(error)
        result = await self._stage.act(action, source)
        if isinstance(result, Trajectory):
            return await self._end(result)
        return await self._turn(replace(result, outcome=reason or result.outcome), {})

    async def screenshot(self) -> Image:
        """The page as it looks. Raises `WorldError` when there is none."""
        return pixels(await self._stage.world.screenshot())

    async def close(self) -> None:
        """Leave the browser; it stays open for others."""
        await self._stage.close()

    async def _end(self, whole: Trajectory) -> Turn:
        """The last turn. A world that failed gives no reward, not even none: not a number."""
        has_failed = whole.ending is not None and whole.ending.is_infrastructure
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

    async def _newest_image(self, page: Observation) -> Image:
        try:
            return pixels(self._variant.picture(await self._stage.world.screenshot(), page))
        except WorldError:
            if self._image is None:
                raise
            return self._image
