"""When a page has come to rest after an action: by its own virtual clock, or by watching it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from webagent.browser.page.connection import ANSWER_SECONDS, connections_script, timers_script
from webagent.browser.page.tab import DATA_SECONDS, Tab
from webagent.errors import WorldError


class AdaptiveTimeout:
    """Some time for each page: half as much each time the page has used it up."""

    def __init__(self, whole: float, least: float) -> None:
        self._whole = whole
        self._least = least
        self._left: WeakKeyDictionary[Tab, tuple[str, float]] = WeakKeyDictionary()

    def of(self, tab: Tab) -> float:
        """Return what is left of it for the page that is now in the tab."""
        address, left = self._left.get(tab, ("", self._whole))
        return left if address == _address(tab) else self._whole

    def halve(self, tab: Tab) -> None:
        """Halve the timeout of a page that has used it up."""
        self._left[tab] = (_address(tab), max(self._least, self.of(tab) / 2))

    def restore(self, tab: Tab) -> None:
        """Give a page its whole timeout again."""
        self._left.pop(tab, None)


def _address(tab: Tab) -> str:
    """Return the address without what a page may change at will."""
    return tab.url.partition("#")[0].partition("?")[0]


_ENDLESS = ("EventSource", "WebSocket", "Ping", "Media", "Prefetch", "CSPViolationReport")
_NOT_COUNTED = (*_ENDLESS, "Document")
"""Documents, too: a page's is known by its loading, and the end of a frame's may be reported to
another process."""


class PendingRequests:
    """Counts the requests of one tab; each is waited for only for so long after it began."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._began: dict[str, tuple[float, str]] = {}
        self._changed = asyncio.Event()

    @classmethod
    async def of(cls, tab: Tab, patience: float) -> "PendingRequests":
        """Count from now on; `patience` is in seconds. Raises `WorldError`."""
        requests = cls(patience)

        def begin(event: dict[str, Any]) -> None:
            url = event["request"]["url"]
            if event.get("type") not in _NOT_COUNTED and not url.startswith(("data:", "blob:")):
                requests._began[event["requestId"]] = (time.monotonic(), url[:100])
            requests._changed.set()

        def end(event: dict[str, Any]) -> None:
            requests._began.pop(event["requestId"], None)
            requests._changed.set()

        tab.on("Network.requestWillBeSent", begin)
        for event in ("loadingFinished", "loadingFailed", "requestServedFromCache"):
            tab.on(f"Network.{event}", end)
        await tab.send("Network.enable", maxTotalBufferSize=0, maxResourceBufferSize=0)
        return requests

    def pending(self) -> str:
        """Return the address of the oldest request worth waiting for; empty when there is none."""
        latest = time.monotonic() - self._patience
        return next((url for began, url in self._began.values() if began > latest), "")

    async def change(self, tab: Tab, seconds: float) -> None:
        """Wait until a request begins or ends, for so long at most. Raises `WorldError`."""
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, min(seconds, self._patience))):
                await tab.alive(self._changed.wait())


Answer = TypeVar("Answer")

LOAD_SECONDS = 15.0
"""Real seconds a page may load before the episode goes on without it; after that, half as many."""
START_OF_TIME = 1_767_268_800.5
"""What a virtual clock shows at first: 2026-01-01 12:00 UTC, the same for every episode."""
_ANIMATION_ROUNDS = 5
_PORTION_MS = 10
_LOADED_SECONDS = 1.0
"""So long what is left of a portion may take once the page has loaded."""
_STILL_MS = 100
_TIMERS_MS = 1000
"""So long after an action its short timers are waited for; what ticks longer is polling."""
_SETTLE_SECONDS = 5.0
_LEAST_SETTLE_SECONDS = 0.5
_LEAST_LOAD_SECONDS = 2.0
_SLOW_SECONDS = 4.0
"""A page is slow whose virtual time takes longer than this to run, and than the wall clock's. So
long that a page short of processor is not: its time must not depend on the machine's load."""
_LEAST_SHARE = 0.125
_PACE_MS = 20
_MOST_STOPS = 5
_STOPPED_SECONDS = 0.05

