"""Pages that are hard to observe: many elements, and frames."""

import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from other import command, theirs
from rows import Row, row

from tasks.task import Task
from webagent.action import Wait
from webagent.browser import Browser
from webagent.observation import render
from webagent.observation.variants import VARIANTS

ELEMENTS = 3200
FRAMES = 10
_ROW = "<tr><td>{0}</td><td><a href='#{0}'>Item {0}</a></td><td><button>Buy {0}</button></td>"
_OTHERS = "<td><input value='{0}'></td><td><span>Note {0}</span></td></tr>"
_PARTS_A_ROW = 10


def large_page() -> str:
    """A table of rows with a link, a button and a field each: 3,200 elements, 960 to act on."""
    numbers = range(ELEMENTS // _PARTS_A_ROW)
    lines = "".join((_ROW + _OTHERS).format(number) for number in numbers)
    return f"<!doctype html><title>Large</title><table>{lines}</table>"


def framed_page() -> str:
    """Ten small frames, each with a button."""
    inner = "<!doctype html><p>Frame {0}</p><button>Go {0}</button>"
    frames = (f'<iframe srcdoc="{inner.format(number)}"></iframe>' for number in range(FRAMES))
    return f"<!doctype html><title>Frames</title><h1>Frames</h1>{''.join(frames)}"


def large_rows(python: str, times: int) -> list[Row]:
    """Looking at a page of 3,200 elements; ours is a whole step that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        url = _write(folder, large_page())
        other = theirs(python, "large", url, f"--times={times}").get("observe")
        text = asyncio.run(_look(url, times, "text"))
        tree = asyncio.run(_look(url, times, "accessibility"))
    name = f"observing {ELEMENTS:,} elements"
    return [
        row(f"{name}, text alone, ms", text, other, more_is_better=False),
        row(f"{name}, picture and accessibility too, ms", tree, other, more_is_better=False),
    ]


async def _look(url: str, times: int, variant: str) -> float:
    """Median milliseconds of a step that does nothing, with the whole text written out."""
    chosen = VARIANTS[variant]
    keep = None if variant == "text" else (lambda image: str(len(image)))
    async with Browser() as browser:
        world = await browser.world(keep, variant=chosen)
        page = await world.reset(Task("perf/large@1", url))
        assert sum(1 for node in page.nodes if node.mark) >= ELEMENTS * 3 // _PARTS_A_ROW
        taken = []
        for _ in range(times + 1):
            started = time.perf_counter()
            render(await world.step(Wait(0)))
            taken.append((time.perf_counter() - started) * 1000)
        await world.close()
    return statistics.median(taken[1:])


def frame_rows(python: str, times: int) -> list[Row]:
    """Protocol commands a step with ten frames, counted alike on both sides: what Playwright's
    driver says in its own log that it sends to the browser."""
    with tempfile.TemporaryDirectory() as folder:
        url = _write(folder, framed_page())
        mine = [sys.executable, __file__, url, str(times)]
        ours = _commands(mine, times)
        other = None
        if python:
            other = _commands(command(python, "frames", url, f"--times={times}"), times)
    return [row(f"protocol commands a step, {FRAMES} frames", ours, other, more_is_better=False)]


def _commands(child: list[str], times: int) -> float:
    """Commands a step: lines of the driver's log between the two that the child writes."""
    environment = {**os.environ, "DEBUG": "pw:protocol"}
    done = subprocess.run(
        child, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise SystemExit(f"counting failed:\n{done.stderr[-2000:]}")
    between = done.stderr.split("===BEGIN===")[1].split("===END===")[0]
    return len(re.findall(r"SEND ►", between)) / times


async def _steps_to_count(url: str, times: int) -> None:
    async with Browser() as browser:
        world = await browser.world()
        page = await world.reset(Task("perf/frames@1", url))
        assert sum(1 for node in page.nodes if node.name.startswith("Go")) == FRAMES
        await world.step(Wait(0))
        for word in ("BEGIN", "END"):
            await asyncio.sleep(1)
            print(f"\n==={word}===", file=sys.stderr, flush=True)
            for _ in range(times if word == "BEGIN" else 0):
                await world.step(Wait(0))
        await world.close()


def _write(folder: str, source: str) -> str:
    path = Path(folder) / "page.html"
    path.write_text(source, encoding="utf-8")
    return path.as_uri()


if __name__ == "__main__":
    asyncio.run(_steps_to_count(sys.argv[1], int(sys.argv[2])))
