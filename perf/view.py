"""Whether the viewer opens a run of 100,000 steps in under a second.

    python perf/view.py [--folder FOLDER] [--episodes 10000] [--steps 10] [--copies 1] [--times 5]

Makes the run through the real store, unless the folder has it. With `--copies`, each episode stands
in it so many times, by copies of its rows under other ids: `--episodes 1000 --steps 3 --copies 100`
makes 100,000 episodes in minutes. Then starts the viewer as a user
does, with nothing cached, and measures each page from the request to its last byte: first by a
plain client, then until a Chromium has it drawn. Each figure is the first request and the median of
the further ones; beside them stands the processor time that the first one took of the viewer, which
a busy machine does not change.
"""

import argparse
import asyncio
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psutil
from playwright.async_api import async_playwright

from loop.flat import compose
from loop.folder import RunFolder
from loop.settings import ImproveConfig
from tasks.task import Task
from webagent.action.actions import Click, Fill
from webagent.browser.chromium import find_chromium, has_sandbox
from webagent.records import (
    Decision,
    Ending,
    Node,
    Observation,
    Provenance,
    Score,
    Step,
    Trajectory,
)
from webagent.store import Store
from webagent.store.database import STORE_FILE

TASKS = (
    *("shop/buy", "shop/return", "shop/compare", "shop/track", "mail/reply", "mail/forward"),
    *("mail/delete", "forum/post", "forum/vote", "wiki/edit", "wiki/link", "code/ticket"),
)
ARMS = ("none", "control", "self", "imagined")
PAGES = {
    "runs": "/",
    "the run": "/run/{run}",
    "tasks": "/run/{run}/tasks",
    "episodes": "/run/{run}/episodes",
    "filtered": "/run/{run}/episodes?q=failed+at:grounding+task:shop*+round:3",
    "sorted": "/run/{run}/episodes?sort=-steps",
    "last page": "/run/{run}/episodes?page=100",
    "free text": "/run/{run}/episodes?q=order+4711",
}


@dataclass(frozen=True, slots=True)
class Size:
    """How much is made."""

    episodes: int
    steps: int


def make(folder: Path, size: Size) -> None:
    """A run of so many episodes, its pages all different."""
    command = ["webagent", "improve", "--name", folder.name]
    run = RunFolder.create(
        folder, compose(ImproveConfig, name=folder.name, benchmark="made"), command
    )
    dice = random.Random(0)
    began = time.monotonic()
    with run.store() as store:
        for number in range(size.episodes):
            add(store, number, size.steps, dice)
            if number % 1000 == 999:
                print(f"  {number + 1:,} episodes, {time.monotonic() - began:.0f} s", flush=True)


def multiply(folder: Path, copies: int) -> None:
    """Put each episode of a run into it so many times in all, under other ids and indices."""
    place = "run, arm, repeat, round, phase"
    rest = "world, seeded_from, task, seed, parent, attempt, goal, ending, error, n_steps, started"
    rest += ", seconds, last, record"
    named = "printf('%05x', ?) || substr(id, 6)"
    step, score = "position, observation, decision, seconds", "name, evaluator, value, reason"
    with closing(sqlite3.connect(folder / STORE_FILE)) as database, database:
        (last,) = database.execute("SELECT max(idx) + 1 FROM episodes").fetchone()
        whose = f"SELECT {named.replace('id', 'episode')}"
        own = "WHERE substr(episode, 1, 5) = '00000'"
        for number in range(1, copies):
            database.execute(
                f"INSERT INTO episodes (id, {place}, idx, {rest}) SELECT {named}, {place},"
                f" idx + ?, {rest} FROM episodes WHERE substr(id, 1, 5) = '00000'",
                (number, number * last),
            )
            database.execute(f"INSERT INTO steps {whose}, {step} FROM steps {own}", (number,))
            database.execute(f"INSERT INTO scores {whose}, {score} FROM scores {own}", (number,))


