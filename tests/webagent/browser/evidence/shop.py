"""A world at a small shop, with tasks that start in it."""

from dataclasses import dataclass
from typing import Any

from tasks.task import Probe, Task
from tests.fakes.site import Site
from tests.local_pages import mark_of
from webagent.action import Action
from webagent.action import actions as act
from webagent.browser import BrowserWorld
from webagent.records import Observation


def probe(name: str, path: str = "", script: str = "document.title", **fields: Any) -> Probe:
    """Return a probe that takes a value."""
    return Probe(name, url=path, script=script, **fields)


@dataclass
class Shop:
    """The site, and a world that plays there."""

    site: Site
    world: BrowserWorld

    def url(self, path: str) -> str:
        """Return a whole address."""
        return self.site.address + path

    def task(self, path: str = "/", *, probes: tuple[Probe, ...] = (), **fields: Any) -> Task:
        """Return a task that starts in the shop."""
        return Task(id="t/shop@1", start_url=self.url(path), probes=probes, **fields)

    async def step(self, action: Action) -> Observation:
        """Do the action."""
        return await self.world.step(action)

    async def play(self, task: Task, *names: str) -> dict[str, Any]:
        """Return the evidence once these elements were clicked."""
        page = await self.world.reset(task)
        for name in names:
            page = await self.world.step(act.Click(mark_of(page, name)))
        return dict(await self.world.evidence(task))

    async def find(self, *probes: Probe, **fields: Any) -> dict[str, Any]:
        """Return what these probes find at the start."""
        return await self.play(self.task(probes=probes, **fields))
