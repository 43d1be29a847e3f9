"""What pages cost while their policies think."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

import psutil
import pytest

from webagent.browser import Browser

PAGES = 4
SECONDS = 3.0


def processor_seconds(processes: Iterable[psutil.Process]) -> float:
    """What the processes have taken so far, those that are gone left out."""
    total = 0.0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            total += sum(process.cpu_times()[:2])
    return total


@pytest.mark.very_slow
@pytest.mark.browser
async def test_idle_pages_of_a_browser_for_many_take_no_processor_time(page_task):
    others = set(psutil.Process().children(recursive=True))  # the browser of other tests
    async with Browser(pages=64) as browser:
        worlds = [await browser.world() for _ in range(PAGES)]
        for world in worlds:
            await world.reset(page_task("form"))
        await asyncio.sleep(2.0)
        own = set(psutil.Process().children(recursive=True)) - others
        before = processor_seconds(own)
        await asyncio.sleep(SECONDS)
        used = (processor_seconds(own) - before) / PAGES / SECONDS
        pictures = [await world.screenshot() for world in worlds]
        for world in worlds:
            await world.close()
    assert used < 0.01, "seconds of processor a second and page; 0.02 to 0.03 where they draw on"
    assert len(set(pictures)) == 1