ANIMATION_FRAMES_BY_TIMER = """
(() => {
  let frame = 0;
  const waiting = new Map();
  window.requestAnimationFrame = (callback) => {
    const id = ++frame;
    waiting.set(id, setTimeout(() => { waiting.delete(id); callback(performance.now()); }, 16));
    return id;
  };
  window.cancelAnimationFrame = (id) => { clearTimeout(waiting.get(id)); waiting.delete(id); };
  if (document.startViewTransition) document.startViewTransition = (given) => {
    const update = typeof given === "function" ? given : given && given.update;
    const done = Promise.resolve().then(() => update && update());
    const end = done.then(() => {});
    const types = new Set();
    return { updateCallbackDone: done, ready: end, finished: end, skipTransition() {}, types };
  };
})();
"""
"""Under a virtual clock frames come with virtual time, and a change of view is made at once."""


class PageClock(Protocol):
    """How time passes on a page."""

    script: str
    """What the page's own world needs for this clock."""

    async def follow(self, tab: Tab) -> None:
        """Follow what happens in a tab from its opening on."""

    async def start(self, tab: Tab) -> None:
        """Take hold of a page that has loaded."""

    async def settle(self, tab: Tab, milliseconds: int) -> str:
        """Let an action take its full effect; return what still went on when time was up."""

    async def wait(self, tab: Tab, milliseconds: int) -> str:
        """Let so much time pass on the page; return what the agent is to know of it."""

    async def load(self, tab: Tab, within: float | None = None) -> bool:
        """Return whether the page has loaded within so many seconds, `LOAD_SECONDS` by default."""


