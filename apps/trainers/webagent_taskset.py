"""verifiers: `vf-eval webagent-taskset --env.taskset.url http://127.0.0.1:8000`.

The name of this module is the id of the taskset. Where the browser, the site or the judge fails,
`WorldError` is raised inside the agent's interaction: verifiers (0.4) records it as the error of
the trace and gives it no reward. A reward of None would count as 0.0.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from typing import Any
from urllib.request import urlopen

import verifiers.v1 as vf
from pydantic import Field

from apps.trainers.episode import EpisodeChoice, TrainerEpisode, describe_rules, read_reply_action

__all__ = ["WebEpisodes", "WebTaskset"]


class WebTaskData(vf.TaskData):
    """Which episode a row is."""

    url: str
    task: str
    seed: int
    split: str
    images: bool


class WebTasksetConfig(vf.TasksetConfig):
    """`--env.taskset.*`."""

    url: str = "http://127.0.0.1:8000"
    """The address that `webagent serve` tells."""
    tasks: list[str] = Field(default_factory=list)
    """Names of tasks; without any all that the server has."""
    seeds: int = Field(1, ge=1)
    """Pages of each task, counted from seed 0."""
    split: str = ""
    """Whose seeds: train, development or test; as the server is set, where it is empty."""
    images: bool = False
    """Add a screenshot to every turn."""


class WebTask(vf.Task[WebTaskData]):
    """A task of the server with a seed."""


class WebTaskset(vf.Taskset[WebTask, WebTasksetConfig]):
    """The tasks of a `webagent serve`."""

    def load(self) -> Iterator[WebTask]:
        """Yield each task with each seed; raises `OSError` where the server is not there."""
        config = self.config
        names = config.tasks
        if not names:
            with urlopen(f"{config.url.rstrip('/')}/metadata", timeout=30) as response:
                names = json.load(response)["tasks"]
        same = {"url": config.url, "split": config.split, "images": config.images}
        same |= {"system_prompt": describe_rules()}
        for task, seed in product(names, range(config.seeds)):
            data = WebTaskData(name=f"{task}#{seed}", task=task, seed=seed, **same)
            yield WebTask(data, config.task)


class WebEpisodesConfig(vf.EnvConfig):
    """`--env.*`."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})
    """Talks and runs nothing, so that it needs no sandbox."""
    patience: float = 120.0
    """Seconds for which an episode that does not begin is tried again."""


class WebEpisodes(vf.Env[WebEpisodesConfig]):
    """The page is the user: each reply is an action, the next page the next turn."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play one episode. Raises `WorldError` where it is lost."""
        data = task.data
        choice = EpisodeChoice(data.task, data.seed, data.split, data.images)
        with closing(TrainerEpisode(data.url, self.config.patience)) as episode:
            page = await asyncio.to_thread(episode.begin, choice)
            async with agents.player.interaction(task) as interaction:
                segment = await interaction.turn(_write_turn(page, episode))
                while not segment.terminated:
                    action = read_reply_action(segment.last_reply)
                    page = await asyncio.to_thread(episode.act, action)
                    if episode.is_over:
                        break
                    segment = await interaction.turn(_write_turn(page, episode))
                trace = interaction.trace
                if trace.errors:  # the model's server failed: nothing was learnt of the agent
                    return
                # Inside the interaction, so that a judge that fails is this trace's error.
                verdict = await asyncio.to_thread(episode.verdict)
        if trace.ok:
            trace.record_reward("verdict", verdict.reward)
            trace.info |= {"ending": verdict.ending, "reason": verdict.reason}


def _write_turn(page: str, episode: TrainerEpisode) -> Any:
    image = episode.seen.get("image")
    if image is None:
        return page
    shown = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{image}"}}
    return [{"role": "user", "content": [{"type": "text", "text": page}, shown]}]
