"""A task as an environment that agents written for BrowserGym can play."""

import asyncio
import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from PIL.Image import fromarray as from_pixels

from apps.environment.browsergym.actions import UserMessage, translate
from apps.environment.browsergym.observation import (
    COSTLY,
    Calls,
    axtree_object,
    dom_object,
    extra_element_properties,
    observation_space,
)
from apps.environment.player import SharedBrowser, pixels
from apps.stepped import EpisodeRunner
from benchmarks.miniwob import tasks as miniwob
from benchmarks.rules import checks_hold
from tasks.task import Task
from webagent.action import Answer, GiveUp, Wait
from webagent.browser import Browser
from webagent.errors import ActionError, unknown_name
from webagent.records import Ending, Observation, Trajectory

_GREETING = "Hi! I am your UI assistant, I can perform web tasks for you. What can I help you with?"
_NO_PAGE = Observation("", "", "", ())
_NAMES = {"raw_reward": "RAW_REWARD_GLOBAL", "done": "DONE_GLOBAL", "reason": "REWARD_REASON"}
"""Evidence under the names that BrowserGym's MiniWoB gives it."""
Turn: TypeAlias = tuple[dict[str, Any], float, bool, bool, dict[str, Any]]
"""Gymnasium's: observation, reward, terminated, truncated, information."""


@dataclass(frozen=True, slots=True)
class BrowserGymOptions:
    """The options of an environment."""

    fields: tuple[str, ...] = COSTLY
    """The costly fields of the dictionary that are wanted."""
    score: str = "success"
    """The score that is the reward: `success`, or `raw_positive` as BrowserGym has it."""
    scale: float = 1.0
    """Pixels of the screenshot for each of the page, in coordinates and boxes too."""


@dataclass(slots=True)
class _Talk:
    """What an episode has beside its pages."""

    task: Task
    started: float
    messages: list[dict[str, Any]] = field(default_factory=list)
    last_action: str = ""
    last_error: str = ""

    def say(self, role: str, text: str) -> None:
        self.messages.append({"role": role, "timestamp": time.time(), "message": text})


