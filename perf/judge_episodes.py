"""Plays MiniWoB++ rightly and wrongly in all kinds of ways: labelled episodes for judges.

`python perf/judge_episodes.py FOLDER --train 24 --development 8 --test 14` has the oracles play
every task they know: a third as they are, the others with one slip, a premature button, random
actions or an early end. `--policy FOLDER` plays saved built-in weights instead, exploring.
The page's own reward is the truth, stored as the scores of the frozen rule judge. Made again with
the same folder it goes on where it stopped.
"""

import argparse
import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.miniwob import tasks as miniwob
from benchmarks.oracles import ORACLES, OraclePolicy
from benchmarks.rules import checks_hold
from evaluators.reward.examples import perturb_action
from loop.folder import RunFolder
from webagent.action import Action
from webagent.action.actions import Click, GiveUp
from webagent.browser import Browser
from webagent.errors import PolicyError
from webagent.models.builtin.model import BuiltinModel
from webagent.policy.builtin import BuiltinPolicy
from webagent.policy.exploration import Exploration, random_action
from webagent.policy.policy import Policy
from webagent.records import Decision, Observation, Provenance, Trajectory
from webagent.rollout import Batcher, PlannedEpisode, collect
from webagent.store import Store

WAYS = ("right", "slip", "early", "wild", "quits")
SHARES = (0.36, 0.30, 0.12, 0.17, 0.05)


@dataclass(frozen=True)
class Collection:
    """What is played and by whom."""

    train: int
    development: int
    test: int
    """Seeds a task."""
    first: int
    """Number of the first seed."""
    tasks: tuple[str, ...]
    """All that have an oracle where none is named."""
    policy: Path | None
    """Built-in weights in place of the oracles."""
    temperature: float
    arm: str


class Careless:
    """The oracles, each episode done in one of `WAYS`; the same episode always in the same."""

    def __init__(self) -> None:
        self._oracles = OraclePolicy()

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The oracle's action or what the way of the episode makes of it."""
        digest = hashlib.sha256(trajectory.id.encode()).digest()
        way, at = self._way(np.random.default_rng(list(digest)))
        rng = np.random.default_rng([*digest, len(trajectory.steps)])
        try:
            decision = await self._oracles.act(trajectory, observation)
        except PolicyError:
            action = random_action(observation, rng, 0.5) or GiveUp("nothing to do")
            return Decision(action, source="explore")
        is_time = len(trajectory.steps) == at
        if way == "wild" and rng.random() < 0.4:
            wrong = random_action(observation, rng, 0.5)
        elif way in ("slip", "early", "quits") and is_time:
            wrong = self._wrong(way, decision.action, observation, rng)
        else:
            wrong = None
        return Decision(wrong, source="explore") if wrong else decision

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """The one action."""
        return [await self.act(trajectory, observation)][:n]

    @staticmethod
    def _way(rng: np.random.Generator) -> tuple[str, int]:
        way = str(rng.choice(WAYS, p=SHARES))
        return way, int(rng.choice(6, p=(0.4, 0.25, 0.15, 0.1, 0.05, 0.05)))

    @staticmethod
    def _wrong(
        way: str, action: Action, page: Observation, rng: np.random.Generator
    ) -> Action | None:
        if way == "quits":
            return GiveUp("it cannot be done")
        buttons = [
            node.mark
            for node in page.nodes
            if node.mark and node.role == "button" and "disabled" not in node.states
        ]
        if way == "early" and buttons:
            return Click(int(rng.choice(buttons)))
        return perturb_action(action, page, rng)


def plan(asked: Collection) -> list[PlannedEpisode]:
    """First seeds first, so that any part of it is fair."""
    names = [name for name in miniwob.select(("all",)) if name in ORACLES]
    if asked.tasks:
        names = [name for name in names if name in asked.tasks]
    counts = {s: getattr(asked, s) for s in ("train", "development", "test")}
    return [
        PlannedEpisode(
            miniwob.task(name, asked.first + index, split),
            Provenance(arm=asked.arm, phase=split, index=index),
        )
        for index in range(max(counts.values()))
        for split, count in counts.items()
        if index < count
        for name in names
    ]


async def play(asked: Collection, store: Store) -> None:
    """Play what is not there yet and score it."""
    if asked.policy:
        exploration = Exploration(asked.temperature, 0.1)
        model = BuiltinModel.load(asked.policy)
        policy: Policy = BuiltinPolicy(model, exploration=exploration, batched=Batcher)
    else:
        policy = Careless()
    truth, ended = checks_hold(), []

    def seen(trajectory: Trajectory) -> None:
        ended.append(asyncio.ensure_future(score(trajectory)))

    async def score(trajectory: Trajectory) -> None:
        store.score(trajectory.id, await truth(trajectory))

    async with Browser() as browser:
        planned = plan(asked)
        await collect(
            planned, policy, browser.world, concurrency=4, recorder=store, on_episode=seen
        )
        await asyncio.gather(*ended)


def main() -> None:
    """Read the line and play."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for split in ("train", "development", "test"):
        parser.add_argument(f"--{split}", type=int, default=0)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--tasks", nargs="*", default=[])
    parser.add_argument("--policy", type=Path)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--arm", default="careless")
    given = vars(parser.parse_args())
    folder = given.pop("folder")
    asked = Collection(**{**given, "tasks": tuple(given["tasks"])})
    if not (folder / "run.json").exists():
        RunFolder.create(folder, asked, ["perf/judge_episodes.py"])
    with RunFolder.open(folder).store() as store:
        asyncio.run(play(asked, store))


if __name__ == "__main__":
    main()
