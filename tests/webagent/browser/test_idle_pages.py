"""What pages cost while their policies think."""

import asyncio
from collections.abc import Callable

import psutil
import pytest

from tasks.task import Task
from webagent.browser import Browser

PAGES = 4
SECONDS = 3.0


def processor_seconds() -> float:
    """What the processes below this one have taken so far."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            total += sum(process.cpu_times()[:2])
        except psutil.NoSuchProcess:
            continue
    return total


@pytest.mark.browser
async def test_idle_pages_of_a_browser_for_many_take_no_processor_time(
    page_task: Callable[..., Task],
) -> None:
    async with Browser(pages=64) as browser:
        worlds = [await browser.world() for _ in range(PAGES)]
        for world in worlds:
            await world.reset(page_task("form"))
        await asyncio.sleep(2.0)
        before = processor_seconds()
        await asyncio.sleep(SECONDS)
        used = (processor_seconds() - before) / PAGES / SECONDS
        pictures = [await world.screenshot() for world in worlds]
        for world in worlds:
            await world.close()
    assert used < 0.01, "seconds of processor a second and page; 0.02 to 0.03 where they draw on"
    assert len(set(pictures)) == 1
