"""What a cluster would do: measured times of a stored run, played in discrete-event time.

    python perf/scale.py RUN [--environments 1000] [--thinking 2] [--hours 1]

Times of resets, steps and decisions are drawn from the run; with `--thinking` decisions take a
lognormal time of that median instead. Each worker plays so many calls at once as it has cores, the
rest wait; decisions wait for a place on the model's server; every step passes the one process that
keeps it. A trainer takes a batch of episodes at a time: `synchronous`, with nothing begun before it
is done; or `decoupled`, with at most `--cap` versions between an episode's weights and the newest,
and nothing begun that could exceed it. Workers are lost at random and come back after a while; what
they played is played again, as the executor does.
"""

import argparse
import heapq
import json
import math
import random
import statistics
from collections import Counter, deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webagent.store import Store

MOST_CUTS = 10
"""Attempts after which the executor gives an episode up."""
Event = tuple[str, Any]
"""`wait`, seconds; `hold`, a resource with seconds; `until`, a list that is woken up."""


@dataclass(frozen=True)
class Measured:
    """What an episode of the run took, in seconds."""

    resets: list[float]
    steps: list[float]
    decisions: list[float]
    lengths: list[int]

    @classmethod
    def read(cls, run: Path, factor: float) -> "Measured":
        found = cls([], [], [], [])
        with Store.look(run) as store:
            for episode in store.trajectories():
                if not episode.steps or episode.provenance.imagined:
                    continue
                took = [factor * step.seconds for step in episode.steps]
                thought = [step.decision.seconds for step in episode.steps]
                found.resets.append(factor * max(episode.seconds - sum(thought), 0.0) - sum(took))
                found.steps.extend(took)
                found.decisions.extend(thought)
                found.lengths.append(len(took))
        return found


@dataclass
class Resource:
    """So many places, first come first served."""

    places: int
    busy: float = 0.0
    used: int = 0
    queue: deque[Callable[[], None]] = field(default_factory=deque)


