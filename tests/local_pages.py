"""The local pages, opened by name, and their elements, found by what they are called."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Goto
from webagent.browser import BrowserWorld
from webagent.records import Observation

PAGES = Path(__file__).parent / "pages"
MakeTask = Callable[..., Task]


def make_page_task(name: str, **fields: Any) -> Task:
    """Return a task on one of the local pages: `make_page_task("form", clock="real")`."""
    return Task(id=f"page/{name}@1", start_url=(PAGES / f"{name}.html").as_uri(), **fields)


def mark_of(page: Observation, name: str) -> int:
    """Return the mark of the element with this name."""
    return next(node.mark for node in page.nodes if node.mark and node.name == name)


class LocalWorld:
    """A world for one test, opened at local pages by their names or at pages written for it."""

    def __init__(self, world: BrowserWorld, folder: Path) -> None:
        """Pages are written into the folder."""
        self._world = world
        self._folder = folder

    async def open(self, name: str, **fields: Any) -> Observation:
        """Start a task on this page."""
        return await self._world.reset(make_page_task(name, **fields))

    async def show(self, source: str, **fields: Any) -> Observation:
        """Start a task on a page with this source."""
        path = self._folder / "page.html"
        path.write_text(source, encoding="utf-8")
        return await self._world.reset(Task("page/shown@1", path.as_uri(), **fields))

    async def step(self, action: Action) -> Observation:
        """Do the action."""
        return await self._world.step(action)

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page, which the agent does not see happen."""
        return await self._world.tabs().active.evaluate(expression)


class Gallery:
    """A world for tests that only look at pages: nobody moves its mouse or types."""

    def __init__(self, world: BrowserWorld, folder: Path) -> None:
        """Pages are written into the folder."""
        self._world = world
        self._folder = folder
        self._shown = 0

    async def show(self, source: str) -> Observation:
        """Go to a page with this source, the first of which starts the task, and return it with
        marks from 1 on, as if it were alone."""
        self._shown += 1
        path = self._folder / f"{self._shown}.html"
        path.write_text(source, encoding="utf-8")
        if self._shown == 1:
            return await self._world.reset(Task("page/shown@1", path.as_uri()))
        page = await self._world.step(Goto(path.as_uri()))
        before = min((node.mark for node in page.nodes if node.mark), default=1) - 1
        marked = (replace(node, mark=node.mark and node.mark - before) for node in page.nodes)
        return replace(page, nodes=tuple(marked))
