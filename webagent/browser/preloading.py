"""The pages of the episode to come, opened while nobody needs the processor."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from tasks.task import Task
from webagent.browser.sessions.login import LoginsOf
from webagent.browser.sessions.profile import Profile, add_login
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError
from webagent.timing import Background, uncounted

_SILENCE_SECONDS = 0.002
"""A policy that has been silent for so long is thinking; then there is time for other work."""


class TabSource(Protocol):
    """Where a world gets its pages from: a browser that stays warm."""

    async def open_tabs(self, task: Task, profile: Profile) -> Tabs:
        """Return a fresh context for the task, as the profile asks, with one empty tab in it."""

    def renew(self, tabs: Tabs) -> None:
        """Note that the tabs are in use. Raises `WorldError` when they are lost."""

    async def close_tabs(self, tabs: Tabs) -> None:
        """Close a context and all that is in it. Never raises."""


class PreloadSlots:
    """Room for pages that are kept ready, shared by all worlds of a browser.

    As many as there are processors: more could not be opened at once, and each takes memory.
    """

    def __init__(self, count: int | None = None) -> None:
        self.free = (os.cpu_count() or 1) if count is None else count

    def take(self) -> bool:
        """Return one of them, if any is free."""
        is_free = self.free > 0
        self.free -= is_free
        return is_free

    def give_back(self) -> None:
        """Free one that was taken."""
        self.free += 1


class StartSlots:
    """Room for episodes that are starting, shared by all worlds of a browser.

    Where many start at once on few processors, all of them would be too late; so some wait for
    their turn, which no time limit counts.
    """

    def __init__(self, count: int | None = None) -> None:
        self._free = asyncio.Semaphore(count or max(8, 4 * (os.cpu_count() or 1)))

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a place, and keep it for the block."""
        with uncounted():
            await self._free.acquire()
        try:
            yield
        finally:
            self._free.release()


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Pages that are open or will be."""

    task: Task
    profile: Profile
    """With the task's login."""
    url: str
    """What is loaded in them; empty for a blank page."""
    turn: asyncio.Event
    """Set when they are to be opened."""
    tabs: asyncio.Task[Tabs]

    def fits(self, task: Task, profile: Profile) -> bool:
        """Return whether another task can be played in them, its address apart."""
        needs = [
            (each.hooks.init, each.viewport, each.clock, "network" in each.records)
            for each in (self.task, task)
        ]
        return needs[0] == needs[1] and self.profile == profile


class PagePreloader:
    """What one world has ready for its next episode.

    A new page costs as much as several steps. So it is opened while the policy thinks, if there is
    a place for it, and else once it is wanted.
    """

    def __init__(
        self,
        source: TabSource,
        profile: Profile,
        places: PreloadSlots,
        logins: LoginsOf | None = None,
    ) -> None:
        self._source = source
        self._profile = profile
        self._logins = logins
        self._places = places
        self._has_place = False
        self._next: _Prepared | None = None
        self._is_silent = True
        self._silence_timer: asyncio.TimerHandle | None = None
        self._background = Background()

    @contextmanager
    def wait(self) -> Iterator[None]:
        """Keep the processor for the episode being played."""
        if self._silence_timer is not None:
            self._silence_timer.cancel()
        self._is_silent = False
        try:
            yield
        finally:
            loop = asyncio.get_running_loop()
            self._silence_timer = loop.call_later(_SILENCE_SECONDS, self._open_in_silence)

    def begin(self, task: Task, url: str) -> None:
        """Have pages for the task, with the address loaded in them; a blank one if it is empty.

        Nothing is ready for a task that nobody can log in for: `take` will say so.
        """
        try:
            profile = add_login(self._profile, task, self._logins)
        except WorldError:
            self.drop()
            return
        self._next = self._fitting(task, profile, url)
        if self._is_silent:
            self._open_in_silence()

    async def take(self, task: Task) -> Tabs:
        """Return pages with the task's address loaded, prepared or fresh. Raises `WorldError`."""
        profile = add_login(self._profile, task, self._logins)
        was_prepared = self._next is not None and self._next.fits(task, profile)
        try:
            return await self._take(task, profile)
        except WorldError:
            if not was_prepared:
                raise
        return await self._take(task, profile)  # the browser may have died since they were prepared

    def drop(self) -> None:
        """Have nothing ready."""
        dropped, self._next = self._next, None
        self._leave_place()
        if dropped is None:
            return

        async def close_when_open(opening: asyncio.Task[Tabs]) -> None:
            with suppress(WorldError):
                await self._source.close_tabs(await opening)

        if dropped.turn.is_set():
            self._background.start(close_when_open(dropped.tabs))
        else:
            dropped.tabs.cancel()

    async def close(self) -> None:
        """Have nothing ready, and wait until all of it is closed."""
        self.drop()
        await self._background.finish()

    async def _take(self, task: Task, profile: Profile) -> Tabs:
        ready = self._fitting(task, profile, task.start_url)
        self._next = None
        self._leave_place()
        ready.turn.set()
        tabs = await ready.tabs
        self._source.renew(tabs)
        return tabs

    def _fitting(self, task: Task, profile: Profile, url: str) -> _Prepared:
        """Return the pages that are prepared, where they fit, else others; loaded once opened."""

        async def open_tabs(turn: asyncio.Event) -> Tabs:
            await turn.wait()
            return await self._source.open_tabs(task, profile)

        async def load(opening: asyncio.Task[Tabs]) -> Tabs:
            tabs = await opening
            async with AsyncExitStack() as undo:
                undo.push_async_callback(self._source.close_tabs, tabs)
                self._source.renew(tabs)
                await tabs.start(url, task.site)
                undo.pop_all()
            return tabs

        ready = self._next
        if ready is None or not ready.fits(task, profile) or ready.url not in ("", url):
            self.drop()
            turn = asyncio.Event()
            ready = _Prepared(task, profile, "", turn, asyncio.create_task(open_tabs(turn)))
        if ready.url != url:
            loading = asyncio.create_task(load(ready.tabs))
            ready = _Prepared(task, profile, url, ready.turn, loading)
        return ready

    def _open_in_silence(self) -> None:
        """Open what is prepared, if there is a place for it, while the policy thinks."""
        self._is_silent = True
        if self._next is not None:
            self._has_place = self._has_place or self._places.take()
            if self._has_place:
                self._next.turn.set()

    def _leave_place(self) -> None:
        if self._has_place:
            self._has_place = False
            self._places.give_back()
