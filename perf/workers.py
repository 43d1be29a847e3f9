"""Steps a second as workers grow, with and without time to think, and what a step costs here.

    python perf/workers.py [--executor process|ray] [--workers 1 2 4] [--thinking 0 2]

Oracles play MiniWoB++ after a sleep of so many seconds, in four contexts of each worker; then with
as many workers as there are contexts, one context each; then one context alone, one call after
another. With Ray the cluster that runs here, or that RAY_ADDRESS names. Processor time is that of
the process that decides and keeps, which is what a bigger cluster shares.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.miniwob import tasks as miniwob
from benchmarks.oracles import OraclePolicy
from loop.executors.executor import BrowserSetup, ExecutorName, open_executor
from tasks.task import Task
from webagent.records import Decision, Observation, Provenance, Trajectory
from webagent.rollout import collect, plan_episodes
from webagent.store import Store

CONTEXTS = 4
NAMES = ("click-test-2", "enter-text", "login-user", "click-checkboxes")


@dataclass(frozen=True)
class ThinkingOracle:
    """Sleeps, then does what is right."""

    seconds: float
    oracle: OraclePolicy

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Decide after so many seconds."""
        await asyncio.sleep(self.seconds)
        return await self.oracle.act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Pass it to the oracle."""
        return await self.oracle.propose(trajectory, observation, n)


async def play(
    executor: ExecutorName, workers: int, contexts: int, thinking: float, episodes: int
) -> tuple[int, float, float]:
    """Steps, seconds, and processor seconds of this process."""
    tasks: list[Task] = [miniwob.task(NAMES[i % 4], i // 4, "train") for i in range(episodes)]
    plan = plan_episodes(tasks, Provenance())
    policy = ThinkingOracle(thinking, OraclePolicy())
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder), create=True) as store:
        setup = BrowserSetup((), contexts)
        async with open_executor(setup, executor, workers) as open_worlds:
            opening = open_worlds(store.images.add, None, None)
            began, used = time.perf_counter(), time.process_time()
            at_once = contexts * workers
            played = await collect(plan, policy, opening, concurrency=at_once, recorder=store)
            took, cpu = time.perf_counter() - began, time.process_time() - used
    assert len(played) == episodes, "the world failed in some"
    return sum(len(each.steps) for each in played), took, cpu


def main() -> None:
    """Print a row for each setting."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--executor", choices=("process", "ray"), default="process")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--thinking", type=float, nargs="+", default=[0.0, 2.0])
    parser.add_argument("--episodes", type=int, default=32, help="of each setting (32)")
    asked = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print("| contexts | workers | thinking s | steps/s | ms of this process a step |")
    print("| --- | --- | --- | --- | --- |")
    for thinking in asked.thinking:
        shapes = [(CONTEXTS, workers) for workers in asked.workers]
        for contexts, workers in [(1, 1), *shapes, (1, CONTEXTS)]:
            steps, took, cpu = asyncio.run(
                play(asked.executor, workers, contexts, thinking, asked.episodes)
            )
            cells = (contexts, workers, f"{thinking:g}", f"{steps / took:.2f}")
            print("|", *(f"{c} |" for c in cells), f"{1000 * cpu / steps:.1f} |", flush=True)


if __name__ == "__main__":
    main()