class VirtualClock:
    """Chromium's virtual time: it stands still between actions and runs at once after one.

    A page with live connections, or one that keeps it waiting for data, cannot be run ahead of the
    world outside. From then on virtual time is let pass in step with the wall clock. A page whose
    virtual time is slower than the wall clock's gets less of it after an action.
    """

    def __init__(self) -> None:
        self.script = ANIMATION_FRAMES_BY_TIMER + connections_script()
        self._by_wall = RealClock(slack=_SLOW_SECONDS)
        self._loading = AdaptiveTimeout(LOAD_SECONDS, _LEAST_LOAD_SECONDS)
        self._share = AdaptiveTimeout(1.0, _LEAST_SHARE)
        self._is_paced = False

    async def follow(self, tab: Tab) -> None:
        """Do nothing: virtual time knows what is pending."""

    async def start(self, tab: Tab) -> None:
        await tab.hold_time(START_OF_TIME)
        if self._is_paced:
            await self._by_wall.follow(tab)

    async def settle(self, tab: Tab, milliseconds: int) -> str:
        if self._is_paced:
            async with run_in_real_time(tab):
                return await self._by_wall.settle(tab, milliseconds)
        deadline = time.monotonic() + self._loading.of(tab)
        milliseconds = round(milliseconds * self._share.of(tab))
        unrest = await _unless_loading(tab, tab.ask_now("unrest", tab.mouse))
        if unrest and unrest["lostMouse"]:
            # Time runs only once the page knows what lies under the mouse.
            await tab.remind_of_mouse(takes_text=unrest["takesText"])
            unrest = await _unless_loading(tab, tab.ask_now("unrest", None))
        if unrest and unrest["live"]:
            return await self._leave(tab, "the page holds a live connection")
        reason = await self.wait(tab, milliseconds)
        if self._is_paced:
            return reason
        if unrest and (unrest["animating"] or unrest["watchesView"]) and not tab.loading:
            reason = await self._show_frames(tab, milliseconds, unrest)
        if not tab.loading:
            return reason
        if not await self.load(tab, max(_LEAST_LOAD_SECONDS, deadline - time.monotonic())):
            return await _give_up_loading(tab, self._loading)
        self._loading.restore(tab)
        return await self.wait(tab, milliseconds)

    async def _show_frames(self, tab: Tab, milliseconds: int, unrest: dict[str, Any]) -> str:
        """Draw frames until what moves has come to rest, then for as long as the page brings more
        when it hears what is in view; return what there is to say of it."""
        reason = ""
        if unrest["animating"]:
            for _ in range(_ANIMATION_ROUNDS):
                await tab.next_frame()
                await self.wait(tab, milliseconds)
                if not await tab.ask_now("isAnimating"):
                    break
            await tab.next_frame()
            reason = await self.wait(tab, milliseconds)
        for _ in range(_ANIMATION_ROUNDS if unrest["watchesView"] else 0):
            before = await tab.ask_now("extent")
            await tab.next_frame()
            reason = await self.wait(tab, milliseconds)
            if reason or await tab.ask_now("extent") == before:
                break
        return reason

    async def wait(self, tab: Tab, milliseconds: int) -> str:
        if self._is_paced:
            async with run_in_real_time(tab):
                return await self._by_wall.wait(tab, milliseconds)
        began = time.monotonic()
        tab.arrivals = 0
        if not await tab.advance(milliseconds, within=min(DATA_SECONDS, self._loading.of(tab))):
            return await self._leave(tab, "the page still waits for data")
        if tab.is_restless:
            return await _stop_replacing(tab)
        taken = time.monotonic() - began
        if tab.loading or taken < max(_SLOW_SECONDS, milliseconds / 1000):
            return ""
        self._share.halve(tab)
        return "the page is slower than the wall clock and gets less time after an action"

    async def load(self, tab: Tab, within: float | None = None) -> bool:
        """Grant time in portions until the page has loaded: without any it would not."""
        deadline = time.monotonic() + (LOAD_SECONDS if within is None else within)
        while tab.loading and not tab.is_restless:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            granting = asyncio.ensure_future(
                tab.advance(_PORTION_MS, within=min(left, DATA_SECONDS))
            )
            try:
                while tab.loading and not granting.done():
                    await _until_loading_changes(tab, granting)
                # A loaded page may go on waiting for data, as for a live connection's.
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOADED_SECONDS):
                        await granting
            finally:
                granting.cancel()
            if tab.loading:
                tab.loading_changed.clear()
                await _changed_within(tab, _PORTION_MS / 1000)
        if tab.is_restless:
            tab.notes.append(await _stop_replacing(tab))
        return True

    async def _leave(self, tab: Tab, reason: str) -> str:
        """Go over to the wall clock for the rest of the episode."""
        if not tab.loading and not self._is_paced:
            self._is_paced = True
            await self._by_wall.follow(tab)
            return f"{reason}; its time goes on with the wall clock"
        return reason


