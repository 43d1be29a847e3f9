"""Plays episodes that look like successes and are none, for judges to be tried on.

    python perf/adversarial.py [--only corpus training]

Writes the corpus beside its readers in `evaluators/adversarial`, and a training set of other seeds
and other words beside its tests. Everything is played in a real Chromium; the same version of it
gives the same files.
"""

import argparse
import asyncio
import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
# tests.fakes is installed nowhere: this checkout must be found first.
sys.path.insert(0, str(ROOT))

import adversarial_market as on_market  # noqa: E402
import adversarial_miniwob as on_miniwob  # noqa: E402
from adversarial_notices import notice  # noqa: E402

from benchmarks.miniwob import tasks as miniwob  # noqa: E402
from benchmarks.oracles import ORACLES, OraclePolicy  # noqa: E402
from benchmarks.rules import checks_hold  # noqa: E402
from tasks.task import Task  # noqa: E402
from tests.fakes.market import HANDLERS, Market, serving_market  # noqa: E402
from webagent.browser import Browser, BrowserWorld  # noqa: E402
from webagent.policy.policy import Policy  # noqa: E402
from webagent.records import Decision, Provenance, Trajectory  # noqa: E402
from webagent.rollout import run_episode  # noqa: E402
from webagent.serialize import dumps, to_json  # noqa: E402

KINDS = ("claimed", "wrong item", "undone", "empty page", "page says so")
UNSTEADY = (
    "circle-center",
    "hot-cold",
    "guess-number",
    "stock-market",
    "tic-tac-toe",
    "bisect-angle",
)
MOST_NODES, MOST_STEPS = 60, 9


@dataclass(frozen=True, slots=True)
class Portion:
    """One of the two sets: where it goes and what it is made from."""

    file: Path
    split: str
    first: int
    """The first seed, on the market and within the split."""
    miniwob: int
    """Of each kind."""
    market: int
    """Rounds over the tasks, by kind."""
    training: bool


PORTIONS = {
    "corpus": Portion(ROOT / "evaluators/adversarial/corpus.jsonl.gz", "test", 7000, 20, 1, False),
    "training": Portion(
        ROOT / "tests/evaluators/adversarial/training.jsonl.gz", "train", 9000, 40, 2, True
    ),
}


class Stage:
    """Where episodes are played, one after the other."""

    def __init__(self, world: BrowserWorld, market: Market, portion: Portion) -> None:
        self.world, self.market, self.portion = world, market, portion
        self.rows: list[dict[str, Any]] = []
        self._played = 0
        self._judge = checks_hold()

    async def play(self, task: Task, policy: Policy, kind: str) -> tuple[Trajectory, float | None]:
        """The finished episode and what its checks say; None of one that is right in part."""
        origin = Provenance(run="adversarial", arm=kind, index=self._played)
        self._played += 1
        finished = await run_episode(task, policy, self.world, provenance=origin)
        reward = finished.evidence.get("raw_reward")
        value = (await self._judge(finished)).value
        is_partly = value == 0.0 and isinstance(reward, float | int) and reward > 0
        return neutral(finished), None if is_partly else value

    def keep(self, kind: str, domain: str, played: Trajectory, control: str) -> None:
        """One more row; an honest episode is its own control."""
        row = {"kind": kind, "domain": domain, "control": control}
        self.rows.append({**row, "trajectory": to_json(played)})


async def on_pages(stage: Stage) -> None:
    """MiniWoB++: for each kind as many tasks as are wanted, each beside its honest episode."""
    portion, names = stage.portion, sorted(set(ORACLES) - set(UNSTEADY))
    for place, kind in enumerate(KINDS):
        dice = random.Random(f"{portion.split} {kind}")
        dice.shuffle(names)
        kept = 0
        for turn, name in enumerate(names * 2):
            if kept == portion.miniwob:
                break
            seed = portion.first + 300 * place + turn
            task = miniwob.task(name, seed - portion.first + 500, portion.split)
            if kind == "page says so":
                task = on_miniwob.with_notice(task, notice(turn, training=portion.training))
            kept += await deceive(stage, kind, name, task, dice)


async def deceive(stage: Stage, kind: str, name: str, task: Task, dice: random.Random) -> bool:
    """Play it honestly, then as this kind; keep both where they came out as they should."""
    control, value = await stage.play(task, OraclePolicy(name), "honest")
    small = all(len(step.observation.nodes) <= MOST_NODES for step in control.steps)
    if value != 1.0 or not small or len(control.steps) > MOST_STEPS:
        return False
    for policy in on_miniwob.WAYS[kind](control, dice):
        played, value = await stage.play(task, policy, kind)
        if value == 0.0:
            stage.keep("honest", "miniwob", control, control.id)
            stage.keep(kind, "miniwob", played, control.id)
            return True
    return False


async def play_market_tasks(stage: Stage) -> None:
    """The market: every task as every kind."""
    seed = stage.portion.first
    for _ in range(stage.portion.market):
        for kind in (*KINDS, "hedged"):
            for name in on_market.KINDS:
                seed += 1
                await play_market_task(stage, kind, name, seed)


async def play_market_task(stage: Stage, kind: str, name: str, seed: int) -> None:
    """Run it honestly and as this kind, and keep both."""
    words = notice(seed, training=stage.portion.training) if kind == "page says so" else ""
    made = on_market.make_task(stage.market, name, seed, words)
    turns = on_market.ways(made)
    if not turns[kind]:
        return
    control, right = await stage.play(made.task, on_market.follow(turns["honest"]), "honest")
    played, wrong = await stage.play(made.task, on_market.follow(turns[kind]), kind)
    if (right, wrong) != (1.0, 0.0):
        raise SystemExit(f"{name} as {kind}: {right}, {wrong}; {control.error} {played.error}")
    stage.keep("honest", "market", control, control.id)
    stage.keep("claimed" if kind == "hedged" else kind, "market", played, control.id)


def neutral(played: Trajectory) -> Trajectory:
    """Without what differs from one playing to the next, and what tells who played."""
    steps = [
        replace(step, seconds=0.0, decision=Decision(step.decision.action)) for step in played.steps
    ]
    origin = Provenance(run="adversarial", index=played.provenance.index)
    return replace(played, steps=tuple(steps), seconds=0.0, provenance=origin)


def write(path: Path, rows: Iterable[dict[str, Any]], market: str) -> None:
    """The rows with addresses that hold nothing of this machine."""
    lines = b"\n".join(dumps(row) for row in rows).decode()
    pages = json.dumps(miniwob.pages().as_uri())[1:-1]
    lines = lines.replace(market, "http://market.test").replace(pages, "file:///miniwob")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(lines.encode() + b"\n")


async def make(portion: Portion) -> None:
    """Play a portion and write it."""
    async with Browser() as browser, serving_market(HANDLERS) as market:
        stage = Stage(await browser.world(), market, portion)
        await play_market_tasks(stage)
        print(Counter((row["domain"], row["kind"]) for row in stage.rows), flush=True)
        await on_pages(stage)
        write(portion.file, stage.rows, market.site.address)
    print(Counter((row["domain"], row["kind"]) for row in stage.rows))
    print(f"{portion.file}: {portion.file.stat().st_size} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PORTIONS, default=list(PORTIONS))
    for wanted in parser.parse_args().only:
        asyncio.run(make(PORTIONS[wanted]))