class BrowserGymPlayer:
    """Plays one episode after another in a context of the browser."""

    def __init__(self, browser: Browser, options: BrowserGymOptions) -> None:
        self._runner = EpisodeRunner(browser.world)
        self._options = options
        self._score = checks_hold(options.score)
        self._talk: _Talk | None = None
        self._page: Observation | None = None
        self._seen: dict[str, Any] = {}

    async def reset(self, task: Task) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start the task on a fresh page. Raises `WorldError` when every try fails."""
        page = await self._runner.begin(task)
        self._talk = talk = _Talk(task, time.time())
        talk.say("assistant", _GREETING)
        talk.say("user", page.goal)
        seen = await self._dictionary(page, talk)
        return seen, {"task_info": {}, "task": task.id, "seed": task.seed}

    async def step(self, text: str) -> Turn:
        """Do what the calls in the text say, up to the first that cannot be done; the dictionary
        then says why in `last_action_error`. Raises `RuntimeError` outside an episode."""
        if self._talk is None or self._page is None:
            raise RuntimeError("no episode is in progress; call reset first")
        talk, began = self._talk, time.time()
        talk.last_action, talk.last_error = text, ""
        result = await self._do(text, talk)
        info: dict[str, Any] = {"action_exec_start": began, "action_exec_stop": time.time()}
        info |= {"action_exec_timeout": 0, "task_info": {}}
        if isinstance(result, Observation):
            return await self._dictionary(result, talk), 0.0, False, False, info
        self._talk = None
        score = await self._score(result)
        has_failed = result.ending is not None and result.ending.is_infrastructure
        # The reward of a world that failed is not a number.
        reward = math.nan if score.value is None else score.value
        if has_failed:
            talk.last_error = f"WorldError: {result.error}"
            seen = self._seen | self._known(self._page or _NO_PAGE, talk)
        else:
            seen = await self._dictionary(result.last or self._page or _NO_PAGE, talk)
        info |= {"ending": str(result.ending), "success": score.value == 1.0}
        info["task_info"] = {_NAMES.get(key, key): value for key, value in result.evidence.items()}
        is_cut = has_failed or result.ending is Ending.STEP_LIMIT
        return seen, reward, not is_cut, is_cut, info

    async def close(self) -> None:
        """Leave the browser; it stays open for others."""
        await self._runner.close()

    async def _do(self, text: str, talk: _Talk) -> Observation | Trajectory:
        """Do what the text says, and nothing but wait where it says nothing that can be done."""
        result: Observation | Trajectory | None = None
        try:
            for action in translate(text, self._options.scale):
                if isinstance(action, UserMessage):
                    talk.say(action.role, action.text)
                    if action.role == "infeasible":
                        result = await self._runner.act(GiveUp(action.text))
                    elif any(check.evidence == "episode.answer" for check in talk.task.checks):
                        result = await self._runner.act(Answer(action.text))
                else:
                    result = await self._runner.act(action)
                if isinstance(result, Trajectory):
                    return result
                if self._runner.world.refusal:
                    talk.last_error = f"Error: {self._runner.world.refusal}"
                    break
        except ActionError as error:
            talk.last_error = f"ValueError: {error}"
        return result or await self._runner.act(Wait(0), "unreadable")

    async def _dictionary(self, page: Observation, talk: _Talk) -> dict[str, Any]:
        """Return the page with the costly fields that are wanted; the questions travel together."""
        self._page = page
        wanted, scale, world = self._options.fields, self._options.scale, self._runner.world
        source = world.source()
        known = self._known(page, talk)
        needs_members = set(wanted) - {"screenshot"}
        members, nodes, document, image = await asyncio.gather(
            _if(needs_members, world.mark_all),
            _if("axtree_object" in wanted, source.accessibility_nodes),
            _if("dom_object" in wanted, source.document),
            _if("screenshot" in wanted, world.screenshot),
        )
        known["open_pages_urls"] = world.urls()
        if members is not None:
            known["focused_element_bid"] = str(members.focus or "")
        if image is not None:
            shown = pixels(image)
            if scale != 1.0:
                # Chromium could draw it at this size, at twice the time.
                height, width = round(shown.shape[0] * scale), round(shown.shape[1] * scale)
                shown = np.asarray(from_pixels(shown).resize((width, height)))
            known["screenshot"] = shown
        if members is not None and nodes is not None:
            known["axtree_object"] = axtree_object(nodes, members)
        if members is not None and document is not None:
            known["dom_object"] = dom_object(document, members)
        if members is not None and "extra_element_properties" in wanted:
            lines = {node.mark for node in page.nodes if node.mark and node.kind != "option"}
            known["extra_element_properties"] = extra_element_properties(members, lines, scale)
        self._seen = known
        return known

    def _known(self, page: Observation, talk: _Talk) -> dict[str, Any]:
        """Return the fields that need no question to the browser."""
        return {
            "chat_messages": tuple(dict(message) for message in talk.messages),
            "goal": page.goal,
            "goal_object": ({"type": "text", "text": page.goal},),
            "open_pages_urls": (page.url,),
            "open_pages_titles": page.tabs or (page.title,),
            "active_page_index": np.asarray([page.active_tab]),
            "url": page.url,
            "focused_element_bid": str(page.focus or ""),
            "last_action": talk.last_action,
            "last_action_error": talk.last_error,
            "elapsed_time": np.asarray([time.time() - talk.started]),
        }


async def _if(wanted: Collection[str] | bool, ask: Any) -> Any:
    return await ask() if wanted else None


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
        self._shared: SharedBrowser | None = SharedBrowser.lease(guard)
        self._player = BrowserGymPlayer(
            self._shared.browser, BrowserGymOptions(tuple(fields), reward, scale)
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode on a fresh page. Raises `WorldError` when it cannot be opened."""
        super().reset(seed=seed)
        chosen = seed if seed is not None else int(self.np_random.integers(_PAGE_SEEDS))
        return self._open().run(self._player.reset(self._draw(chosen)))

    def step(self, action: str) -> Turn:
        """Do what the calls in the text say; what could not be done is in `last_action_error`."""
        return self._open().run(self._player.step(action))

    def close(self) -> None:
        """Close the page, and the browser with the last environment; safe to call twice."""
        shared, self._shared = self._shared, None
        if shared is not None:
            shared.run(self._player.close())
            shared.release()

    def _draw(self, seed: int) -> Task:
        """Return the task on a seed; a MiniWoB++ page gets the number BrowserGym draws from it."""
        if isinstance(self._task, str):
            number = int(np.random.RandomState(seed).randint(0, _PAGE_SEEDS))
            task = replace(miniwob.load().make(self._task, number, {}), viewport=_VIEWPORT)
        else:
            task = replace(self._task, seed=seed)
        return replace(task, max_steps=self._max_steps)

    def _open(self) -> SharedBrowser:
        if self._shared is None:
            raise RuntimeError("the environment was closed")
        return self._shared
