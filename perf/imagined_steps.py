"""What an imagined step costs beside a real one, in processor time of the same run.

    python perf/imagined_steps.py [--benchmark oscar] [--tasks 16] [--learn 2] [--json]

The scripted solutions are played in the browser, on training seeds to learn from and on a
development seed to measure on; memory then imagines the measured actions, each from the real page
before it. Processor time of this program, browser, driver and site together, per step (median).
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from large_pages import spent
from rows import Row, options, row, show

from benchmarks.catalogue import find_benchmark
from benchmarks.oracles import ORACLES, OraclePolicy
from benchmarks.sites.hosting import Hosting
from tasks.task import Task
from webagent.action import Action
from webagent.browser import Browser
from webagent.records import Observation, Trajectory
from webagent.rollout import run_episode
from webagent.rollout.world import World
from worldmodel.prediction import Prediction, Source
from worldmodel.recall import RememberedWorld
from worldmodel.simulate import ImaginedWorld, start_at, start_key
from worldmodel.transitions import Situation, transitions


@dataclass
class MeteredWorld:
    """A world whose steps are metered in processor seconds."""

    world: World
    seconds: list[float] = field(default_factory=list)

    def __getattr__(self, name: str) -> object:
        return getattr(self.world, name)

    async def step(self, action: Action) -> Observation:
        """Do the action and note what it cost."""
        before = spent()
        page = await self.world.step(action)
        self.seconds.append(spent() - before)
        return page


async def play(tasks: Sequence[Task]) -> tuple[list[Trajectory], list[float]]:
    """The scripted solutions of tasks, and the processor seconds of every step."""
    async with Hosting(1) as hosting, Browser() as browser:
        await hosting.prepare(tasks)
        opened = hosting.worlds(partial(browser.world, logins=hosting.logins))
        world = MeteredWorld(await opened())
        played = [await run_episode(task, OraclePolicy(), world) for task in tasks]
        await world.world.close()
    return played, world.seconds


async def imagine(memory: RememberedWorld, episode: Trajectory) -> list[tuple[Source, float]]:
    """The source and the processor seconds of each action of an episode, imagined."""
    told: list[Prediction] = []

    async def predict(situation: Situation) -> Prediction:
        told.extend(memory.predict([situation]))
        return told[-1]

    costs = []
    for number, step in enumerate(episode.steps):
        world = ImaginedWorld(predict, {start_key(episode.task): start_at(episode, number)})
        await world.reset(episode.task)
        before = time.process_time()
        await world.step(step.decision.action)
        costs.append(time.process_time() - before)
    return list(zip([each.source for each in told], costs, strict=True))


async def measure(benchmark: str, count: int, learned: int) -> list[Row]:
    """A row for all imagined steps and for those that the map answers, beside the real ones."""
    suite = find_benchmark(benchmark).load()
    names = [name for name in suite.names if name in ORACLES]
    names = [names[number * len(names) // count] for number in range(count)]
    to_learn = [suite.task(name, seed) for name in names for seed in range(learned)]
    measured, real = await play([suite.task(name, 0, "development") for name in names])
    shown, _ = await play(to_learn)
    memory = RememberedWorld()
    memory.learn(transitions(shown, dict.fromkeys((each.id for each in shown), 1.0)))
    imagined = [each for episode in measured for each in await imagine(memory, episode)]
    known = [cost for source, cost in imagined if source in (Source.REMEMBERED, Source.RULED)]
    typical = 1000 * statistics.median(real)
    print(f"{len(real)} real steps of {len(measured)} episodes, {len(imagined)} imagined ones,")
    print(f"{len(known)} of them answered by the map of {len(memory.cases)} steps; ms, beside real")
    rows = {"an imagined step": [cost for _, cost in imagined], "where the map answers": known}
    return [
        row(name, 1000 * statistics.median(costs), typical, more_is_better=False)
        for name, costs in rows.items()
    ]


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--benchmark", default="oscar")
    parser.add_argument("--tasks", type=int, default=16)
    parser.add_argument("--learn", type=int, default=2, help="demonstrations a task")
    chosen = parser.parse_args()
    rows = asyncio.run(measure(chosen.benchmark, chosen.tasks, chosen.learn))
    show(rows, as_json=chosen.json)
