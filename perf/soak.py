"""Many episodes while browsers, renderers, drivers, workers and the network are broken.

    python perf/soak.py [--json] [--episodes 3000] [--faults-per-1000 30]
    python perf/soak.py --live 64 --thinking 20 --episodes 2400 --faults-per-1000 10

Two workers, processes of their own with a browser each, play one plan of MiniWoB++ tasks and of
tasks on a local site, `--live` episodes at once, each step after `--thinking` seconds (half to one
and a half of them). Each task is first played undisturbed; what it earns then it must earn under
faults. Printed are the account of all episodes, attempts and failures by kind, memory with its
slope, and what was left behind. Exits with 1 unless every episode is accounted for with the right
reward and nothing is left.
"""

import asyncio
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import psutil
from rows import Row, options, row, show

from benchmarks.miniwob import tasks as miniwob
from benchmarks.oracles import OraclePolicy
from tasks.task import Json, PageHooks, Task
from webagent.action import Action
from webagent.action.actions import Click
from webagent.browser import Browser, BrowserLimits
from webagent.browser.engine import remove_orphans
from webagent.policy.policy import ScriptedPolicy
from webagent.records import Decision, Observation, Provenance, Trajectory
from webagent.rollout import PlannedEpisode, collect, plan_episodes
from webagent.store import Store

TASKS = ("click-test-2", "click-button", "enter-text", "login-user", "click-option", "click-tab-2")
SEEDS = 5
WORKERS = 2
RETRIES = 10
"""A browser that is killed takes all of its episodes with it."""
SITE = "site/save@1"
OUTAGE_SECONDS = 1.0
RIGHT, WRONG = "episodes with the right reward", "episodes with a wrong reward"
MISSING, OPEN = "episodes without a result", "attempts left open"
AT_ONCE = "live at once, for half of the time or more"
OVER = PageHooks(over="window.saved")
PAGE = """<!DOCTYPE html><title>Save</title><p id=said>not saved</p><button>Save</button>
<script>
document.querySelector("button").onclick = async () => {
  try { await fetch("/save"); window.saved = true; said.textContent = "saved"; }
  catch (error) { said.textContent = "not saved, try again " + Math.random(); }
};
</script>"""


@dataclass(frozen=True, slots=True)
class Pace:
    """How many episodes are played at once, and how long their policy thinks."""

    live: int = 4
    thinking: float = 0.0
    """Seconds a step on average."""


class Site:
    """A local site whose network can be dropped: then it hangs up after a moment, unanswered."""

    def __init__(self) -> None:
        self.url = ""
        self._back_at = 0.0

    async def start(self) -> None:
        self._listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"

    def drop(self) -> None:
        self._back_at = time.monotonic() + OUTAGE_SECONDS

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            if time.monotonic() < self._back_at:
                await asyncio.sleep(0.3)
            else:
                head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(PAGE)}"
                writer.write(f"{head}\r\nConnection: close\r\n\r\n{PAGE}".encode())
                await writer.drain()
        writer.close()


@dataclass(frozen=True, slots=True)
class Script:
    """Thinks, then solves each task by its oracle, and the site's by saving until it is saved."""

    thinking: float
    """Seconds a step on average."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        await asyncio.sleep(self.thinking * random.uniform(0.5, 1.5))
        if trajectory.task.id == SITE:
            return await ScriptedPolicy(_save).act(trajectory, observation)
        return await OraclePolicy(trajectory.task.name).act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        return [await self.act(trajectory, observation)]


def _save(_: Trajectory, observation: Observation) -> Action | None:
    button = next(node.mark for node in observation.nodes if node.role == "button")
    return Click(button)


def task_of(index: int, site: str) -> Task:
    """One task in seven is the site's; the others go round the list and the seeds."""
    kind, seed = index % (len(TASKS) + 1), index // (len(TASKS) + 1) % SEEDS
    if kind < len(TASKS):
        return miniwob.task(TASKS[kind], seed)
    reward = {"raw_reward": "window.saved ? 1 : 0"}
    return Task(SITE, site, "Save", seed, max_steps=30, evidence=reward, hooks=OVER, settle_ms=500)


def plan_of(episodes: int, site: str, phase: str) -> list[PlannedEpisode]:
    tasks = [task_of(index, site) for index in range(episodes)]
    return plan_episodes(tasks, Provenance(phase=phase))


async def work(folder: str, episodes: int, site: str, phase: str, part: int, *, pace: Pace) -> None:
    """Play one worker's part of the plan, or what is left of it; a line for each attempt."""
    plan = plan_of(episodes, site, phase)[part::WORKERS]
    with Store.open(Path(folder)) as store:
        async with Browser(
            limits=BrowserLimits(episodes=200), pages=pace.live // WORKERS
        ) as browser:
            await collect(
                plan,
                Script(pace.thinking),
                browser.world,
                concurrency=pace.live // WORKERS,
                recorder=store,
                retries=RETRIES,
                on_episode=lambda trajectory: print(trajectory.id, flush=True),
            )


