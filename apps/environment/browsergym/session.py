"""Episodes as BrowserGym plays them: its dictionary for each page, its calls for what to do."""

import asyncio
import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from PIL.Image import fromarray as from_pixels

from apps.environment.browsergym.spaces import COSTLY
from apps.environment.browsergym.translate import Deed, Message, translate
from apps.environment.browsergym.trees import (
    axtree_object,
    dom_object,
    extra_element_properties,
)
from apps.environment.player import Image, pixels
from apps.environment.stage import Stage
from benchmarks.rules import checks_hold
from tasks.task import Task
from webagent.action import Answer, GiveUp, Wait
from webagent.browser import Browser
from webagent.errors import ActionError
from webagent.records import Ending, Observation, Trajectory

_GREETING = "Hi! I am your UI assistant, I can perform web tasks for you. What can I help you with?"
_NO_PAGE = Observation("", "", "", ())
Turn: TypeAlias = tuple[dict[str, Any], float, bool, bool, dict[str, Any]]
"""Gymnasium's: observation, reward, terminated, truncated, information."""


@dataclass(frozen=True, slots=True)
class Manner:
    """What an environment was asked to be like."""

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

    @property
    def asks_for_answer(self) -> bool:
        return any(check.evidence == "episode.answer" for check in self.task.checks)


class Session:
    """Plays one episode after another in a context of the browser."""

    def __init__(self, browser: Browser, manner: Manner) -> None:
        self._stage = Stage(browser)
        self._manner = manner
        self._score = checks_hold(manner.score)
        self._talk: _Talk | None = None
        self._page: Observation | None = None
        self._seen: dict[str, Any] = {}

    async def reset(self, task: Task) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start the task on a fresh page. Raises `WorldError` when it fails time and again."""
        page = await self._stage.begin(task)
        self._talk = talk = _Talk(task, time.time())
        talk.say("assistant", _GREETING)
        talk.say("user", page.goal)
        seen = await self._dictionary(page, talk)
        return seen, {"task_info": {}, "task": task.id, "seed": task.seed}

    async def step(self, text: str) -> Turn:
        """Do what the calls in the text say, up to the first that cannot be done; the dictionary
        then says why in `last_action_error`. Raises `RuntimeError` when no episode is under way."""
        if self._talk is None or self._page is None:
            raise RuntimeError("no episode is under way; call reset first")
        talk, began = self._talk, time.time()
        talk.last_action, talk.last_error = text, ""
        result = await self._do(text, talk)
        info: dict[str, Any] = {"action_exec_start": began, "action_exec_stop": time.time()}
        info |= {"action_exec_timeout": 0, "task_info": {}}
        if isinstance(result, Trajectory):
            return await self._end(result, talk, info)
        return await self._dictionary(result, talk), 0.0, False, False, info

    async def close(self) -> None:
        """Leave the browser; it stays open for others."""
        await self._stage.close()

    async def _do(self, text: str, talk: _Talk) -> Observation | Trajectory:
        result: Observation | Trajectory | None = None
        try:
            for deed in translate(text, self._manner.scale):
                result = await self._do_one(deed, talk) or result
                if isinstance(result, Trajectory):
                    return result
                if self._stage.world.refusal:
                    talk.last_error = f"Error: {self._stage.world.refusal}"
                    break
        except ActionError as error:
            talk.last_error = f"ValueError: {error}"
        return result or await self._stage.act(Wait(0), "unreadable")

    async def _do_one(self, deed: Deed, talk: _Talk) -> Observation | Trajectory | None:
        """What came of it; None for words that end nothing."""
        if not isinstance(deed, Message):
            return await self._stage.act(deed)
        talk.say(deed.role, deed.text)
        if deed.role == "infeasible":
            return await self._stage.act(GiveUp(deed.text))
        return await self._stage.act(Answer(deed.text)) if talk.asks_for_answer else None

    async def _end(self, whole: Trajectory, talk: _Talk, info: dict[str, Any]) -> Turn:
        """The last turn. A world that failed gives no reward, not even none: not a number."""
        self._talk = None
        score = await self._score(whole)
        has_failed = whole.ending is not None and whole.ending.is_infrastructure
        reward = math.nan if score.value is None else score.value
        if has_failed:
            talk.last_error = f"WorldError: {whole.error}"
            seen = self._seen | self._known(self._page or _NO_PAGE, talk)
        else:
            seen = await self._dictionary(whole.last or self._page or _NO_PAGE, talk)
        info |= {"ending": str(whole.ending), "success": score.value == 1.0}
        info["task_info"] = _task_info(whole.evidence)
        is_cut = has_failed or whole.ending is Ending.STEP_LIMIT
        return seen, reward, not is_cut, is_cut, info

    async def _dictionary(self, page: Observation, talk: _Talk) -> dict[str, Any]:
        """The page with the costly fields that are wanted; the questions travel together."""
        self._page = page
        wanted, scale, world = self._manner.fields, self._manner.scale, self._stage.world
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
            known["screenshot"] = _enlarged(pixels(image), scale)
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
        """The fields that need no question to the browser."""
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


def _enlarged(image: Image, scale: float) -> Image:
    """The picture at so many times its size. Chromium could draw it so, at twice the time."""
    if scale == 1.0:
        return image
    height, width = round(image.shape[0] * scale), round(image.shape[1] * scale)
    return np.asarray(from_pixels(image).resize((width, height)))


async def _if(wanted: Collection[str] | bool, ask: Any) -> Any:
    return await ask() if wanted else None


def _task_info(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The evidence under the names that BrowserGym's MiniWoB gives it, where it has them."""
    names = {"raw_reward": "RAW_REWARD_GLOBAL", "done": "DONE_GLOBAL", "reason": "REWARD_REASON"}
    return {names.get(name, name): value for name, value in evidence.items()}
