"""Inspect: `inspect eval .../apps/trainers/inspect_task.py -T url=http://127.0.0.1:8000`.

Where the browser, the site or the judge fails, `WorldError` ends the sample: Inspect counts it as
an error, tries it again where `--retry-on-error` says so, and its metrics leave it out.
"""

import asyncio
import json
from typing import Any
from urllib.request import urlopen

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolDef

from apps.trainers.episode import INSTRUCTION, EpisodeChoice, TrainerEpisode
from apps.trainers.tools import check_names, shape_tool

_PLAYED: dict[str, TrainerEpisode] = {}
"""Episodes under way, by the uuid of their sample."""


@task
def webagent(
    url: str = "http://127.0.0.1:8000",
    tasks: str | list[str] = "",
    seeds: int = 1,
    split: str = "",
    images: bool = False,
    patience: float = 120.0,
) -> Task:
    """Return the tasks of a `webagent serve`: all, or the named ones.

    Each is played with the seeds below `seeds`. Raises `OSError` where no server is at `url`.
    """
    names = [tasks] if isinstance(tasks, str) and tasks else list(tasks)
    with urlopen(f"{url.rstrip('/')}/metadata", timeout=30) as response:
        served = json.load(response)
    samples = [
        Sample(
            input=f"{name}, seed {seed}",  # the goal is known when the page is there
            id=f"{name}#{seed}",
            metadata={"task": name, "seed": seed, "split": split, "images": images},
        )
        for name in names or served["tasks"]
        for seed in range(seeds)
    ]
    return Task(
        dataset=MemoryDataset(samples, name=served["suite"]),
        setup=begin(url, patience),
        scorer=verdict(),
        cleanup=_leave,
        fail_on_error=False,
        name=f"webagent_{served['suite']}",
    )


@solver
def begin(url: str, patience: float) -> Solver:
    """Begin the sample's episode; the page becomes the conversation, the actions its tools."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        episode = TrainerEpisode(url, patience)
        _PLAYED[state.uuid] = episode
        page = await asyncio.to_thread(episode.begin, EpisodeChoice(**state.metadata))
        state.messages = [
            ChatMessageSystem(content=INSTRUCTION),
            ChatMessageUser(content=_show(episode, page)),
        ]
        for name in check_names(()):

            async def call(action: str = name, /, **arguments: Any) -> Any:
                page = await asyncio.to_thread(episode.act, action, arguments)
                state.completed = state.completed or episode.is_over
                return _show(episode, page)

            tool = shape_tool(name, call, is_method=False)
            state.tools.append(ToolDef(tool, parallel=False).as_tool())
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def verdict() -> Scorer:
    """Score a sample as the server's judge does. Raises `WorldError` where it is lost."""

    async def score(state: TaskState, target: Target) -> Score:
        result = await asyncio.to_thread(_PLAYED[state.uuid].verdict)
        return Score(
            value=result.reward, explanation=result.reason, metadata={"ending": result.ending}
        )

    return score


def _show(episode: TrainerEpisode, page: str) -> Any:
    image = episode.seen.get("image")
    if image is None or episode.is_over:
        return page
    return [ContentText(text=page), ContentImage(image=f"data:image/png;base64,{image}")]


async def _leave(state: TaskState) -> None:
    episode = _PLAYED.pop(state.uuid, None)
    if episode is not None:
        episode.close()
