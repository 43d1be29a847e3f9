"""Replays corrupted successes in the browser: how many of the failures made of them are none.

`python perf/judge_noise.py RUN --each 60` draws that many successes a kind from a run of
`perf/judge_episodes.py`, corrupts them, does the corrupted actions on the same seed and asks the
page for its reward. Kinds that change the goal cannot be replayed; kinds that leave off the end
fail by definition, since a task that is not over is not done.
"""

import argparse
import asyncio
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.rules import checks_hold
from evaluators.reward.examples import corrupt
from evaluators.statistics import wilson
from webagent.browser import Browser, BrowserWorld
from webagent.policy.policy import ScriptedPolicy
from webagent.records import Trajectory
from webagent.rollout import run_episode
from webagent.store import Store

REPLAYED = ("wrong value", "wrong element", "undone", "hurried")


async def is_right(world: BrowserWorld, made: Trajectory) -> bool | None:
    """Whether the corrupted actions succeed after all; None where the world failed."""
    actions = [step.decision.action for step in made.steps]
    policy = ScriptedPolicy(lambda under_way, _: dict(enumerate(actions)).get(len(under_way.steps)))
    played = await run_episode(made.task, policy, world)
    score = await checks_hold()(played)
    return None if score.value is None else score.value >= 0.5


async def measure(run: Path, each: int) -> None:
    """Print, for each kind, the share that succeeds all the same, and the tasks it does so on."""
    with Store.open(run) as store:
        scores = store.scores(phase="train")
        good = [t for t in store.trajectories(phase="train") if _passed(scores, t.id)]
    rng = np.random.default_rng(0)
    async with Browser() as browser:
        world = await browser.world()
        for kind in REPLAYED:
            right, count, where = 0, 0, Counter[str]()
            for place in rng.permutation(len(good)):
                made = corrupt(good[int(place)], kind, [], rng)
                if count == each:
                    break
                found = await is_right(world, made) if made else None
                if made is None or found is None:
                    continue
                count, right = count + 1, right + found
                where[made.task.name] += found
            low, high = wilson(right, count)
            tasks = ", ".join(f"{name} {n}" for name, n in where.most_common() if n)
            print(f"{kind:<14} {right:>3} of {count:>3} ({low:.0%}-{high:.0%})  {tasks}")
        await world.close()


def _passed(scores: dict[str, tuple[object, ...]], id: str) -> bool:
    values = [getattr(s, "value", None) for s in scores.get(id, ())]
    return bool(values) and values[0] == 1.0


def main() -> None:
    """Read the line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--each", type=int, default=60)
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.run, arguments.each))


if __name__ == "__main__":
    main()
