"""Episodes a minute with a scripted policy, each in a fresh context, on all processors."""

import asyncio
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from other import command
from rows import Row, row

from benchmarks.miniwob import tasks as miniwob
from benchmarks.oracles import ORACLES, OraclePolicy
from webagent.browser import Browser
from webagent.records import Provenance, Trajectory
from webagent.rollout import collect, plan_episodes

WORLDS = 3
_NAMES = tuple(name for name in miniwob.NAMES if name in ORACLES)


async def play(episodes: int) -> tuple[list[Trajectory], float]:
    """Oracles on every task that one knows, spread evenly, and the seconds they took."""
    chosen = [_NAMES[number * len(_NAMES) // episodes] for number in range(episodes)]
    plan = plan_episodes([miniwob.task(name, 0, "train") for name in chosen], Provenance())
    async with Browser() as browser:
        await (await browser.world()).close()  # the browser is started, as theirs is
        started = time.perf_counter()
        done = await collect(plan, OraclePolicy(), browser.world, concurrency=WORLDS)
        seconds = time.perf_counter() - started
    assert len(done) == episodes, "the world failed in some"
    return done, seconds


def rows(python: str, times: int) -> list[Row]:
    """Ours plays by oracles. BrowserGym is given as many resets and steps of the same tasks, steps
    that do nothing, in as many processes as there are processors: its environment is synchronous,
    so processes are its own parallelism."""
    played, seconds = asyncio.run(play(min(len(_NAMES), 8 * times)))
    ours, other = 60 * len(played) / seconds, None
    if python:
        other = 60 * len(played) / _theirs(python, played)
    return [row("episodes a minute, all processors", ours, other, more_is_better=True)]


def _theirs(python: str, played: list[Trajectory]) -> float:
    """Seconds until all processes are done with their share."""
    count = os.cpu_count() or 1
    lines = [f"{each.task.name} {len(each.steps)}" for each in played]
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for number in range(count):
            share = Path(folder) / f"{number}.txt"
            share.write_text("\n".join(lines[number::count]), encoding="utf-8")
            pipe = subprocess.PIPE
            start = command(python, "throughput", str(share))
            children.append(subprocess.Popen(start, stdout=pipe, stderr=subprocess.DEVNULL))
        said = [child.communicate()[0] for child in children]
    if any(child.returncode for child in children):
        raise SystemExit("BrowserGym failed at throughput")
    return max(float(json.loads(each.splitlines()[-1])["seconds"]) for each in said)
