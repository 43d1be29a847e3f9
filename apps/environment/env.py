"""One task of the web as a Gymnasium environment."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from apps.environment.player import Image, Player, Turn
from apps.environment.spaces import ActionText, observation_space
from apps.environment.supply import Supply
from benchmarks.miniwob import tasks as miniwob
from tasks.suite import SEEDS_PER_SPLIT
from tasks.task import Task
from webagent.observation.variants import variant_named


class Drawing:
    """Draws the episodes of one environment: a task on a seed of its split.

    `task` is the name of a MiniWoB++ task, of which `settings` may change the generator, or any
    `Task`. `split` is `train`, `development` or `test`. Raises `UnknownTask` for an unknown name.
    """

    def __init__(
        self, task: str | Task, split: str = "train", settings: Mapping[str, Any] | None = None
    ) -> None:
        self._task = task
        self._split = split
        self._settings = settings or {}
        self.example = self.draw(np.random.default_rng(0), None)
        """An episode like all others, to tell the spaces by."""

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any] | None) -> Task:
        """The next episode; `index` and `split` among the options name one instead."""
        options = options or {}
        split = str(options.get("split", self._split))
        index = int(options.get("index", rng.integers(SEEDS_PER_SPLIT)))
        if isinstance(self._task, str):
            return miniwob.task(self._task, index, split, self._settings)
        return replace(self._task, seed=index)


class WebEnv(gymnasium.Env[dict[str, Any], str]):
    """Observations are text (`goal`, `page`, `url`, `outcome`) and, asked for, a screenshot;
    actions are calls such as `click(12)` or `fill(3, "Ada")`; the reward comes at the end, 1 for
    success by the task's checks and 0 for failure.

    An episode is terminated where the task, an answer or giving up ended it, and truncated by its
    step limit or by a failure of the browser. Such a failure says nothing about the agent: its
    reward is not a number, `info["ending"]` is `world failed`, and the episode is to be left out.
    `info["observation"]` holds the page as a record, with marks, roles and boxes.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 - Gymnasium's own

    def __init__(  # noqa: PLR0913 - each is a setting of its own
        self,
        task: str | Task,
        *,
        split: str = "train",
        settings: Mapping[str, Any] | None = None,
        screenshot: bool = False,
        observation: str = "text",
        max_tokens: int = 2000,
        render_mode: str | None = None,
        guard: str | Path | None = None,
    ) -> None:
        """`observation` is the form of `page`: `text`, `screenshot`, `set-of-marks`, `pruned`,
        `accessibility`, `html` or `markdown`, and `max_tokens` bounds it. `guard` is the policy
        file that every episode is held to (docs/guard.md). The browser starts with the first
        reset. Raises `SetupError` for an unknown form or a bad policy."""
        variant = variant_named(observation)
        self._drawing = Drawing(task, split, settings)
        self.observation_space = observation_space(
            self._drawing.example, screenshot or bool(variant.image)
        )
        self.action_space = ActionText()
        self.render_mode = render_mode
        self._supply: Supply | None = Supply.lease(guard)
        self._player = Player(self._supply.browser, screenshot, max_tokens, variant)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode on a fresh page, drawn by the seed; the options `index` and `split`
        name it instead. Raises `WorldError` when the page cannot be opened."""
        super().reset(seed=seed)
        turn = self._open().run(self._player.reset(self._drawing.draw(self.np_random, options)))
        return turn.seen, turn.info

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Do the action. Text that is not an action costs a step, and `outcome` says why."""
        turn: Turn = self._open().run(self._player.step(action))
        return turn.seen, turn.reward, turn.terminated, turn.truncated, turn.info

    def render(self) -> Image | None:
        """The page as (height, width, 3) bytes in the mode `rgb_array`."""
        if self.render_mode != "rgb_array":
            return None
        return self._open().run(self._player.screenshot())

    def close(self) -> None:
        """Close the page, and the browser with the last environment; safe to call twice."""
        supply, self._supply = self._supply, None
        if supply is not None:
            supply.run(self._player.close())
            supply.release()

    def _open(self) -> Supply:
        if self._supply is None:
            raise RuntimeError("the environment was closed")
        return self._supply