@dataclass
class Simulation:
    """One setting, from its start to its end."""

    measured: Measured
    asked: argparse.Namespace
    workers: int
    is_decoupled: bool
    now: float = 0.0
    version: int = 0
    begun: int = 0
    waiting: list[Callable[[], None]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    staleness: Counter[int] = field(default_factory=Counter)
    batch: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.asked.seed)
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.number = 0
        self.cores = [Resource(self.asked.cores) for _ in range(self.workers)]
        self.model = Resource(self.asked.generations)
        self.keeper, self.trainer = Resource(1), Resource(1)
        self.lost_at = [0.0] * self.workers

    def at(self, seconds: float, what: Callable[[], None]) -> None:
        self.number += 1
        heapq.heappush(self.events, (self.now + seconds, self.number, what))

    def start(self, process: Generator[Event, None, None]) -> None:
        """Run it to its next wait."""
        event = next(process, None)
        if event is None:
            return
        kind, given = event

        def go_on() -> None:
            self.start(process)

        if kind == "wait":
            self.at(given, go_on)
        elif kind == "until":
            given.append(go_on)
        else:
            self.hold(*given, go_on)

    def hold(self, resource: Resource, seconds: float, done: Callable[[], None]) -> None:
        """Take a place, once there is one, for so long."""

        def begin() -> None:
            resource.used += 1
            resource.busy += min(seconds, max(self.end - self.now, 0.0))
            self.at(seconds, leave)

        def leave() -> None:
            resource.used -= 1
            if resource.queue:
                resource.queue.popleft()()
            done()

        if resource.used < resource.places:
            begin()
        else:
            resource.queue.append(begin)

    def environment(self, place: int) -> Generator[Event, None, None]:
        """Plays one episode after another on its worker."""
        worker, draw = place % self.workers, self.dice.choice
        while True:
            while self.must_wait():
                yield "until", self.waiting
            version, self.begun = self.version, self.begun + 1
            is_whole, cuts = False, 0
            while not is_whole and cuts < MOST_CUTS:
                since = self.now
                yield "hold", (self.cores[worker], draw(self.measured.resets))
                for _ in range(draw(self.measured.lengths)):
                    yield "hold", (self.model, self.think())
                    yield "hold", (self.cores[worker], draw(self.measured.steps))
                    yield "hold", (self.keeper, self.asked.keeping)
                    self.counts["steps"] += 1
                    if self.lost_at[worker] > since:
                        break
                is_whole = self.lost_at[worker] <= since
                if not is_whole:
                    cuts += 1
                    self.counts["cut off"] += 1
                    yield "wait", self.asked.comeback
            if not is_whole:
                self.counts["lost"] += 1
                continue
            self.counts["episodes"] += 1
            self.batch.append(version)
            if len(self.batch) >= self.asked.batch:
                taken, self.batch = self.batch[: self.asked.batch], self.batch[self.asked.batch :]
                self.start(self.train(taken))

    def must_wait(self) -> bool:
        """Whether an episode begun now would come too late."""
        ahead = self.begun // self.asked.batch - self.version
        return ahead > (self.asked.cap if self.is_decoupled else 0)

    def train(self, taken: list[int]) -> Generator[Event, None, None]:
        yield "hold", (self.trainer, self.asked.training)
        for version in taken:
            self.staleness[self.version - version] += 1
        self.version += 1
        woken, self.waiting = self.waiting, []
        for go_on in woken:
            go_on()

    def think(self) -> float:
        if self.asked.thinking:
            return self.dice.lognormvariate(math.log(self.asked.thinking), 0.5)
        return self.dice.choice(self.measured.decisions)

    def losses(self, worker: int) -> Generator[Event, None, None]:
        while True:
            yield "wait", self.dice.expovariate(1 / (3600 * self.asked.hours_to_loss))
            self.lost_at[worker] = self.now
            self.counts["losses"] += 1

    def run(self) -> dict[str, Any]:
        self.end = 3600 * self.asked.hours
        for worker in range(self.workers):
            self.start(self.losses(worker))
        for place in range(self.asked.environments):
            self.start(self.environment(place))
        while self.events and self.events[0][0] < self.end:
            self.now, _, what = heapq.heappop(self.events)
            what()
        return self.tell()

    def tell(self) -> dict[str, Any]:
        """Shares are of the places there are; money for the whole time."""
        cores = self.workers * self.asked.cores
        shares = {
            "browsers": sum(core.busy for core in self.cores) / cores / self.end,
            "model": self.model.busy / self.asked.generations / self.end,
            "keeper": self.keeper.busy / self.end,
            "trainer": self.trainer.busy / self.end,
        }
        hourly = cores * self.asked.core_price + self.asked.gpus * self.asked.gpu_price
        seen = sorted(self.staleness.elements())
        return {
            "workers": self.workers,
            "mode": "decoupled" if self.is_decoupled else "synchronous",
            "steps/s": self.counts["steps"] / self.end,
            "episodes/h": self.counts["episodes"] * 3600 / self.end,
            **{name: f"{share:.0%}" for name, share in shares.items()},
            "staleness": f"{statistics.fmean(seen):.1f}/{seen[-1]}" if seen else "-",
            "cut off": self.counts["cut off"],
            "lost": self.counts["lost"],
            "$/h": hourly,
            "$/1000": 1000 * hourly / max(self.counts["episodes"] * 3600 / self.end, 1e-9),
            "full": max(shares, key=lambda name: shares[name]),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("run", type=Path)
    for name, usual, what in (
        ("environments", 1000, "at once, over all workers"),
        ("cores", 4, "of a worker"),
        ("generations", 256, "replies that the model's server writes at once"),
        ("batch", 512, "episodes that are trained on at a time"),
        ("cap", 4, "versions between an episode's weights and the newest"),
        ("gpus", 8, "of server and trainer together"),
        ("seed", 0, "of all draws"),
    ):
        parser.add_argument(f"--{name}", type=int, default=usual, help=f"{what} ({usual})")
    for name, number, what in (
        ("factor", 1.0, "of the run's browser times; below 1 where its machine was busy"),
        ("thinking", 0.0, "median seconds of a decision; the run's own where 0"),
        ("keeping", 0.004, "seconds that the one process takes for a step"),
        ("training", 120.0, "seconds of a batch's training"),
        ("hours", 1.0, "simulated"),
        ("hours-to-loss", 100.0, "from one loss of a worker to its next, on average"),
        ("comeback", 60.0, "seconds until a lost worker's episodes are begun again"),
        ("core-price", 0.04, "of a core's hour"),
        ("gpu-price", 2.5, "of a GPU's hour"),
    ):
        parser.add_argument(f"--{name}", type=float, default=number, help=f"{what} ({number:g})")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 8, 64])
    asked = parser.parse_args()
    measured = Measured.read(asked.run, asked.factor)
    told = {
        name: [round(statistics.median(values), 3), round(max(values), 3), len(values)]
        for name, values in vars(measured).items()
    }
    print(f"median, largest, count: {json.dumps(told)}")
    rows = [
        Simulation(measured, asked, workers, is_decoupled).run()
        for workers in asked.workers
        for is_decoupled in (False, True)
    ]
    print("| " + " | ".join(rows[0]) + " |\n|" + " --- |" * len(rows[0]))
    for row in rows:
        cells = [f"{cell:,.1f}" if isinstance(cell, float) else str(cell) for cell in row.values()]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
