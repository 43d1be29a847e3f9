"""Steps and episode starts beside another checkout's, episode by episode in turn, so that what else
the machine does falls on both.

    python perf/beside.py OTHER [--episodes 150]

OTHER is a folder with a `.venv`, such as a worktree of an earlier commit. Prints for text alone and
for text with screenshot and accessibility tree the median ratio of this checkout to the other, with
a 95 % interval by resampling, and both medians in milliseconds. MiniWoB++ is played.
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESAMPLES = 400


async def play_on_request(checkout: str) -> None:
    """Play an episode for each line on standard input, `text` or `full` and a number; print the
    milliseconds of its start and of its steps. Runs in the checkout's own Python."""
    sys.path[:0] = [checkout, f"{checkout}/perf"]
    import steps

    from benchmarks.miniwob import tasks as miniwob
    from webagent.browser import Browser
    from webagent.observation import render
    from webagent.observation.variants import VARIANTS

    tasks = [miniwob.task(steps.TASKS[index % len(steps.TASKS)], index) for index in range(1000)]
    async with Browser() as browser:
        variant = VARIANTS["accessibility"]
        worlds = {
            "text": await browser.world(),
            "full": await browser.world(lambda image: "", variant=variant),
        }
        for world in worlds.values():
            await steps.play(world, tasks[:6])
        print("ready", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            kind, number = line.split()
            world, task = worlds[kind], tasks[int(number)]
            began = time.perf_counter()
            page = await world.reset(task)
            times = [time.perf_counter() - began]
            for action in steps.plan(page):
                began = time.perf_counter()
                render(await world.step(action))
                times.append(time.perf_counter() - began)
            print(json.dumps([1000 * each for each in times]), flush=True)


def compare(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Return the median ratio of pairs with its interval, and both medians."""
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    resampled = (random.choices(ratios, k=len(ratios)) for _ in range(RESAMPLES))
    medians = sorted(map(statistics.median, resampled))
    low, high = medians[RESAMPLES // 40], medians[-RESAMPLES // 40]
    both = f"{statistics.median(ours):.1f} and {statistics.median(theirs):.1f} ms"
    return f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f}), {both}, n {len(ratios)}"


def main() -> None:
    """Play in turn and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--episodes", type=int, default=150)
    parser.add_argument("--play", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.play:
        return asyncio.run(play_on_request(str(given.other)))
    players = [
        subprocess.Popen(
            [root / ".venv/bin/python", __file__, root, "--play"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for root in (ROOT, given.other.resolve())
    ]

    def ask(player: subprocess.Popen[str], line: str) -> list[float]:
        assert player.stdin is not None and player.stdout is not None
        player.stdin.write(f"{line}\n")
        player.stdin.flush()
        times: list[float] = json.loads(player.stdout.readline())
        return times

    for player in players:
        if player.stdout is None or player.stdout.readline() != "ready\n":
            raise SystemExit("a checkout does not play; see above")
    for kind in ("text", "full"):
        pairs = []
        for number in range(given.episodes):
            order = players if number % 2 else players[::-1]
            times = {player.pid: ask(player, f"{kind} {number}") for player in order}
            pairs.append([times[player.pid] for player in players])
        starts = [[times[0] for times in side] for side in zip(*pairs, strict=True)]
        taken = [[ms for times in side for ms in times[1:]] for side in zip(*pairs, strict=True)]
        print(f"{kind}, episode start: {compare(*starts)}", flush=True)
        print(f"{kind}, step: {compare(*taken)}", flush=True)
    for player in players:
        player.communicate()


if __name__ == "__main__":
    main()
