"""Many tasks at once: all environments of a vector share one browser and step together."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from apps.environment.env import Drawing
from apps.environment.player import Player, Turn
from apps.environment.spaces import ActionText, observation_space
from apps.environment.supply import Supply
from tasks.task import Task
from webagent.observation.variants import variant_named

_Flags = npt.NDArray[np.bool_]
_Step = tuple[dict[str, Any], npt.NDArray[np.float64], _Flags, _Flags, dict[str, Any]]


class WebVectorEnv(VectorEnv[dict[str, Any], Sequence[str], npt.NDArray[Any]]):
    """As `WebEnv`, `num_envs` times in contexts of one browser; a step waits for the slowest.

    `task` is one task for all, or a sequence of as many. An environment whose episode has ended is
    reset by the step after, which ignores its action and gives no reward.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(  # noqa: PLR0913 - each is a setting of its own
        self,
        num_envs: int,
        task: str | Task | Sequence[str | Task],
        *,
        split: str = "train",
        settings: Mapping[str, Any] | None = None,
        screenshot: bool = False,
        observation: str = "text",
        max_tokens: int = 2000,
        guard: str | Path | None = None,
    ) -> None:
        """Raises `ValueError` where there is not one task for each environment, or where they
        differ in size and screenshots are asked for."""
        variant = variant_named(observation)
        screenshot = screenshot or bool(variant.image)
        tasks = [task] * num_envs if isinstance(task, str | Task) else list(task)
        if len(tasks) != num_envs:
            raise ValueError(f"{num_envs} environments need as many tasks, found {len(tasks)}")
        self.num_envs = num_envs
        self._drawings = [Drawing(each, split, settings) for each in tasks]
        examples = [drawing.example for drawing in self._drawings]
        if screenshot and len({example.viewport for example in examples}) > 1:
            raise ValueError("screenshots of different sizes do not fit into one array")
        self.single_observation_space = observation_space(examples[0], screenshot)
        self.single_action_space = ActionText()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._supply = Supply.lease(guard)
        browser = self._supply.browser
        self._players = [Player(browser, screenshot, max_tokens, variant) for _ in range(num_envs)]
        self._rngs: list[np.random.Generator] = []
        self._ended = [True] * num_envs

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode in all of them; the i-th is drawn by `seed` + i, or the i-th seed."""
        if seed is not None or not self._rngs:
            self._rngs = [np.random.default_rng(each) for each in self._seeds(seed)]
        turns = self._all([self._begin(place, options) for place in range(self.num_envs)])
        return self._seen(turns), self._infos(turns)

    def step(self, actions: Sequence[str]) -> _Step:
        """Do an action in each; raises `ValueError` when there is not one for each."""
        if len(actions) != self.num_envs:
            raise ValueError(f"{self.num_envs} environments need as many actions")
        turns = self._all(
            [
                self._begin(place, None) if self._ended[place] else self._players[place].step(said)
                for place, said in enumerate(actions)
            ]
        )
        rewards = np.array([turn.reward for turn in turns], dtype=np.float64)
        terminated = np.array([turn.terminated for turn in turns], dtype=np.bool_)
        truncated = np.array([turn.truncated for turn in turns], dtype=np.bool_)
        return self._seen(turns), rewards, terminated, truncated, self._infos(turns)

    def close_extras(self, **kwargs: Any) -> None:
        """Close all pages, and the browser with the last user of it."""
        self._supply.run(_together([player.close() for player in self._players]))
        self._supply.release()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int):
            return range(seed, seed + self.num_envs)
        if len(seed) != self.num_envs:
            raise ValueError(f"{self.num_envs} environments need as many seeds, found {len(seed)}")
        return seed

    async def _begin(self, place: int, options: Mapping[str, Any] | None) -> Turn:
        task = self._drawings[place].draw(self._rngs[place], options)
        return await self._players[place].reset(task)

    def _all(self, work: list[Any]) -> list[Turn]:
        turns = self._supply.run(_together(work))
        self._ended = [turn.ended for turn in turns]
        return turns

    def _seen(self, turns: Sequence[Turn]) -> dict[str, Any]:
        columns = {key: tuple(turn.seen[key] for turn in turns) for key in turns[0].seen}
        if "screenshot" in columns:
            return {**columns, "screenshot": np.stack(columns["screenshot"])}
        return columns

    def _infos(self, turns: Sequence[Turn]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for place, turn in enumerate(turns):
            infos = self._add_info(infos, turn.info, place)
        return infos


async def _together(work: list[Any]) -> list[Any]:
    return list(await asyncio.gather(*work))
