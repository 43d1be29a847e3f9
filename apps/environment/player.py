"""Play episodes step by step from outside, in worlds of one shared browser."""

import asyncio
import atexit
import io
import math
import os
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from PIL.Image import open as open_image

from apps.stepped import EpisodeRunner
from benchmarks.miniwob import tasks as miniwob
from benchmarks.rules import checks_hold
from benchmarks.sites.hosting import Hosting
from tasks.task import Task
from webagent.action import Wait, parse_action
from webagent.browser import Browser
from webagent.errors import ActionError, SetupError, WorldError
from webagent.guard import Guard
from webagent.observation.variants import VARIANTS, ObservationVariant
from webagent.records import Ending, Observation, Trajectory
from webagent.rollout import OpenWorld, VisibleWorld

_MOST_INSTANCES = 1024
"""Of one site: as many as environments will ever wait for, as each keeps one between episodes."""

Image: TypeAlias = npt.NDArray[np.uint8]
"""Of shape (height, width, 3), red, green and blue."""


def pixels(png: bytes) -> Image:
    """Return a PNG as an array."""
    with open_image(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


@dataclass(frozen=True, slots=True)
class GymTurn:
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


class GymPlayer:
    """Plays one episode after another in a context of the browser."""

    def __init__(
        self,
        shared: "SharedBrowser",
        screenshot: bool = False,
        max_tokens: int = 2000,
        variant: ObservationVariant = VARIANTS["text"],
    ) -> None:
        self._runner = EpisodeRunner(shared.worlds(variant))
        self._wants_image = screenshot or bool(variant.image)
        self._variant = variant
        self._max_tokens = max_tokens
        self._score = checks_hold()
        self._page: Observation | None = None
        self._image: Image | None = None

    async def reset(self, task: Task) -> GymTurn:
        """Start the task on a fresh page. Raises `WorldError` when every try fails."""
        self._page = self._image = None
        first = await self._runner.begin(task)
        return await self._turn(first, {"task": task.id, "seed": task.seed})

    async def step(self, text: str) -> GymTurn:
        """Do the action. Text that is not one costs a step, and the outcome says why.

        Raises `RuntimeError` when no episode is in progress.
        """
        source, reason = "environment", ""
        try:
            action = parse_action(text)
        except ActionError as error:
            action, source, reason = Wait(0), "unreadable", str(error)
        result = await self._runner.act(action, source)
        if isinstance(result, Trajectory):
            return await self._end(result)
        return await self._turn(replace(result, outcome=reason or result.outcome), {})

    async def screenshot(self) -> Image:
        """Return the page as it looks. Raises `WorldError` when there is none."""
        return pixels(await self._take_picture())

    async def close(self) -> None:
        """Leave the browser; it stays open for others."""
        await self._runner.close()

    async def _end(self, whole: Trajectory) -> GymTurn:
        """Return the last turn; the reward of a world that failed is not a number."""
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

    async def _take_picture(self) -> bytes:
        world = self._runner.world
        assert isinstance(world, VisibleWorld)  # as all that are opened here
        return await world.screenshot()

    async def _turn(self, page: Observation | None, info: dict[str, Any]) -> GymTurn:
        """Return what is to be seen; where the page is gone, what was seen last."""
        self._page = page = page or self._page
        if page is None:
            raise RuntimeError("the episode ended before its first page was observed")
        seen: dict[str, Any] = {
            "goal": page.goal,
            "page": self._variant.write(page, self._max_tokens),
            "url": page.url,
            "outcome": page.outcome,
        }
        if self._wants_image:
            try:
                png = self._variant.picture(await self._take_picture(), page)
                self._image = pixels(png)
            except WorldError:
                if self._image is None:
                    raise
            seen["screenshot"] = self._image
        return GymTurn(seen, {"observation": page, **info})


_Result = TypeVar("_Result")


_Shared: TypeAlias = tuple[Path | None, tuple[Path, ...]]
"""The policy file and the files of sites that environments have in common."""


class SharedBrowser:
    """The browser, the sites and the event loop that environments of this process share."""

    _shared: ClassVar[dict[_Shared, "SharedBrowser"]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, policy: Path | None = None, sites: tuple[Path, ...] = ()) -> None:
        guard = Guard.read(policy).opening(miniwob.pages().parent) if policy else None
        self._key = (policy, sites)
        self._process = os.getpid()
        self._users = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.browser = Browser(guard=guard)
        self._hosting = Hosting(_MOST_INSTANCES, sites)

    @classmethod
    def lease(
        cls,
        guard: str | Path | None = None,
        sites: Sequence[str | Path] = (),
        tasks: Sequence[Task] = (),
    ) -> "SharedBrowser":
        """Return the one of this process whose episodes are held to this policy file, if any, and
        whose sites these files describe; the sites of the tasks are built.

        Give it back with `release`. A forked child gets its own. Raises `SetupError` for a bad
        policy, and for a site that cannot be started."""
        policy = Path(guard).resolve() if guard else None
        key = (policy, tuple(Path(each).resolve() for each in sites))
        with cls._lock:
            shared = cls._shared.get(key)
            if shared is None or shared._process != os.getpid():
                shared = cls._shared[key] = cls(*key)
                atexit.register(shared._end)
            shared._users += 1
        try:
            shared.run(shared._hosting.prepare(tasks))
        except SetupError:
            shared.release()
            raise
        return shared

    def worlds(self, variant: ObservationVariant) -> OpenWorld:
        """Return what opens worlds of its browser, in which tasks on sites are played, too."""
        opening = partial(self.browser.world, variant=variant, logins=self._hosting.logins)
        return self._hosting.worlds(opening)

    def release(self) -> None:
        """Take note of one user less; the last one closes the browser."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._end()

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Wait for work on the browser's thread; stopped with it on Ctrl-C."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _end(self) -> None:
        if self._process != os.getpid() or self._loop.is_closed():
            return
        if SharedBrowser._shared.get(self._key) is self:
            del SharedBrowser._shared[self._key]

        async def close_all() -> None:
            await self.browser.close()
            # Those of environments that were never closed.
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await self._hosting.close()

        self.run(close_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        atexit.unregister(self._end)