class RealClock:
    """The wall clock: waits for what an action has set going, as events tell of its end.

    A page that comes to rest by its own timers and is `slack` seconds late is seen as it is: where
    virtual time is let pass, a busy page's timers may be slower than the wall clock.
    """

    def __init__(self, slack: float = ANSWER_SECONDS) -> None:
        self._slack = slack
        self.script = timers_script() + connections_script()
        self._requests: WeakKeyDictionary[Tab, PendingRequests] = WeakKeyDictionary()
        self._patience = AdaptiveTimeout(_SETTLE_SECONDS, _LEAST_SETTLE_SECONDS)
        self._loading = AdaptiveTimeout(LOAD_SECONDS, _LEAST_LOAD_SECONDS)

    async def follow(self, tab: Tab) -> None:
        """Count the requests of a tab from now on."""
        if tab not in self._requests:
            self._requests[tab] = await PendingRequests.of(tab, _SETTLE_SECONDS)

    async def start(self, tab: Tab) -> None:
        """Do nothing: the wall clock runs by itself."""

    async def settle(self, tab: Tab, milliseconds: int) -> str:
        patience = self._patience.of(tab)
        tab.arrivals = 0
        deadline = time.monotonic() + patience
        while True:
            if tab.loading:
                if not await self.load(tab, self._loading.of(tab)):
                    return await _give_up_loading(tab, self._loading)
                self._loading.restore(tab)
            left = max(0.001, deadline - time.monotonic())
            resting = tab.ask("rest", _STILL_MS, int(left * 1000), _TIMERS_MS)
            try:
                async with asyncio.timeout(left + self._slack):
                    unrest = await _unless_loading(tab, resting)
            except TimeoutError:
                unrest = "slower than the wall clock"
            requests = self._requests.get(tab)
            if unrest == "" and requests and (url := requests.pending()):
                await requests.change(tab, deadline - time.monotonic())
                unrest = f"waiting for {url}"
            elif unrest == "" and not tab.loading:
                self._patience.restore(tab)
                return ""
            if time.monotonic() >= deadline:
                self._patience.halve(tab)
                return f"the page is still {unrest or 'loading'} after {patience:g} s"

    async def wait(self, tab: Tab, milliseconds: int) -> str:
        await asyncio.sleep(milliseconds / 1000)
        return ""

    async def load(self, tab: Tab, within: float | None = None) -> bool:
        """Wait for the browser to say that the page has loaded."""
        deadline = time.monotonic() + (LOAD_SECONDS if within is None else within)
        while tab.loading and not tab.is_restless:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            tab.loading_changed.clear()
            await _changed_within(tab, left)
        if tab.is_restless:
            tab.notes.append(await _stop_replacing(tab))
        return True


@asynccontextmanager
async def run_in_real_time(tab: Tab) -> AsyncIterator[None]:
    """Let virtual time pass as the wall clock's does, whatever the page waits for."""

    async def pace() -> None:
        granted = time.monotonic()
        while True:
            now = time.monotonic()
            passed, granted = max(1, round((now - granted) * 1000)), now
            await tab.advance(passed, waits=False)
            await asyncio.sleep(_PACE_MS / 1000)

    pacing = asyncio.create_task(pace())
    try:
        yield
    finally:
        pacing.cancel()
        with suppress(asyncio.CancelledError, WorldError):
            await pacing


async def _unless_loading(tab: Tab, question: Awaitable[Answer]) -> Answer | None:
    """Return the page's answer, or None where it is about to be replaced: on the way to another
    site the browser passes on no question until that site has answered."""
    asking = asyncio.ensure_future(question)
    try:
        while not tab.loading:
            await _until_loading_changes(tab, asking)
            if asking.done():
                return await asking
        return None
    finally:
        asking.cancel()


async def _until_loading_changes(tab: Tab, work: asyncio.Future[Any]) -> None:
    """Wait until the work is done, or the page begins or ends to load."""
    tab.loading_changed.clear()
    changing = asyncio.ensure_future(tab.loading_changed.wait())
    try:
        await asyncio.wait({work, changing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        changing.cancel()


async def _changed_within(tab: Tab, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await tab.alive(tab.loading_changed.wait())


async def _give_up_loading(tab: Tab, patience: AdaptiveTimeout) -> str:
    seconds = patience.of(tab)
    patience.halve(tab)
    await tab.stop_loading()
    return f"the page was still loading after {seconds:g} s and was stopped"


async def _stop_replacing(tab: Tab) -> str:
    for _ in range(_MOST_STOPS):  # one document may have come already
        await tab.stop_loading()
        tab.loading_changed.clear()
        await _changed_within(tab, _STOPPED_SECONDS)
        if not tab.loading:
            break
    tab.unanswered, tab.arrivals = "", 0
    return "the page replaced itself again and again, and was stopped"


def clock_named(name: str) -> PageClock:
    """Return the clock a task asks for."""
    if name == "virtual":
        return VirtualClock()
    if name == "real":
        return RealClock()
    raise WorldError(f"a task's clock is 'virtual' or 'real', found {name!r}")
