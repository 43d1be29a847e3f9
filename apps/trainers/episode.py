"""An episode for a trainer: begun again where the world fails, then a verdict or an error."""

import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from apps.serve.client import ServedClient
from webagent.action import ESSENTIAL, Answer, describe, format_action
from webagent.errors import ActionError, CallError, WorldError

INSTRUCTION = Path(__file__).with_name("instruction.md").read_text(encoding="utf-8")
"""Explains pages and marks to a model; the actions are described elsewhere."""

_LOG = logging.getLogger(__name__)
_LEAVE = format_action(Answer())
_PAUSE, _LONGEST_PAUSE = 0.5, 8.0


@dataclass(frozen=True, slots=True)
class EpisodeReward:
    """How an episode ended, by the server's judge."""

    reward: float
    ending: str
    reason: str


@dataclass(frozen=True, slots=True)
class EpisodeChoice:
    """Which episode is played."""

    task: str
    seed: int
    split: str = ""
    """As the server is set, where it is empty."""
    images: bool = False


class TrainerEpisode:
    """One session of a trainer with `webagent serve`, an episode after the other.

    An episode that the browser, the site, the judge or the network failed under has no verdict:
    every call on it raises `WorldError`, until `begin` begins another.
    """

    def __init__(self, url: str, patience: float = 120.0, seconds: float = 300.0) -> None:
        """For `patience` seconds an episode that does not begin is tried again; an answer of the
        server may take so many `seconds`. Raises `SetupError` for what is no address."""
        self._client = ServedClient(url, seconds)
        self._patience = patience
        self._lost = "no episode was begun"
        self._verdict: EpisodeReward | None = None
        self.seen: dict[str, Any] = {}
        """The last observation, as the server sent it."""

    @property
    def is_over(self) -> bool:
        """Return whether nothing more can be done in it."""
        return self._verdict is not None or bool(self._lost)

    def begin(self, choice: EpisodeChoice) -> str:
        """Begin an episode; return the first page for a model. Raises `WorldError` where none
        begins in time, `CallError` for one that is not served, and `SetupError` where the server
        lets nobody in."""
        fields = {name: value for name, value in asdict(choice).items() if value != ""}
        self._verdict, self._lost = None, "it has not begun"
        ends, pause = time.monotonic() + self._patience, _PAUSE
        while self._lost:
            try:
                self.seen, self._lost = self._client.reset(**fields)["observation"], ""
            except WorldError as error:
                self._lost = str(error)
                if time.monotonic() + pause > ends:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        return write_page(self.seen, is_first=True)

    def act(self, action: str, arguments: dict[str, Any] | None = None) -> str:
        """Do an action as text, or as a call of a tool with arguments; return what came of it.
        Raises `WorldError` where the episode is lost."""
        if self._verdict is not None:
            return "The episode is over."
        if self._lost:
            raise WorldError(f"the episode is lost: {self._lost}")
        client = self._client
        try:
            turn = client.step(action) if arguments is None else client.call(action, arguments)
        except WorldError as error:
            self._lost = str(error)
            self._client.close()  # its place is free at once
            _LOG.warning("an episode is lost and has no reward: %s", error)
            raise
        except CallError as error:  # the model's own words: the episode goes on
            return f"Nothing was done: {error}"
        self.seen = turn["observation"]
        if not turn["done"]:
            return write_page(self.seen)
        reward = turn["reward"]
        if not isinstance(reward, int | float) or not isfinite(reward):
            self._lost = f"the server ended it with the reward {reward!r}"
            raise WorldError(self._lost)
        self._verdict = EpisodeReward(float(reward), self.seen["ending"], self.seen["reason"])
        return "The episode is over."

    def verdict(self) -> EpisodeReward:
        """Return how it ended; one that is under way is ended first, with an empty answer. Raises
        `WorldError` where it is lost: no number stands for that."""
        if self._verdict is None:
            self.act(_LEAVE)
        if self._verdict is None:
            self._lost = "it goes on after it was ended"
            raise WorldError(self._lost)
        return self._verdict

    def close(self) -> None:
        """Give the place back. Safe to call twice."""
        self._lost = self._lost or "it was closed"
        self._client.close()


def write_page(seen: Mapping[str, Any], is_first: bool = False) -> str:
    """Return an observation as text for a model; the first includes the task."""
    before = f"The task: {seen['goal']}\n\n" if is_first else ""
    if seen["outcome"]:
        before += f"The last action: {seen['outcome']}\n\n"
    return f"{before}<<<page {seen['url']}\n{seen['page']}\npage>>>"


def describe_rules() -> str:
    """Return the system prompt for a model whose replies are actions as text."""
    return f"{INSTRUCTION}\nThe actions:\n\n{describe(ESSENTIAL)}\n\nReply with one action."


def read_reply_action(reply: str) -> str:
    """Return the action of a model's reply; what has none as it is, for the server to say so."""
    from webagent.policy.reply import read_reply

    try:
        return format_action(read_reply(reply)[1])
    except ActionError:
        return reply
