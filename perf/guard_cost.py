"""What a guard costs an episode: starts and steps with and without one, in turns, in one run.

    python perf/guard_cost.py --episodes 30

Pages on disk are MiniWoB's own; pages of a site come from a little server on this machine, each
with ten parts. The two browsers take turns episode by episode, so that a busy machine slows both.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence

from benchmarks.miniwob import tasks as miniwob
from tasks.task import Task
from webagent.action.actions import Click
from webagent.browser import Browser, BrowserWorld
from webagent.guard import Guard, GuardPolicy

_PARTS = 10
_STEPS = 5


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A page with ten pictures, or one of the pictures."""
    try:
        while line := await reader.readuntil(b"\r\n\r\n"):
            is_page = line.startswith(b"GET / ")
            parts = "".join(f"<img src=/{n}.png>" for n in range(_PARTS))
            body = f"<button>Go</button>{parts}".encode() if is_page else b""
            kind = b"text/html" if is_page else b"image/png"
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
                % (kind, len(body))
                + body
            )
    except (asyncio.IncompleteReadError, OSError):
        writer.close()


async def play(world: BrowserWorld, task: Task) -> tuple[float, float]:
    """Milliseconds of a start and of a step."""
    started = time.perf_counter()
    page = await world.reset(task)
    began = time.perf_counter()
    mark = next(node.mark for node in page.nodes if node.mark)
    for _ in range(_STEPS):
        await world.step(Click(mark))
    ended = time.perf_counter()
    return (began - started) * 1000, (ended - began) * 1000 / _STEPS


async def compare(name: str, tasks: Sequence[Task], worlds: Sequence[BrowserWorld]) -> None:
    """Both worlds in turns; the medians of each, and of the differences."""
    played = [[await play(world, task) for world in worlds] for task in tasks][2:]
    for what, place in (("start", 0), ("step", 1)):
        free, held = ([each[n][place] for each in played] for n in (0, 1))
        more = statistics.median(b - a for a, b in zip(free, held, strict=True))
        print(
            f"{name:<24} {what:<6} without {statistics.median(free):7.1f} ms   "
            f"with {statistics.median(held):7.1f} ms   more {more:+6.1f} ms"
        )


async def measure(episodes: int) -> None:
    """Print the table."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    guard = Guard(GuardPolicy()).opening(miniwob.pages().parent)
    async with Browser() as free, Browser(guard=guard) as held:
        worlds = [await free.world(), await held.world()]
        on_disk = [miniwob.task("click-test-2", seed) for seed in range(episodes + 2)]
        await compare("MiniWoB, on disk", on_disk, worlds)
        on_site = [Task(f"site/{n}@1", f"http://127.0.0.1:{port}/") for n in range(episodes + 2)]
        await compare(f"a site, {_PARTS} parts, virtual", on_site, worlds)
    server.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=30)
    asyncio.run(measure(parser.parse_args().episodes))