def add(store: Store, number: int, steps: int, dice: random.Random) -> None:
    """One episode with the scores of two judges."""
    arm, round = ARMS[number % len(ARMS)], number // len(ARMS) % 7
    phase = "evaluate" if number % 3 else "collect"
    place = Provenance(arm=arm, repeat=number % 3, round=round, phase=phase, index=number)
    name = TASKS[dice.randrange(len(TASKS))]
    task = Task(f"{name}@1", "http://127.0.0.1/", seed=number)
    succeeded = dice.random() < 0.4 + 0.07 * round
    goal = f"Find the order {number} of “{name}” and press “Submit”"
    whole = Trajectory(
        id=f"{number:020x}-1",
        task=task,
        goal=goal,
        steps=tuple(step(goal, number, position, dice) for position in range(steps)),
        last=page(goal, number, steps, dice),
        ending=dice.choice((Ending.TASK_OVER, Ending.ANSWERED, Ending.STEP_LIMIT)),
        provenance=place,
        seconds=dice.uniform(2, 40),
    )
    store.add(whole)
    doubted = dice.random() < 0.1
    store.score(
        whole.id,
        Score("success", float(succeeded), "as the page says", "checks_hold@2"),
        Score("success", float(succeeded != doubted), "as it looks", "model@1"),
    )


def step(goal: str, number: int, position: int, dice: random.Random) -> Step:
    """A click or a word typed, with what a small model leaves of it."""
    action = Click(dice.randrange(1, 30)) if position % 3 else Fill(2, f"order {number}")
    decision = Decision(
        action,
        prompt_ids=tuple(dice.randrange(1000) for _ in range(300)),
        sampled_ids=(5, dice.randrange(1000)),
        log_probs=(-0.1, -dice.random()),
    )
    return Step(page(goal, number, position, dice), decision, dice.random())


def page(goal: str, number: int, position: int, dice: random.Random) -> Observation:
    """Thirty elements, as a small shop has."""
    nodes = tuple(
        Node(mark, dice.choice(("button", "link", "textbox")), f"Order {number + mark} {position}")
        for mark in range(1, 31)
    )
    return Observation(goal, f"http://127.0.0.1/{number}/{position}", "Shop", nodes)


def fetch(viewer: psutil.Process, address: str, times: int) -> tuple[float, float, float, int]:
    """Seconds of the first request, its processor time, the median of the others, and bytes."""
    seconds, used, size = list[float](), 0.0, 0
    for _ in range(times + 1):
        before, began = spent(viewer), time.perf_counter()
        with urllib.request.urlopen(address) as response:
            size = len(response.read())
        seconds.append(time.perf_counter() - began)
        used = used or spent(viewer) - before
    return seconds[0], used, statistics.median(seconds[1:]), size


def spent(process: psutil.Process) -> float:
    """Processor seconds so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


async def drawn(root: str, run: str) -> dict[str, float]:
    """Seconds until a Chromium has each page loaded and painted."""
    found = {}
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(
            executable_path=find_chromium(headless=True).path, chromium_sandbox=has_sandbox()
        )
        tab = await chromium.new_page()
        for name, path in PAGES.items():
            began = time.perf_counter()
            await tab.goto(root + path.format(run=run), wait_until="load")
            await tab.evaluate("() => new Promise(done => requestAnimationFrame(() => done()))")
            found[name] = time.perf_counter() - began
        await chromium.close()
    return found


def main() -> None:
    """Make, serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "view-perf")
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    run = given.folder / "large"
    if not run.is_dir():
        make(run, Size(given.episodes, given.steps))
        multiply(run, given.copies)
    size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    print(
        f"{given.episodes * given.copies:,} episodes of {given.steps} steps, {size / 1e6:,.0f} MB"
    )
    cache = tempfile.TemporaryDirectory()
    environment = {**os.environ, "XDG_CACHE_HOME": cache.name}
    command = [sys.executable, "-m", "recipes.cli", "view", str(given.folder), "--json"]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as viewer:
        assert viewer.stdout is not None
        root = json.loads(viewer.stdout.readline())["address"].rstrip("/")
        print(f"started after {time.perf_counter() - began:.2f} s (importing Python's packages)")
        try:
            process = psutil.Process(viewer.pid)
            print(f"{'page':<12}{'first':>9}{'used':>9}{'then':>9}{'kB':>8}")
            for name, path in PAGES.items():
                address = root + path.format(run=run.name)
                first, used, then, bytes_ = fetch(process, address, given.times)
                print(f"{name:<12}{first:>8.3f}s{used:>8.3f}s{then:>8.3f}s{bytes_ / 1000:>8.0f}")
            for name, seconds in asyncio.run(drawn(root, run.name)).items():
                print(f"{name:<12}{seconds:>8.3f}s drawn in Chromium")
        finally:
            viewer.terminate()
    cache.cleanup()


if __name__ == "__main__":
    main()
