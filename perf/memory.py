"""What one more episode at the same time costs in memory."""

import asyncio
import os

from browsergym_child import tree_megabytes
from other import theirs
from rows import Row, row

from benchmarks.miniwob import tasks as miniwob
from webagent.browser import Browser

WORLDS = 8


async def slope() -> float:
    """Megabytes (PSS) of browser and driver for each further world in an episode, from 1 to 8."""
    sizes = []
    async with Browser() as browser:
        for number in range(WORLDS):
            world = await browser.world()
            await world.reset(miniwob.task("login-user", number))
            await asyncio.sleep(1)
            sizes.append(tree_megabytes(os.getpid()))
    return (sizes[-1] - sizes[0]) / (WORLDS - 1)


def rows(python: str, times: int) -> list[Row]:
    """Ours, which keeps the next episode's page ready too, beside BrowserGym's environment."""
    ours, other = asyncio.run(slope()), theirs(python, "memory")
    name = "memory of one more episode, MB (PSS)"
    return [
        row(f"{name}, against an environment", ours, other.get("first"), more_is_better=False),
        row(f"{name}, against a second one", ours, other.get("extra"), more_is_better=False),
    ]
