"""`python -m loop.proposers.filter_measure fossil miniwob`: the filters' own errors, printed."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.catalogue import benchmark_named
from benchmarks.miniwob import tasks as miniwob
from benchmarks.rules import RULES
from loop.proposers.filter_errors import (
    Ground,
    live_errors,
    novelty_errors,
    rule_errors,
    table,
)
from loop.proposers.place import local_scope
from loop.proposers.scope import Scope
from loop.proposers.settings import ProposeConfig
from tasks.task import Task

SEEDS, SEEDS_OF_PAGES = 6, 2
_LONGEST = 200


def main(names: Sequence[str]) -> int:
    """Measure on the tasks of these benchmarks, each on its own."""
    for name in names:
        ground = asyncio.run(pages_ground()) if name == "miniwob" else site_ground(name)
        print(f"\n{name}: {len(ground.tasks)} tasks\n")
        grounds = [ground]
        errors = [*rule_errors(grounds), live_errors(grounds), *novelty_errors(grounds)]
        print(table(errors))
        for each in errors:
            for example in each.examples:
                print(f"  {each.filter}, {each.kind}: {example}")
    return 0


def site_ground(name: str) -> Ground:
    """The tasks of a site that starts here, but for those that cannot be done. Raises
    `SetupError`."""
    suite = benchmark_named(name).load()
    scope = local_scope(ProposeConfig(site=name))
    tasks = [suite.task(each, index) for each in suite.names for index in range(SEEDS)]
    feasible = [task for task in tasks if "infeasible" not in task.skills]
    return Ground(replace(scope, max_steps=_LONGEST, rules=tuple(RULES)), feasible)


async def pages_ground() -> Ground:
    """MiniWoB's tasks with the goals that their pages write."""
    from webagent.browser import Browser

    tasks: list[Task] = []
    async with Browser() as browser:
        world = await browser.world()
        for name in miniwob.NAMES:
            for index in range(SEEDS_OF_PAGES):
                task = miniwob.task(name, index)
                page = await world.reset(replace(task, settle_ms=50))
                tasks.append(replace(task, goal=page.goal))
        await world.close()
    folder = tasks[0].start_url.rsplit("/", 1)[0]
    return Ground(Scope("MiniWoB++", f"{folder}/", is_reset=True, max_steps=_LONGEST), tasks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
