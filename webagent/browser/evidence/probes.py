"""A task's probes, made one after the other once the agent is done."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from playwright.async_api import Error as PlaywrightError

from tasks.task import Json, Probe, Task
from webagent.browser.evidence.addresses import address_of, own_addresses
from webagent.browser.evidence.missing import Uncaptured
from webagent.browser.evidence.pictures import pictures
from webagent.browser.evidence.sight import Sight
from webagent.browser.evidence.visit import visit
from webagent.browser.page.clock import RealClock, VirtualClock
from webagent.browser.page.tab import Tab
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError

PROBE_SECONDS = 15.0
ALL_SECONDS = 30.0
"""Half of what a world usually has for its evidence."""
_ALIVE_SECONDS = 3.0
_TAKES = ("value", "source", "pictures")


class Probes:
    """One run through the probes of a task; what was found and what was not."""

    def __init__(
        self, task: Task, tabs: Tabs, keep_image: Callable[[bytes], str] | None = None
    ) -> None:
        self.found: dict[str, Json] = {}
        self.uncaptured: dict[str, Json] = {}
        """Name to reason."""
        self._task = task
        self._tabs = tabs
        self._keep_image = keep_image
        self._front = _front(tabs)
        self._visits = AsyncExitStack()
        self._visited: tuple[str, Sight] | None = None
        self._closed: dict[str, str] = {}

    async def run(self) -> None:
        """Make all of them, in so many seconds. Raises `WorldError` when the browser is gone."""
        end = time.monotonic() + ALL_SECONDS
        async with self._visits:
            for probe in self._task.probes:
                seconds = min(PROBE_SECONDS, end - time.monotonic())
                try:
                    if seconds <= 0:
                        raise Uncaptured(f"the probes before it took all of {ALL_SECONDS:g} s")
                    async with asyncio.timeout(seconds):
                        self.found[probe.name] = await self._find(probe)
                except Uncaptured as reason:
                    self.uncaptured[probe.name] = str(reason)
                except TimeoutError:
                    self.uncaptured[probe.name] = f"no answer within {seconds:.3g} s"
                except WorldError as error:
                    try:
                        async with asyncio.timeout(_ALIVE_SECONDS):
                            await self._tabs.context.cookies("http://localhost")
                    except (PlaywrightError, TimeoutError) as gone:
                        raise error from gone
                    self.uncaptured[probe.name] = str(error)

    async def _find(self, probe: Probe) -> Json:
        if probe.takes not in _TAKES:
            raise Uncaptured(f"a probe takes {', '.join(_TAKES)}, found {probe.takes!r}")
        async with self._sight(probe) as sight:
            for script in probe.prepare:
                await sight.prepare(script)
                clock = self._tabs.clock if sight.stands_still else RealClock()
                await clock.settle(sight.tab, self._task.settle_ms)
            if probe.takes == "source":
                return await sight.source()
            if probe.takes == "value":
                return await sight.value(probe.script)
            if self._keep_image is None:
                raise Uncaptured("there is no store to keep pictures in")
            return await pictures(sight, probe.script, self._keep_image)

    @asynccontextmanager
    async def _sight(self, probe: Probe) -> AsyncIterator[Sight]:
        """The page of a probe. Several in a row of the same address share it, but for those that
        prepare it."""
        if not probe.url:
            if self._front is None:
                raise Uncaptured("the agent left no tab open")
            await self._leave()
            async with self._front.dialogs.let_go():
                yield Sight(self._front, isinstance(self._tabs.clock, VirtualClock))
            return
        last = self._front.page.url if self._front else ""
        url = address_of(probe, last, self.found, [each.name for each in self._task.probes])
        if self._visited is None or self._visited[0] != url or probe.prepare:
            await self._leave()
            self._visited = (url, await self._open(url))
        try:
            yield self._visited[1]
        except (Uncaptured, WorldError, TimeoutError, asyncio.CancelledError):
            self._visited = None
            raise
        if probe.prepare:
            await self._leave()

    async def _open(self, url: str) -> Sight:
        """The page at an address, which is tried once only."""
        if url in self._closed:
            raise Uncaptured(self._closed[url])
        self._closed[url] = f"{url} gave no answer to the probe before"
        opening = visit(self._tabs, url, own_addresses(self._task.probes), self._task.hooks.init)
        try:
            sight = await self._visits.enter_async_context(opening)
        except Uncaptured as reason:
            self._closed[url] = str(reason)
            raise
        del self._closed[url]
        return sight

    async def _leave(self) -> None:
        self._visited = None
        await self._visits.aclose()


def _front(tabs: Tabs) -> Tab | None:
    """The tab in front, else the first that is open."""
    return next((tab for tab in (tabs.active, tabs.first) if not tab.page.is_closed()), None)