@dataclass(slots=True)
class Soak:
    """A run under way: its workers, what was done to them and what they weighed."""

    folder: Path
    scratch: Path
    site: Site
    episodes: int
    dice: random.Random
    pace: Pace
    faults: Counter[str] = field(default_factory=Counter)
    weights: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    workers: dict[int, psutil.Process] = field(default_factory=dict)
    seen: set[psutil.Process] = field(default_factory=set)
    attempts: set[str] = field(default_factory=set)

    async def run(self, phase: str, episodes: int, per_1000: float) -> None:
        """Play the plan with faults at this rate until every worker has ended by itself."""
        self.attempts.clear()
        parts = [self._keep_working(part, phase, episodes) for part in range(WORKERS)]
        playing = asyncio.gather(*parts)
        due, next_weighing = 0, max(10, episodes // 30)
        while not playing.done():
            await asyncio.sleep(1.0 if self.pace.thinking else 0.2)
            self.seen.update(self._family())
            if len(self.attempts) >= next_weighing and per_1000:
                self.weights.append((len(self.attempts), self._weigh()))
                next_weighing += max(10, episodes // 30)
            while due < min(len(self.attempts), episodes) * per_1000 / 1000:
                due += 1
                self._break_something()
        await playing

    async def _keep_working(self, part: int, phase: str, episodes: int) -> None:
        pace = self.pace if phase == "soak" else Pace()
        command = [str(self.folder), str(episodes), self.site.url, phase, str(part)]
        command += [str(pace.live), str(pace.thinking)]
        while True:
            worker = await asyncio.create_subprocess_exec(
                sys.executable,
                __file__,
                "--work",
                *command,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, "TMPDIR": str(self.scratch)},
            )
            self.workers[part] = psutil.Process(worker.pid)
            assert worker.stdout
            async for line in worker.stdout:
                self.attempts.add(line.decode().strip())
            if await worker.wait() == 0:
                return
            if worker.returncode != -9:
                self.faults["worker that ended by itself"] += 1
                if self.faults["worker that ended by itself"] > RETRIES:
                    raise RuntimeError(f"workers end with {worker.returncode} time and again")

    def _family(self, part: int | None = None) -> list[psutil.Process]:
        found = []
        for number, worker in self.workers.items():
            if part in (None, number):
                with suppress(psutil.Error):
                    found += [worker, *worker.children(recursive=True)]
        return found

    def _break_something(self) -> None:
        """One fault, of a kind drawn at random; worker 0 is spared, so its memory can be told."""
        kind = self.dice.choice(("browser", "renderer", "driver", "worker", "network"))
        if kind == "network":
            self.site.drop()
        else:
            victims = [
                each for each in self._family(1 if kind == "worker" else None) if _is_of(each, kind)
            ]
            if not victims:
                return
            with suppress(psutil.Error):
                self.dice.choice(victims).kill()
        self.faults[kind] += 1

    def _weigh(self) -> dict[str, float]:
        """Megabytes of worker 0 by kind of process."""
        weight: Counter[str] = Counter()
        for process in self._family(0):
            with suppress(psutil.Error):
                kind = kind_of(process)
                if kind in ("worker", "driver"):
                    weight[kind] += process.memory_info().rss >> 20
                else:
                    weight["browser"] += process.memory_full_info().pss >> 20
        return dict(weight)

    def account(self) -> Counter[str]:
        """Where every planned episode has gone, and every attempt that failed."""
        book = Counter({name: 0 for name in (RIGHT, WRONG, MISSING, OPEN)})
        with Store.open(self.folder) as store:
            expected = {_name(each): _earned(each) for each in store.trajectories(phase="learn")}
            played = {each.provenance.index: each for each in store.trajectories(phase="soak")}
            for index in range(self.episodes):
                if index not in played:
                    book[MISSING] += 1
                else:
                    as_before = _earned(played[index]) == expected[_name(played[index])]
                    book[RIGHT if as_before else WRONG] += 1
            entries = store.entries("any", phase="soak")
            book[AT_ONCE] = at_once([(each.started, each.seconds) for each in entries])
            for entry in entries:
                book["attempts"] += 1
                if entry.ending is None:
                    book[OPEN] += 1
                elif entry.ending.is_infrastructure:
                    book[f"{entry.ending}: {_shape(entry.error)}"] += 1
        return book

    def left(self) -> list[str]:
        """Processes and temporary folders that have outlived the workers."""
        deadline = time.monotonic() + 10
        while (alive := list(filter(_is_alive, self.seen))) and time.monotonic() < deadline:
            time.sleep(0.1)
        tempfile.tempdir = str(self.scratch)
        remove_orphans()
        return [*map(str, alive), *map(str, self.scratch.iterdir())]


def kind_of(process: psutil.Process) -> str:
    """`worker`, `driver`, `browser`, `renderer`, or the browser's own word for another part."""
    line = " ".join(process.cmdline())
    if "--work" in line:
        return "worker"
    if "run-driver" in line:
        return "driver"
    kind = re.search(r"--type=([\w-]+)", line)
    return kind[1] if kind else "browser" if "--headless" in line else "wrapper"


def _is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _is_of(process: psutil.Process, kind: str) -> bool:
    with suppress(psutil.Error):
        return kind_of(process) == kind
    return False


def _earned(trajectory: Trajectory) -> Json:
    return trajectory.evidence.get("raw_reward")


def _name(trajectory: Trajectory) -> str:
    return f"{trajectory.task.id} {trajectory.task.seed}"


def _shape(error: str) -> str:
    """What kind of failure it was, without addresses and numbers."""
    return re.sub(r"\d+", "N", re.sub(r"\w+://\S+", "URL", error))[:70]


def at_once(spans: Sequence[tuple[float, float]]) -> int:
    """How many of these, each a beginning and a length in seconds, were live at once during at
    least half of the time from the first to the last."""
    changes = sorted([(at, 1) for at, _ in spans] + [(at + length, -1) for at, length in spans])
    lasting: defaultdict[int, float] = defaultdict(float)
    live = 0
    for (at, change), (later, _) in pairwise(changes):
        live += change
        lasting[live] += later - at
    half, found = sum(lasting.values()) / 2, 0.0
    for live in sorted(lasting, reverse=True):
        found += lasting[live]
        if found >= half:
            return live
    return 0


def slope(weights: Sequence[tuple[int, dict[str, float]]], kind: str) -> float:
    """Megabytes gained in 1,000 episodes, by least squares, the first fifth left out, and the
    moments at which it was not running."""
    points = [(at, weight[kind]) for at, weight in weights[len(weights) // 5 :] if weight.get(kind)]
    if len(points) < 3:
        return 0.0
    return statistics.linear_regression(*zip(*points, strict=True)).slope * 1000


def rows_of(soak: Soak, book: Counter[str], left: list[str], seconds: float) -> list[Row]:
    """Everything there is to say, as rows."""
    figures: dict[str, float] = {"episodes planned": soak.episodes, **book}
    figures |= {f"faults: {kind}": count for kind, count in sorted(soak.faults.items())}
    for kind in ("worker", "driver", "browser"):
        weights = [weight[kind] for _, weight in soak.weights if weight.get(kind)]
        if weights:
            figures[f"worker 0, {kind}: MB at first"] = weights[0]
            figures[f"worker 0, {kind}: MB at last"] = weights[-1]
            figures[f"worker 0, {kind}: MB at most"] = max(weights)
            figures[f"worker 0, {kind}: MB per 1,000 episodes"] = slope(soak.weights, kind)
    figures["left behind: processes and folders"] = len(left)
    figures["episodes a minute"] = soak.episodes / seconds * 60
    return [row(name, value, None, more_is_better=True) for name, value in figures.items()]


async def soak(episodes: int, per_1000: float, seed: int, pace: Pace) -> tuple[list[Row], bool]:
    """Play it all; the figures, and whether all is as it should be."""
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder, scratch = Path(name) / "run", Path(name) / "scratch"
        scratch.mkdir()
        Store.open(folder, create=True).close()
        site = Site()
        await site.start()
        run = Soak(folder, scratch, site, episodes, random.Random(seed), pace)
        await run.run("learn", (len(TASKS) + 1) * SEEDS, 0)
        began = time.monotonic()
        await run.run("soak", episodes, per_1000)
        book, left = run.account(), run.left()
        for each in left:
            print(f"left behind: {each}", file=sys.stderr)
        rows = rows_of(run, book, left, time.monotonic() - began)
    return rows, book[RIGHT] == episodes and not book[OPEN] and not left


def main() -> None:
    """Soak and print; as a worker, play."""
    if sys.argv[1:2] == ["--work"]:
        folder, episodes, site, phase, part, live, thinking = sys.argv[2:]
        pace = Pace(int(live), float(thinking))
        asyncio.run(work(folder, int(episodes), site, phase, int(part), pace=pace))
        return
    parser = options(__doc__)
    parser.add_argument("--episodes", type=int, default=3000)
    parser.add_argument("--faults-per-1000", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0, help="of the faults")
    parser.add_argument("--live", type=int, default=4, help="episodes at once")
    parser.add_argument("--thinking", type=float, default=0.0, help="seconds a step")
    chosen = parser.parse_args()
    pace = Pace(chosen.live, chosen.thinking)
    rows, is_right = asyncio.run(soak(chosen.episodes, chosen.faults_per_1000, chosen.seed, pace))
    show(rows, as_json=chosen.json)
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()
