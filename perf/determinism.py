"""Whether the same seed gives the same episode whatever the machine is doing."""

import asyncio
import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from rows import Row, row

from benchmarks.miniwob import tasks as miniwob
from benchmarks.oracles import ORACLES, View
from webagent.action import Action, Wait
from webagent.action.actions import Click
from webagent.browser import Browser
from webagent.errors import PolicyError
from webagent.records import Observation

_MOST_STEPS = 6
_BUSY_PROCESSES = 2


async def sequences(names: Sequence[str]) -> dict[str, tuple[Observation, ...]]:
    """All that is seen in an episode of each task, by oracle where there is one."""
    found = {}
    async with Browser() as browser:
        world = await browser.world()
        for name in names:
            task = miniwob.task(name, 7)
            pages = [await world.reset(task)]
            done: list[Action] = []
            while len(done) < _MOST_STEPS and not pages[-1].over:
                done.append(_choose(name, pages, done))
                pages.append(await world.step(done[-1]))
            found[name] = tuple(replace(page, screenshot="") for page in pages)
        await world.close()
    return found


def _choose(name: str, pages: list[Observation], done: list[Action]) -> Action:
    """The oracle's action, else a click on each element in turn."""
    view = View(pages[-1].goal, pages[-1], tuple(pages[:-1]), tuple(done))
    try:
        return ORACLES[name](view)
    except (KeyError, PolicyError, LookupError, StopIteration, ValueError):
        marks = [node.mark for node in pages[-1].nodes if node.mark]
        return Click(marks[len(done) % len(marks)]) if marks else Wait(100)


@contextmanager
def load() -> Iterator[None]:
    """Keeps every processor busy with others' work."""
    context = multiprocessing.get_context("spawn")
    count = _BUSY_PROCESSES * (os.cpu_count() or 1)
    busy = [context.Process(target=_spin, daemon=True) for _ in range(count)]
    for each in busy:
        each.start()
    time.sleep(1)
    try:
        yield
    finally:
        for each in busy:
            each.terminate()
            each.join()


def _spin() -> None:
    number = 1
    while True:
        number = number * 1103515245 % 2147483648


def rows(python: str, times: int) -> list[Row]:
    """The share of tasks that show the very same pages twice; the others are named on the way."""
    names = miniwob.NAMES if times >= 16 else miniwob.NAMES[:: max(1, 16 // times)]
    quiet = asyncio.run(sequences(names))
    with load():
        busy = asyncio.run(sequences(names))
    differ = [name for name in names if quiet[name] != busy[name]]
    if differ:
        print(f"not the same under load: {', '.join(differ)}")
    share = 100 * (len(names) - len(differ)) / len(names)
    name = f"same pages idle and under load, % of {len(names)} tasks"
    return [row(name, share, None, more_is_better=True)]


if __name__ == "__main__":
    print(rows("", 1))
