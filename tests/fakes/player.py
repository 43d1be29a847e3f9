"""A process of its own that plays a plan into a store and says each thing once it is safe.

python -m tests.fakes.player FOLDER ARM EPISODES
"""

import asyncio
import sys
from pathlib import Path

from tests.fakes.policy import ScriptedPolicy
from tests.fakes.world import FakeWorld, fake_plan
from webagent.records import Provenance, Step, Trajectory
from webagent.rollout import PlannedEpisode, collect, plan_episodes
from webagent.store import Store


def player_plan(arm: str, episodes: int) -> list[PlannedEpisode]:
    """What the process plays."""
    return plan_episodes(fake_plan(episodes), Provenance(run="r", arm=arm, phase="collect"))


class Announcing:
    """The store; writes a line to standard output after each thing it has kept."""

    def __init__(self, store: Store) -> None:
        self.begin, self.load = store.begin, store.load
        self._store = store

    def add_step(self, episode: str, position: int, step: Step) -> None:
        """Keep the step, then say so."""
        self._store.add_step(episode, position, step)
        say(f"step {episode} {position}")

    def finish(self, trajectory: Trajectory) -> None:
        """Keep the ending, then say so."""
        self._store.finish(trajectory)
        say(f"finish {trajectory.id}")


def say(line: str) -> None:
    """Write the line so that it is out before the next thing happens."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def open_world() -> FakeWorld:
    """A sound one."""
    return FakeWorld()


def main(folder: str, arm: str, episodes: str) -> None:
    """Play the plan with three worlds."""
    with Store.open(Path(folder)) as store:
        plan = player_plan(arm, int(episodes))
        recorder = Announcing(store)
        asyncio.run(collect(plan, ScriptedPolicy(), open_world, concurrency=3, recorder=recorder))


if __name__ == "__main__":
    main(*sys.argv[1:])
