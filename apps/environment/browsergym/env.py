"""A task as an environment that agents written for BrowserGym can play."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from apps.environment.browsergym.session import Manner, Session, Turn
from apps.environment.browsergym.spaces import COSTLY, Calls, observation_space
from apps.environment.supply import Supply
from benchmarks.miniwob import tasks as miniwob
from tasks.task import Task
from webagent.errors import unknown_name

SCORES = ("success", "raw_positive")
_VIEWPORT = (332, 214)
_SCALE = 1.5
"""BrowserGym 0.14.3 shows MiniWoB++ in this viewport, in pictures of so many times its size."""
_PAGE_SEEDS = 1_000_000
_UNLIMITED = 1_000_000


class BrowserGymEnv(gymnasium.Env[dict[str, Any], str]):
    """Observations are BrowserGym 0.14's dictionary, actions its calls: `click('12')`, several in
    one text. Bids are our marks as text; every element has one.

    A task by name is played on the page that BrowserGym makes of the same seed. The reward is 1 for
    success by the task's checks, which for MiniWoB++ is a raw reward of 1; `reward="raw_positive"`
    is BrowserGym's own rule, any raw reward above 0. Steps are not limited unless `max_steps` says
    so, as there. Unlike there, a failure of the browser raises nothing: it truncates the episode
    with a reward that is not a number.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own

    def __init__(
        self,
        task: str | Task,
        *,
        fields: Sequence[str] = COSTLY,
        reward: str = "success",
        max_steps: int | None = None,
        scale: float | None = None,
        guard: str | Path | None = None,
    ) -> None:
        """`fields` are the costly ones of the dictionary that are wanted; the rest of those is left
        out of it. `scale` is how many pixels of the screenshot make up one of the page, by default
        BrowserGym's 1.5 for MiniWoB++ and 1 for other tasks. `guard` is the policy file that every
        episode is held to. Raises `SetupError` for an unknown field or reward or a bad policy,
        `UnknownTask` for an unknown task.
        """
        for name in fields:
            if name not in COSTLY:
                raise unknown_name("field", name, COSTLY)
        if reward not in SCORES:
            raise unknown_name("reward", reward, SCORES)
        self._task = task
        self._max_steps = max_steps or _UNLIMITED
        scale = scale or (_SCALE if isinstance(task, str) else 1.0)
        width, height = self._draw(0).viewport
        self.observation_space = observation_space(
            tuple(fields), (round(width * scale), round(height * scale))
        )
        self.action_space = Calls()
        self._supply: Supply | None = Supply.lease(guard)
        self._session = Session(self._supply.browser, Manner(tuple(fields), reward, scale))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode on a fresh page. Raises `WorldError` when it cannot be opened."""
        super().reset(seed=seed)
        drawn = seed if seed is not None else int(self.np_random.integers(_PAGE_SEEDS))
        return self._open().run(self._session.reset(self._draw(drawn)))

    def step(self, action: str) -> Turn:
        """Do what the calls in the text say; what could not be done is in `last_action_error`."""
        return self._open().run(self._session.step(action))

    def close(self) -> None:
        """Close the page, and the browser with the last environment; safe to call twice."""
        supply, self._supply = self._supply, None
        if supply is not None:
            supply.run(self._session.close())
            supply.release()

    def _draw(self, seed: int) -> Task:
        """The task on a seed; a MiniWoB++ page gets the number that BrowserGym draws from it."""
        if isinstance(self._task, str):
            number = int(np.random.RandomState(seed).randint(0, _PAGE_SEEDS))
            task = replace(miniwob.load().make(self._task, number, {}), viewport=_VIEWPORT)
        else:
            task = replace(self._task, seed=seed)
        return replace(task, max_steps=self._max_steps)

    def _open(self) -> Supply:
        if self._supply is None:
            raise RuntimeError("the environment was closed")
        return self._supply
