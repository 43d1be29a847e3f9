"""Tasks as Gymnasium environments: one at a time, or a vector that shares one browser."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Space
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from apps.environment.player import GymPlayer, GymTurn, Image, SharedBrowser
from benchmarks.catalogue import find_benchmark
from benchmarks.miniwob import tasks as miniwob
from tasks.suite import SEEDS_PER_SPLIT
from tasks.task import Task
from webagent.observation.variants import variant_named

_SAMPLED_MARKS = 20
_LETTERS = "abcdefghijklmnopqrstuvwxyz "


class AnyText(Space[str]):
    """Any text at all. Gymnasium's own `Text` wants its characters listed, which pages do not."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no fixed size."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a few random letters; masks and probabilities are not used."""
        letters = self.np_random.choice(list(_LETTERS), self.np_random.integers(1, 30))
        return "".join(letters)

    def contains(self, x: Any) -> bool:
        """Return whether it is a text."""
        return isinstance(x, str)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ActionText(AnyText):
    """An action as text, such as `click(12)`; what is not one is answered with the reason."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a click on one of the first elements; masks and probabilities are not used."""
        return f"click({self.np_random.integers(1, _SAMPLED_MARKS + 1)})"


def observation_space(task: Task, screenshot: bool) -> Dict:
    """Return what a step answers with; a screenshot is of bytes, shape (height, width, 3)."""
    texts: dict[str, Space[Any]] = {key: AnyText() for key in ("goal", "page", "url", "outcome")}
    if screenshot:
        width, height = task.viewport
        texts["screenshot"] = Box(0, 255, (height, width, 3), np.uint8)
    return Dict(texts)


class TaskSampler:
    """Draws the episodes of one environment: a task on a seed of its split.

    `task` is the name of a MiniWoB++ task, another benchmark's as in `fossil/ticket-close`, or any
    `Task`. `settings` change the generator of a task that is named. `split` is `train`,
    `development` or `test`. Raises `UnknownBenchmark` or `UnknownTask` for an unknown name.
    """

    def __init__(
        self, task: str | Task, split: str = "train", settings: Mapping[str, Any] | None = None
    ) -> None:
        self._task = task
        if isinstance(task, str):
            *of, self._task = task.split("/", 1)
            self._suite = find_benchmark(of[0]).load() if of else miniwob.load()
        self._split = split
        self._settings = settings or {}
        self.example = self.draw(np.random.default_rng(0), None)
        """An episode like all others, to tell the spaces by."""

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any] | None) -> Task:
        """Return the next episode; `index` and `split` among the options name one instead."""
        options = options or {}
        split = str(options.get("split", self._split))
        index = int(options.get("index", rng.integers(SEEDS_PER_SPLIT)))
        if isinstance(self._task, str):
            return self._suite.task(self._task, index, split, self._settings)
        return replace(self._task, seed=index)


