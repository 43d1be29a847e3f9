"""Steps and episode starts on MiniWoB++, as a policy that answers at once sees them."""

import asyncio
import re
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeAlias

from other import theirs
from rows import Row, row

from benchmarks.miniwob import tasks as miniwob
from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.browser import Browser, BrowserWorld
from webagent.observation import render
from webagent.observation.variants import VARIANTS
from webagent.records import Observation

TASKS = ("click-test-2", "enter-text", "login-user")
WORLDS = 8
_THINKING = 0.2
"""Seconds a step of a quick policy; a model behind an endpoint takes longer."""
_Open: TypeAlias = Callable[[], Awaitable[BrowserWorld]]


def plan(page: Observation) -> list[Action]:
    """What solves one of the tasks: what the goal quotes goes into the fields, then the button."""
    fields = [node.mark for node in page.nodes if node.role == "textbox"]
    quoted = re.findall(r'"([^"]*)"', page.goal)
    fills: list[Action] = [Fill(mark, text) for mark, text in zip(fields, quoted, strict=True)]
    label = re.search(r"button (\w+)|press (\w+)", page.goal)
    assert label, page.goal
    name = (label[1] or label[2]).lower()
    button = next(node.mark for node in page.nodes if node.name.lower() == name)
    return [*fills, Click(button)]


async def play(
    world: BrowserWorld, tasks: Sequence[Task], thinking: float = 0.0
) -> tuple[list[float], list[float]]:
    """Milliseconds of every reset and of every step with its text; each episode must succeed.

    A policy that is `thinking` so many seconds a step leaves time in which the next episode's page
    is prepared, as the executor has it done.
    """
    resets, steps = [], []
    for task, following in zip(tasks, (*tasks[1:], None), strict=True):
        started = time.perf_counter()
        page = await world.reset(task)
        resets.append((time.perf_counter() - started) * 1000)
        if thinking and following is not None:
            await world.prepare(following)
        for action in plan(page):
            await asyncio.sleep(thinking)
            started = time.perf_counter()
            render(await world.step(action))
            steps.append((time.perf_counter() - started) * 1000)
        assert (await world.evidence(task))["raw_reward"] == 1, task
    return resets, steps


async def measure(episodes: int) -> dict[str, float]:
    """Our figures by name: text alone, and with screenshot and accessibility tree; one world at a
    time, and eight together."""
    tasks = [miniwob.task(TASKS[index % len(TASKS)], index) for index in range(episodes)]
    images: list[bytes] = []

    def keep(image: bytes) -> str:
        images.append(image)
        return str(len(images))

    figures: dict[str, float] = {}
    async with Browser() as browser:
        everything = partial(browser.world, keep, variant=VARIANTS["accessibility"])
        openings: dict[str, _Open] = {"text": browser.world, "all": everything}
        for name, opened in openings.items():
            world = await opened()
            await play(world, tasks[:6])
            started = time.perf_counter()
            resets, steps = await play(world, tasks)
            figures[f"steps per second, {name}"] = len(steps) / (time.perf_counter() - started)
            figures[f"step, {name}"] = statistics.median(steps)
            figures[f"reset, {name}"] = statistics.median(resets)
            await world.close()
        resets, _ = await play(await browser.world(), tasks, _THINKING)
        figures["reset, thinking"] = statistics.median(resets[1:])
        worlds = [await browser.world() for _ in range(WORLDS)]
        await asyncio.gather(*(play(world, tasks[:3]) for world in worlds))
        started = time.perf_counter()
        played = await asyncio.gather(*(play(world, tasks[:9]) for world in worlds))
        seconds = time.perf_counter() - started
        figures["steps per second, together"] = sum(len(each) for _, each in played) / seconds
    return figures


def rows(python: str, times: int) -> list[Row]:
    """Steps and starts, beside BrowserGym's."""
    ours, other = asyncio.run(measure(3 * times)), theirs(python, "steps", f"--times={times}")
    one, many = "steps per second with episode starts, 1 world", f"the same, {WORLDS} worlds"
    reset = ("reset, default", False)
    table = (
        ("step with text, picture, accessibility, ms", "step, all", "step, default", False),
        ("the same, without BrowserGym's sleep, ms", "step, all", "step, no sleep", False),
        ("step with text alone, ms", "step, text", "step, default", False),
        ("the same, without BrowserGym's sleep, ms", "step, text", "step, no sleep", False),
        (f"episode start, {_THINKING:g} s to think a step, ms", "reset, thinking", *reset),
        ("episode start, no time to think, ms", "reset, text", *reset),
        (one, "steps per second, text", "steps per second, default", True),
        (many, "steps per second, together", "steps per second, default", True),
    )
    return [
        row(name, ours[mine], other.get(their), more_is_better=more)
        for name, mine, their, more in table
    ]
