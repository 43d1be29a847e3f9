"""What an assistant's calls cost: tokens of a reply and milliseconds, beside a plain world.

    python perf/assistant_calls.py --rounds 5

Every page of tests/pages is opened by `open_session` and `goto` over standard input, looked at and
acted on once; a world of this process does the same on the same pages, in turns. Tokens are
estimated at 3.5 characters each.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from tasks.task import Task
from webagent.action.actions import Goto, Hover
from webagent.browser import Browser, BrowserWorld
from webagent.guard import Guard, GuardPolicy

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "tests" / "pages"
_LEFT_OUT = {"bomb", "hang", "timers"}
"""Pages that are made to take time."""

Reply = TypeVar("Reply")


async def timed(work: Awaitable[Reply], into: list[float]) -> Reply:
    """What the work gives; its milliseconds are noted."""
    began = time.perf_counter()
    reply = await work
    into.append((time.perf_counter() - began) * 1000)
    return reply


def tokens(reply: CallToolResult) -> float:
    """Of the reply's text."""
    return sum(len(block.text) for block in reply.content if block.type == "text") / 3.5


class Table:
    """Milliseconds and tokens by what was done."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, list[float]] = {}
        self.tokens: dict[str, list[float]] = {}

    def row(self, name: str) -> list[float]:
        """Where milliseconds go."""
        return self.milliseconds.setdefault(name, [])

    def note(self, name: str, reply: CallToolResult) -> None:
        """Take in how long a reply was."""
        self.tokens.setdefault(name, []).append(tokens(reply))

    def show(self) -> None:
        """Print the medians."""
        for name, taken in self.milliseconds.items():
            long = self.tokens.get(name)
            said = f"{statistics.median(long):7.0f} tokens, most {max(long):.0f}" if long else ""
            print(f"{name:<18} {statistics.median(taken):8.1f} ms  n={len(taken):<4} {said}")


async def by_calls(client: Client, session: str, url: str, table: Table) -> None:
    """Open, look and act as an assistant does."""
    steps = (("goto", {"url": url}), ("observe", {}), ("hover", {"mark": 1}))
    for tool, more in steps:
        call = client.call_tool(tool, {"session": session, **more})
        table.note(f"mcp {tool}", await timed(call, table.row(f"mcp {tool}")))


async def by_world(world: BrowserWorld, url: str, table: Table) -> None:
    """The same without a protocol between."""
    await timed(world.step(Goto(url)), table.row("world goto"))
    await timed(world.look(), table.row("world look"))
    await timed(world.step(Hover(1)), table.row("world hover"))


async def measure(rounds: int) -> None:
    """Print the table."""
    table = Table()
    urls = [path.as_uri() for path in sorted(PAGES.glob("*.html")) if path.stem not in _LEFT_OUT]
    with tempfile.TemporaryDirectory() as folder:
        guard = Path(folder) / "guard.toml"
        guard.write_text(f'open_folders = ["{PAGES}"]\n', encoding="utf-8")
        flags = ["-m", "recipes.cli", "mcp", "--guard", str(guard)]
        started = StdioServerParameters(
            command=sys.executable, args=flags, cwd=str(ROOT), env={"PYTHONPATH": str(ROOT)}
        )
        policy = GuardPolicy(open_folders=(PAGES,))
        async with Client(started) as client, Browser(guard=Guard.of(policy)) as browser:
            listed = await client.list_tools()
            size = len(listed.model_dump_json(by_alias=True, exclude_none=True)) / 3.5
            print(f"{len(listed.tools)} tools, {size:.0f} tokens")
            opened = await timed(client.call_tool("open_session", {}), table.row("mcp open"))
            session = next(b.text for b in opened.content if b.type == "text").split()[1]
            world = await browser.world()
            await world.reset(Task("perf/mcp@1", "about:blank", clock="real"))
            for _ in range(rounds):
                for url in urls:
                    await by_calls(client, session, url, table)
                    await by_world(world, url, table)
            await world.close()
    table.show()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(measure(parser.parse_args().rounds))