class WebEnv(gymnasium.Env[dict[str, Any], str]):
    """Observations are text (`goal`, `page`, `url`, `outcome`) and, on request, a screenshot;
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
        sites: Sequence[str | Path] = (),
    ) -> None:
        """`observation` is the form of `page`: `text`, `boxes`, `screenshot`, `set-of-marks`,
        `pruned`, `accessibility` or `html`, and `max_tokens` bounds it.
        `guard` is the policy file that every episode is held to (docs/guard.md), `sites` are files
        that describe sites of one's own (docs/sites.md). The browser and the task's site start with
        the first reset. Raises `SetupError` for an unknown form, a bad policy or a site that cannot
        be started here."""
        variant = variant_named(observation)
        self._sampler = TaskSampler(task, split, settings)
        self.observation_space = observation_space(
            self._sampler.example, screenshot or bool(variant.image)
        )
        self.action_space = ActionText()
        self.render_mode = render_mode
        shared = SharedBrowser.lease(guard, sites, [self._sampler.example])
        self._shared: SharedBrowser | None = shared
        self._player = GymPlayer(shared, screenshot, max_tokens, variant)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode on a fresh page, chosen by the seed; the options `index` and `split`
        name it instead. Raises `WorldError` when the page cannot be opened."""
        super().reset(seed=seed)
        turn = self._open().run(self._player.reset(self._sampler.draw(self.np_random, options)))
        return turn.seen, turn.info

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Do the action. Text that is not an action costs a step, and `outcome` says why."""
        turn: GymTurn = self._open().run(self._player.step(action))
        return turn.seen, turn.reward, turn.terminated, turn.truncated, turn.info

    def render(self) -> Image | None:
        """Return the page as (height, width, 3) bytes in the mode `rgb_array`."""
        if self.render_mode != "rgb_array":
            return None
        return self._open().run(self._player.screenshot())

    def close(self) -> None:
        """Close the page, and the browser with the last environment; safe to call twice."""
        shared, self._shared = self._shared, None
        if shared is not None:
            shared.run(self._player.close())
            shared.release()

    def _open(self) -> SharedBrowser:
        if self._shared is None:
            raise RuntimeError("the environment was closed")
        return self._shared


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
        sites: Sequence[str | Path] = (),
    ) -> None:
        """Raises `ValueError` where there is not one task for each environment, or where they
        differ in size and screenshots are requested."""
        variant = variant_named(observation)
        screenshot = screenshot or bool(variant.image)
        tasks = [task] * num_envs if isinstance(task, str | Task) else list(task)
        if len(tasks) != num_envs:
            raise ValueError(f"{num_envs} environments need as many tasks, found {len(tasks)}")
        self.num_envs = num_envs
        self._samplers = [TaskSampler(each, split, settings) for each in tasks]
        examples = [sampler.example for sampler in self._samplers]
        if screenshot and len({example.viewport for example in examples}) > 1:
            raise ValueError("screenshots of different sizes do not fit into one array")
        self.single_observation_space = observation_space(examples[0], screenshot)
        self.single_action_space = ActionText()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._shared = shared = SharedBrowser.lease(guard, sites, examples)
        self._players = [
            GymPlayer(shared, screenshot, max_tokens, variant) for _ in range(num_envs)
        ]
        self._rngs: list[np.random.Generator] = []
        self._ended = [True] * num_envs

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode in all of them; the i-th is chosen by `seed` + i, or the i-th seed."""
        count = self.num_envs
        if seed is None:
            seeds: Sequence[int | None] = [None] * count
        else:
            seeds = range(seed, seed + count) if isinstance(seed, int) else seed
        if len(seeds) != count:
            raise ValueError(f"{count} environments need as many seeds, found {len(seeds)}")
        if seed is not None or not self._rngs:
            self._rngs = [np.random.default_rng(each) for each in seeds]
        turns = self._run_all([self._begin(place, options) for place in range(count)])
        return self._batch(turns)

    def step(self, actions: Sequence[str]) -> _Step:
        """Do an action in each; raises `ValueError` when there is not one for each."""
        if len(actions) != self.num_envs:
            raise ValueError(f"{self.num_envs} environments need as many actions")
        turns = self._run_all(
            [
                self._begin(place, None)
                if self._ended[place]
                else self._players[place].step(action)
                for place, action in enumerate(actions)
            ]
        )
        rewards = np.array([turn.reward for turn in turns], dtype=np.float64)
        terminated = np.array([turn.terminated for turn in turns], dtype=np.bool_)
        truncated = np.array([turn.truncated for turn in turns], dtype=np.bool_)
        seen, infos = self._batch(turns)
        return seen, rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Close all pages, and the browser with the last user of it."""
        self._shared.run(_together([player.close() for player in self._players]))
        self._shared.release()

    async def _begin(self, place: int, options: Mapping[str, Any] | None) -> GymTurn:
        task = self._samplers[place].draw(self._rngs[place], options)
        return await self._players[place].reset(task)

    def _run_all(self, work: list[Any]) -> list[GymTurn]:
        turns = self._shared.run(_together(work))
        self._ended = [turn.ended for turn in turns]
        return turns

    def _batch(self, turns: Sequence[GymTurn]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what is seen, by key, and the infos as Gymnasium joins them."""
        seen: dict[str, Any] = {
            key: tuple(turn.seen[key] for turn in turns) for key in turns[0].seen
        }
        if "screenshot" in seen:
            seen["screenshot"] = np.stack(seen["screenshot"])
        infos: dict[str, Any] = {}
        for place, turn in enumerate(turns):
            infos = self._add_info(infos, turn.info, place)
        return seen, infos


async def _together(work: list[Any]) -> list[Any]:
    return list(await asyncio.gather(*work))
