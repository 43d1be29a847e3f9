"""How fast MiniWoB++ is played in a real browser: a step, a fresh episode, many worlds at once.

    python perf/browser_steps.py [--json] [--episodes 30] [--browsergym PYTHON]

A scripted policy reads the text observation and acts at once. `--browsergym` names the Python of an
environment in which `browsergym-miniwob` is installed; the same tasks are then played there, by
`browsergym_steps.py`, in the same Chromium, for the column `theirs`. A ratio above 1 favours us.
"""

import asyncio
import json
import re
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from rows import options, row, show

from tasks.benchmarks import miniwob
from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.browser import Browser, BrowserWorld, find_chromium
from webagent.records import Observation

TASKS = ("click-test-2", "enter-text", "login-user")
WORLDS = 8
CHILD = Path(__file__).with_name("browsergym_steps.py")


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


async def play(world: BrowserWorld, tasks: Sequence[Task]) -> tuple[list[float], list[float]]:
    """Milliseconds of every reset and of every step; each episode must end in success."""
    resets, steps = [], []
    for task in tasks:
        started = time.perf_counter()
        page = await world.reset(task)
        resets.append((time.perf_counter() - started) * 1000)
        for action in plan(page):
            started = time.perf_counter()
            await world.step(action)
            steps.append((time.perf_counter() - started) * 1000)
        assert (await world.evidence(task))["raw_reward"] == 1, task
    return resets, steps


async def measure(episodes: int) -> dict[str, float]:
    """Our figures by name."""
    tasks = [miniwob.task(TASKS[index % len(TASKS)], index) for index in range(episodes)]
    async with Browser() as browser:
        worlds = [await browser.world() for _ in range(WORLDS)]
        await asyncio.gather(*(play(world, tasks[:3]) for world in worlds))
        started = time.perf_counter()
        resets, steps = await play(worlds[0], tasks)
        alone = len(steps) / (time.perf_counter() - started)
        started = time.perf_counter()
        played = await asyncio.gather(*(play(world, tasks[:9]) for world in worlds))
        together = sum(len(steps) for _, steps in played) / (time.perf_counter() - started)
    return {
        "step, median ms": statistics.median(steps),
        "fresh episode start, median ms": statistics.median(resets),
        "steps per second with episode starts, 1 world": alone,
        f"steps per second with episode starts, {WORLDS} worlds": together,
    }


def measure_browsergym(python: str, episodes: int) -> dict[str, float]:
    """BrowserGym's figures by the same names, from a child under its own Python."""
    command = [
        python,
        str(CHILD),
        f"--pages={miniwob.pages().as_uri()}/",
        f"--chromium={find_chromium().path}",
        f"--episodes={episodes}",
        *TASKS,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1800)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--episodes", type=int, default=30)
    parser.add_argument("--browsergym", metavar="PYTHON", help="a Python with browsergym-miniwob")
    chosen = parser.parse_args()
    ours = asyncio.run(measure(chosen.episodes))
    theirs: dict[str, float] = {}
    if chosen.browsergym:
        theirs = measure_browsergym(chosen.browsergym, min(chosen.episodes, 9))
    rows = [
        row(name, value, theirs.get(name), more_is_better="per second" in name)
        for name, value in ours.items()
    ]
    show(rows, as_json=chosen.json)


if __name__ == "__main__":
    main()
