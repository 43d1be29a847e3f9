"""Judged episodes a minute on real sites, by how many are played at once.

    python perf/many.py [--json] [--sites fossil oscar] [--at-once 1 4 16 64] [--thinking 0 2]
                        [--episodes 16] [--browsergym PYTHON]

Scripted policies that are given so many seconds to think a step play the sites' own tasks, each on
a fresh site and judged by its checks; those that fail are named on stderr. Beside it as many
episodes with as many steps by plain Playwright: a fresh context, the same start page, and its
accessible text before each step, without a reset of the site, without actions, without checks.
Given a Python that has BrowserGym, also the same by its environment, which is synchronous: a
process for each episode at once, started beforehand, with its defaults; up to 16 of them, as one
takes some 400 MB.
Printed are episodes a minute, the seconds of processor that an episode takes in all processes (two
processors have room for 120 divided by them a minute), and memory (PSS) for each episode at once.
The knee is where more at once no longer bring more episodes a minute. On a loaded machine only
seconds of processor and memory say something.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import psutil
from browsergym_child import tree_megabytes
from other import command
from playwright.async_api import BrowserContext, async_playwright
from rows import Row, options, row, show

from benchmarks.catalogue import find_benchmark
from benchmarks.oracles import OraclePolicy
from benchmarks.rules import checks_hold
from benchmarks.sites.hosting import Hosting
from tasks.task import Task
from webagent.browser import Browser, find_chromium
from webagent.policy.policy import Policy
from webagent.records import Decision, Observation, Trajectory
from webagent.rollout.episode import run_episode

_WEIGH_SECONDS = 1.0
_BROWSERGYM_AT_ONCE = 16
_OPENING_MS = 120_000
"""A page may take so long to open where 64 are opened at once."""
Lengths: TypeAlias = Sequence[tuple[str, int]]
"""Of each episode its first address and how many steps it has."""


@dataclass(frozen=True)
class ThinkingPolicy:
    """A policy that takes so many seconds for each decision."""

    policy: Policy
    seconds: float

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the policy's action, once the time has passed."""
        await asyncio.sleep(self.seconds)
        return await self.policy.act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return what the policy proposes, once the time has passed."""
        await asyncio.sleep(self.seconds)
        return await self.policy.propose(trajectory, observation, n)


@dataclass
class Measured:
    """What some episodes took."""

    minutes: float = 0.0
    processor: float = 0.0
    """Seconds in all processes."""
    megabytes: float = 0.0
    """At most, of all processes below this one."""


def processor_seconds() -> float:
    """Return what this process and all below it have taken, ended ones included."""
    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return total


async def measure(jobs: Sequence[Callable[[], Awaitable[None]]], at_once: int) -> Measured:
    """Do all jobs, so many at once."""
    places, done = asyncio.Semaphore(at_once), Measured()

    async def weigh() -> None:
        while True:
            megabytes = await asyncio.to_thread(tree_megabytes, os.getpid())
            done.megabytes = max(done.megabytes, megabytes)
            await asyncio.sleep(_WEIGH_SECONDS)

    async def do(job: Callable[[], Awaitable[None]]) -> None:
        async with places:
            await job()

    before, began = processor_seconds(), time.monotonic()
    weighing = asyncio.create_task(weigh())
    try:
        await asyncio.gather(*map(do, jobs))
    finally:
        weighing.cancel()
    done.minutes = (time.monotonic() - began) / 60
    done.processor = processor_seconds() - before
    return done


async def play(site: str, at_once: int, thinking: float, episodes: int) -> tuple[Measured, Lengths]:
    """Play and judge; return what it took, and the episodes."""
    suite = find_benchmark(site).load()
    names = [name for name in suite.names if name not in suite.groups["infeasible"]]
    tasks = [suite.task(names[each % len(names)], each, "train") for each in range(episodes)]
    lengths: list[tuple[str, int]] = []
    async with Hosting(at_once) as hosting, Browser(pages=at_once) as browser:
        await hosting.prepare(tasks)
        open_world = hosting.worlds(partial(browser.world, logins=hosting.logins))

        async def play_one(task: Task) -> None:
            world = await open_world()
            try:
                policy = ThinkingPolicy(OraclePolicy(task.name), thinking)
                episode = await run_episode(task, policy, world)
            finally:
                await world.close()
            score = await checks_hold()(episode)
            if score.value != 1.0:
                print(f"{task.name}: {episode.error or score.reason}", file=sys.stderr)
            lengths.append((task.start_url, len(episode.steps)))

        measured = await measure([partial(play_one, task) for task in tasks], at_once)
    return measured, lengths


@asynccontextmanager
async def serve(site: str, lengths: Lengths) -> AsyncIterator[Lengths]:
    """Run the site and never reset it; give the episodes with their addresses there."""
    suite = find_benchmark(site).load()
    task = suite.task(suite.names[0], 0, "train")
    async with Hosting(1) as hosting:
        await hosting.prepare([task])
        lease = await hosting.lease(task.site)
        base = lease.running.base
        yield [("/".join([base, *url.split("/", 3)[3:]]), steps) for url, steps in lengths]
        await hosting.give_back(lease)


async def look_on(at_once: int, thinking: float, lengths: Lengths) -> Measured:
    """Open and read as many pages by plain Playwright."""
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=find_chromium().path)

        async def read(context: BrowserContext, url: str, steps: int) -> None:
            page = await context.new_page()
            await page.goto(url, timeout=_OPENING_MS)
            for _ in range(steps):
                await asyncio.sleep(thinking)
                await page.mouse.move(1, 1)
                await page.wait_for_load_state()
                await page.locator("body").aria_snapshot()

        async def open_one(url: str, steps: int) -> None:
            context = await chromium.new_context()
            try:
                await read(context, url, steps)
            finally:
                await context.close()

        measured = await measure([partial(open_one, *each) for each in lengths], at_once)
        await chromium.close()
    return measured


async def look_on_by_browsergym(
    python: str, at_once: int, thinking: float, lengths: Lengths
) -> Measured:
    """Open and read as many pages by BrowserGym, with steps that do nothing."""
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for number in range(at_once):
            share = Path(folder) / f"{number}.txt"
            lines = [f"{url} {steps}" for url, steps in lengths[number::at_once]]
            share.write_text("\n".join(lines), encoding="utf-8")
            start = command(python, "many", str(share), f"--thinking={thinking:g}")
            child = await asyncio.create_subprocess_exec(
                *start, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
            )
            children.append(child)
        for child in children:
            assert child.stdout
            if not await child.stdout.readline():
                raise SystemExit("BrowserGym did not start")

        processor = 0.0

        async def go(child: asyncio.subprocess.Process) -> None:
            nonlocal processor
            said, _ = await child.communicate(b"\n")
            if child.returncode:
                raise SystemExit("BrowserGym failed")
            processor += json.loads(said.splitlines()[-1])["processor"]

        measured = await measure([partial(go, child) for child in children], at_once)
    measured.processor = processor
    return measured


async def rows(
    sites: Sequence[str], counts: Sequence[int], pauses: Sequence[float], episodes: int, python: str
) -> AsyncIterator[Row]:
    """Measure one after the other."""
    for site in sites:
        for thinking in pauses:
            for at_once in counts:
                number = max(episodes, at_once)
                ours, lengths = await play(site, at_once, thinking, number)
                title = f"{site}, {at_once} at once, {thinking:g} s to think"
                async with serve(site, lengths) as served:
                    other = await look_on(at_once, thinking, served)
                    for one in compare(f"{title}, beside Playwright", number, at_once, ours, other):
                        yield one
                    if python and at_once <= _BROWSERGYM_AT_ONCE:
                        other = await look_on_by_browsergym(python, at_once, thinking, served)
                        both = (number, at_once, ours, other)
                        for one in compare(f"{title}, beside BrowserGym", *both):
                            yield one


def compare(
    title: str, number: int, at_once: int, ours: Measured, other: Measured
) -> Iterator[Row]:
    """Give the rows of both sides' figures."""
    for name, mine, theirs, more_is_better in (
        ("episodes a minute", number / ours.minutes, number / other.minutes, True),
        ("processor s", ours.processor / number, other.processor / number, False),
        ("MB at once", ours.megabytes / at_once, other.megabytes / at_once, False),
    ):
        yield row(f"{title}: {name}", mine, theirs, more_is_better=more_is_better)


async def print_rows(found: AsyncIterator[Row], as_json: bool) -> None:
    """Print each row when it is measured, or all at the end as JSON."""
    table = []
    async for one in found:
        table.append(one)
        if not as_json:
            show([one], as_json=False)
    if as_json:
        show(table, as_json=True)


def main() -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--sites", nargs="*", default=["fossil", "oscar"])
    parser.add_argument("--at-once", nargs="*", type=int, default=[1, 4, 16, 64])
    parser.add_argument("--thinking", nargs="*", type=float, default=[0.0, 2.0])
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--browsergym", default="", metavar="PYTHON")
    chosen = parser.parse_args()
    found = rows(chosen.sites, chosen.at_once, chosen.thinking, chosen.episodes, chosen.browsergym)
    asyncio.run(print_rows(found, chosen.json))


if __name__ == "__main__":
    main()
