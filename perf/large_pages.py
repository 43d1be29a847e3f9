"""What large pages cost: processor seconds of a reset and of an action, beside a page of 100 rows.

    python perf/large_pages.py [--clock real] [--json]

Processor time of the browser, its driver and this program together, which other work on the machine
changes little. An action is a click on a page's first button, or a choice from its list.
"""

import asyncio
import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from rows import Row, options, row, show

from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Click, SelectOption
from webagent.browser import Browser
from webagent.observation import render
from webagent.records import Observation

STEPS = 5
_CELLS = "<tr><td>{0}<td><a href='#{0}'>Item {0}</a><td><button>Buy {0}</button><td><input>"


def table(rows: int) -> str:
    """A table with a link, a button and a field in every row."""
    return "<!doctype html><table>" + "".join(map(_CELLS.format, range(rows))) + "</table>"


def choice(count: int) -> str:
    """A list of so many options."""
    lines = "".join(f"<option>Option {number}</option>" for number in range(count))
    return f"<!doctype html><select aria-label=Choice>{lines}</select>"


def act_on(page: Observation, number: int) -> Action:
    """A click on the first button, else another choice from the list."""
    for node in page.nodes:
        if node.role == "button":
            return Click(node.mark)
        if node.role == "combobox":
            return SelectOption(node.mark, f"Option {number + 1}")
    raise AssertionError("a page without a button or a list")


PAGES: dict[str, Callable[[], str]] = {
    "a table of 5,000 rows": lambda: table(5000),
    "a list of 50,000 options": lambda: choice(50_000),
}


async def cost(source: str, clock: str) -> tuple[float, float]:
    """Processor seconds of the reset, and of an action with its text (median)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(source, encoding="utf-8")
        async with Browser() as browser:
            world = await browser.world()
            await world.reset(Task("perf/empty@1", "data:text/html,", clock=clock))
            before = spent()
            page = await world.reset(Task("perf/large@1", path.as_uri(), clock=clock))
            render(page)
            reset, steps = spent() - before, []
            for number in range(STEPS):
                before = spent()
                page = await world.step(act_on(page, number))
                render(page)
                steps.append(spent() - before)
            await world.close()
    return reset, statistics.median(steps)


def spent() -> float:
    """Processor seconds so far of this process and of those that it has started."""
    parents, seconds = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        number = int(entry.parent.name)
        parents[number] = int(fields[1])
        seconds[number] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    ours = {os.getpid()}
    while more := {each for each, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(seconds.get(each, 0.0) for each in ours)


async def measure(clock: str) -> list[Row]:
    """A row for the reset and one for the action of every page; the ratio is times the small."""
    small, rows = await cost(table(100), clock), []
    for name, source in PAGES.items():
        large = await cost(source(), clock)
        for what, mine, its in zip(("reset", "an action"), large, small, strict=True):
            rows.append(row(f"{name}, {what}, processor s", mine, its, more_is_better=True))
    return rows


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--clock", choices=("virtual", "real"), default="virtual")
    chosen = parser.parse_args()
    show(asyncio.run(measure(chosen.clock)), as_json=chosen.json)
