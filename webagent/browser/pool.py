"""Pages on loan: which browser they live in, how long they are kept, when a browser is replaced."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from webagent.browser.engine import BrowserProcess
from webagent.browser.tabs import Tabs
from webagent.errors import SetupError, WorldError
from webagent.timing import Background

logger = logging.getLogger(__name__)

_OPEN_SECONDS = 20.0
_CLOSE_SECONDS = 5.0
_CRASH_SECONDS = 0.5
_ROUND_SECONDS = 1.0
_WEIGH_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """When pages are taken back and browsers replaced."""

    lease_seconds: float = 1800.0
    """A page that nobody has used for so long is closed."""
    episodes: int = 1000
    """A browser that has served so many pages is replaced."""
    browser_seconds: float = 7200.0
    """A browser of this age is replaced."""
    megabytes: int = 2048
    """A browser is replaced when it takes more than this, `page_megabytes` for each page apart."""
    page_megabytes: int = 2048
    """A page whose renderer asks for more private memory crashes (Linux)."""
    pages: int = 64
    """With so many pages open a browser takes no more, and another one is started."""


@dataclass(slots=True, eq=False)
class _Lease:
    """The right to a context of a browser; each use renews it."""

    tabs: Tabs
    renewed: float
    in_play: bool = False
    """Whether an episode has begun in it; before that nothing is lost by closing it."""


@dataclass(slots=True, eq=False)
class _Place:
    """A browser with the pages it has lent."""

    engine: BrowserProcess
    served: int = 0
    opening: int = 0
    leases: dict[Tabs, _Lease] = field(default_factory=dict)
    retired: str = ""
    """Why it takes no more pages; empty while it does."""

    @property
    def pages(self) -> int:
        return len(self.leases) + self.opening


class BrowserPool:
    """Lends the pages of as many browsers as it takes.

    A browser that is old, heavy or stuck is retired: it lends no more and ends once the last
    episode in it is over. One that was killed is replaced at the next request.
    """

    def __init__(
        self, start: Callable[[], Awaitable[BrowserProcess]], limits: BrowserLimits
    ) -> None:
        self.launches = 0
        self._start = start
        self._limits = limits
        self._places: list[_Place] = []
        self._taken_back: WeakKeyDictionary[Tabs, str] = WeakKeyDictionary()
        self._launching = asyncio.Lock()
        self._background = Background()
        self._rounds: asyncio.Task[None] | None = None

    @property
    def engines(self) -> list[BrowserProcess]:
        """Return the browsers that run now, retired ones included."""
        return [place.engine for place in self._places]

    async def open(self) -> None:
        """Start the first browser, and look after what is lent from now on."""
        await self._place()
        if self._rounds is None:
            self._rounds = asyncio.create_task(self._look_after())

    async def lend(self, open_tabs: Callable[[BrowserProcess], Awaitable[Tabs]]) -> Tabs:
        """Return fresh pages in the browser that has the fewest; where it opens none, it is retired
        and another one asked. Raises `WorldError`."""
        for _ in range(2):
            place = await self._place()
            place.opening += 1
            try:
                async with asyncio.timeout(_OPEN_SECONDS):
                    tabs = await open_tabs(place.engine)
                place.leases[tabs] = _Lease(tabs, time.monotonic())
                place.served += 1
                return tabs
            except TimeoutError:
                self._retire(place, "it opens no page")
            finally:
                place.opening -= 1
                self._end_drained()
        raise WorldError(f"the browser opened no page in {_OPEN_SECONDS:g} s, nor did another")

    def renew(self, tabs: Tabs) -> None:
        """Note that the pages are in use. Raises `WorldError` when they are lost."""
        for place in self._places:
            if lease := place.leases.get(tabs):
                lease.renewed, lease.in_play = time.monotonic(), True
                return
        raise WorldError(self._taken_back.get(tabs, "the browser was closed"))

    async def give_back(self, tabs: Tabs) -> None:
        """Close pages, by force where they are busy. Never raises."""
        for place in list(self._places):
            if place.leases.pop(tabs, None) and not await _close(tabs):
                self._retire(place, "a page of it cannot be closed")
        self._end_drained()

    async def close(self) -> None:
        """End all browsers. Safe to call twice."""
        if self._rounds is not None:
            self._rounds.cancel()
            self._rounds = None
        places, self._places = self._places, []
        await asyncio.gather(*(place.engine.close() for place in places))
        await self._background.finish()

    async def _place(self) -> _Place:
        """Return the browser to open the next page in, started if there is none."""
        async with self._launching:
            self._drop_dead()
            open_places = [place for place in self._places if not place.retired]
            fit = [place for place in open_places if place.pages < self._limits.pages]
            if fit:
                return min(fit, key=lambda place: place.pages)
            try:
                try:
                    engine = await self._start()
                except SetupError as error:  # as when one is killed while it starts
                    engine = await self._start()
                    logger.warning("%s; the second try succeeded", error)
            except SetupError as error:
                if self.launches:
                    raise WorldError(f"no other browser can be started: {error}") from error
                raise
            self.launches += 1
            self._places.append(_Place(engine))
            return self._places[-1]

    def _drop_dead(self) -> None:
        for place in [place for place in self._places if not place.engine.is_alive]:
            logger.warning("a browser is gone; its pages are lost")
            self._places.remove(place)
            self._taken_back |= dict.fromkeys(place.leases, "the browser is gone")
            self._background.start(place.engine.close())

    async def _look_after(self) -> None:
        """Take back pages that nobody uses, and retire browsers that are old, heavy or gone."""
        weighed = time.monotonic()
        while True:
            await asyncio.sleep(_ROUND_SECONDS)
            self._drop_dead()
            oldest = time.monotonic() - self._limits.lease_seconds
            for place in self._places:
                for lease in [each for each in place.leases.values() if each.renewed < oldest]:
                    self._take_back(lease, "nobody used the page for too long; it is closed")
            self._end_drained()
            for place in self._places:
                age = time.monotonic() - place.engine.started
                if place.served >= self._limits.episodes:
                    self._retire(place, f"it has served {place.served} pages")
                elif age > self._limits.browser_seconds:
                    self._retire(place, f"it has run for {age:.0f} s")
            if time.monotonic() - weighed > _WEIGH_SECONDS:
                for place in list(self._places):
                    megabytes = await asyncio.to_thread(place.engine.megabytes)
                    pages = place.pages * self._limits.page_megabytes
                    if megabytes > self._limits.megabytes + pages:
                        self._retire(place, f"it takes {megabytes:.0f} MB")
                weighed = time.monotonic()

    def _retire(self, place: _Place, reason: str) -> None:
        """Lend no more of a browser; what is not yet played in it is opened elsewhere."""
        if place.retired or place not in self._places:
            return
        logger.info("a browser is replaced: %s", reason)
        place.retired = reason
        for lease in list(place.leases.values()):
            if not lease.in_play:
                self._take_back(lease, "the browser was replaced")
        self._end_drained()

    def _take_back(self, lease: _Lease, reason: str) -> None:
        self._taken_back[lease.tabs] = reason
        self._background.start(self.give_back(lease.tabs))

    def _end_drained(self) -> None:
        for place in [place for place in self._places if place.retired and not place.pages]:
            self._places.remove(place)
            self._background.start(place.engine.close())


async def _close(tabs: Tabs) -> bool:
    """Close a context; where a page keeps it open its renderer is crashed. False if it stays."""
    leaving = asyncio.create_task(tabs.leave())
    await asyncio.wait({leaving}, timeout=_CLOSE_SECONDS)
    if not leaving.done():
        with suppress(WorldError, TimeoutError):
            async with asyncio.timeout(_CRASH_SECONDS):
                await tabs.crash()
        await asyncio.wait({leaving}, timeout=_CLOSE_SECONDS)
    if not leaving.done():
        leaving.cancel()
        return False
    await leaving
    return True
