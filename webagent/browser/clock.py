"""When a page has come to rest after an action: by its own virtual clock, or by watching it."""

import asyncio
import time
from contextlib import suppress
from typing import Protocol

from webagent.browser.tab import Tab
from webagent.errors import WorldError

LOAD_SECONDS = 15.0
"""Real seconds a page may load before the episode goes on without it."""
START_OF_TIME = 1_767_268_800.5
"""What a virtual clock shows at first: 2026-01-01 12:00 UTC, the same for every episode."""
_ANIMATION_ROUNDS = 5
_PORTION_MS = 10
_STILL_MS = 100
_SETTLE_SECONDS = 5.0

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
})();
"""
"""Under a virtual clock frames come with virtual time, not with the screen's."""


class Clock(Protocol):
    """How time passes on a page."""

    script: str
    """What the page's own world needs for this clock."""

    async def start(self, tab: Tab) -> None:
        """Take hold of a page that has loaded."""
        ...

    async def settle(self, tab: Tab, milliseconds: int) -> str:
        """Let an action take its full effect; says what was still going on when time was up."""
        ...

    async def wait(self, tab: Tab, milliseconds: int) -> str:
        """Let so much time pass on the page."""
        ...

    async def load(self, tab: Tab) -> bool:
        """Wait until the page has loaded; False when it takes too long."""
        ...


class VirtualClock:
    """Chromium's virtual time: it stands still between actions and runs at once after one."""

    script = ANIMATION_FRAMES_BY_TIMER

    async def start(self, tab: Tab) -> None:
        await tab.send(
            "Emulation.setVirtualTimePolicy", policy="pause", initialVirtualTime=START_OF_TIME
        )

    async def settle(self, tab: Tab, milliseconds: int) -> str:
        animating, reason = await asyncio.gather(
            tab.ask_now("isAnimating"), self.wait(tab, milliseconds)
        )
        if animating and not tab.loading:
            reason = await self._animate(tab, milliseconds)
        if not tab.loading:
            return reason
        if not await self.load(tab):
            return await _give_up_loading(tab)
        return await self.wait(tab, milliseconds)

    async def _animate(self, tab: Tab, milliseconds: int) -> str:
        """Animations begin with a frame, some later than others; the page hears with one more."""
        for _ in range(_ANIMATION_ROUNDS):
            await tab.next_frame()
            await self.wait(tab, milliseconds)
            if not await tab.ask_now("isAnimating"):
                break
        await tab.next_frame()
        return await self.wait(tab, milliseconds)

    async def wait(self, tab: Tab, milliseconds: int) -> str:
        return "" if await tab.advance(milliseconds) else "the page still waits for data"

    async def load(self, tab: Tab) -> bool:
        """Time must run for a page to load, so it is granted in portions until it has."""
        deadline = time.monotonic() + LOAD_SECONDS
        while tab.loading:
            if time.monotonic() > deadline:
                return False
            tab.loading_changed.clear()
            await tab.advance(_PORTION_MS)
            if tab.loading:
                await _changed_within(tab, _PORTION_MS / 1000)
        return True


class RealClock:
    """The wall clock: waits for loading and for changes of the document to end."""

    script = ""

    async def start(self, tab: Tab) -> None:
        """Nothing to take hold of: the wall clock runs by itself."""

    async def settle(self, tab: Tab, milliseconds: int) -> str:
        if not await self.load(tab):
            return await _give_up_loading(tab)
        if await tab.ask("quiet", _STILL_MS, int(_SETTLE_SECONDS * 1000)):
            return ""
        return f"the page is still changing after {_SETTLE_SECONDS:g} s"

    async def wait(self, tab: Tab, milliseconds: int) -> str:
        await asyncio.sleep(milliseconds / 1000)
        return ""

    async def load(self, tab: Tab) -> bool:
        """Waits for the browser to say that the page has loaded."""
        deadline = time.monotonic() + LOAD_SECONDS
        while tab.loading:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            tab.loading_changed.clear()
            await _changed_within(tab, left)
        return True


async def _changed_within(tab: Tab, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await tab.alive(tab.loading_changed.wait())


async def _give_up_loading(tab: Tab) -> str:
    await tab.stop_loading()
    return f"the page was still loading after {LOAD_SECONDS:g} s and was stopped"


def clock_named(name: str) -> Clock:
    """The clock a task asks for."""
    if name == "virtual":
        return VirtualClock()
    if name == "real":
        return RealClock()
    raise WorldError(f"a task's clock is 'virtual' or 'real', found {name!r}")
