"""One warm Chromium that hands out worlds, and comes back when it is killed."""

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Self
from weakref import WeakSet

from playwright.async_api import Browser as Chrome
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from tasks.task import Task
from webagent.browser.captcha import Handover
from webagent.browser.chromium import Chromium, can_sandbox, find_chromium
from webagent.browser.contexts import open_context
from webagent.browser.enforce import FLAGS
from webagent.browser.har import read_traffic
from webagent.browser.profile import Profile
from webagent.browser.recording import need_video_encoder
from webagent.browser.tabs import Tabs
from webagent.browser.world import BrowserWorld, KeepImage
from webagent.errors import SetupError, WorldError
from webagent.guard import Guard
from webagent.observation.variants import Variant

logger = logging.getLogger(__name__)

_QUIET_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
)
_LAUNCH_SECONDS = 30.0


class Browser:
    """A Chromium kept warm: `async with Browser() as browser: world = await browser.world()`.

    When the process dies, the episodes in flight fail with `WorldError` and the next one starts a
    new process. Playwright's driver ends the browser when this process goes, however it goes.
    """

    def __init__(
        self,
        headless: bool = True,
        chromium: Chromium | None = None,
        connect: str = "",
        guard: Guard | None = None,
    ) -> None:
        """`connect` is the DevTools address of a browser that runs already, such as
        `http://127.0.0.1:9222`: worlds get contexts of their own in it, and it stays open. A guard
        needs a browser of its own. Raises `SetupError`."""
        if connect and guard:
            raise SetupError("a guard cannot hold a browser that runs already; leave connect out")
        self.headless = headless
        self.connect = connect
        self.guard = guard
        """What every episode is held to; None for no limits."""
        self._chromium = chromium
        self._playwright: Playwright | None = None
        self._chrome: Chrome | None = None
        self._launching = asyncio.Lock()
        self._worlds: WeakSet[BrowserWorld] = WeakSet()
        self.launches = 0
        """How often a process was started; more than one means that it was lost."""

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self.close)
            await self._running()
            undo.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def world(
        self,
        keep_image: KeepImage | None = None,
        profile: Profile | None = None,
        variant: Variant | None = None,
        handover: Handover | None = None,
    ) -> BrowserWorld:
        """A world of its own; any number of them can be played at the same time. The profile says
        how its browser presents itself and what it keeps; the handover is asked for help with
        captchas."""
        if profile is not None:
            self._check(profile)
        await self._running()
        world = BrowserWorld(self, keep_image, profile, variant, handover)
        self._worlds.add(world)
        return world

    async def open_tabs(self, task: Task, profile: Profile) -> Tabs:
        """A fresh context for the task, with one empty tab. Raises `WorldError`."""
        return await open_context(await self._running(), task, profile, self.guard)

    async def close_tabs(self, tabs: Tabs) -> None:
        """Close a context and all its pages."""
        await tabs.leave()

    async def close(self) -> None:
        """Close the worlds and end the browser. Safe to call twice."""
        await asyncio.gather(*(world.close() for world in set(self._worlds)))
        chrome, self._chrome = self._chrome, None
        if chrome is not None:
            with suppress(PlaywrightError):
                await chrome.close()
        playwright, self._playwright = self._playwright, None
        if playwright is not None:
            await playwright.stop()

    def _check(self, profile: Profile) -> None:
        if profile.headed and self.headless:
            raise SetupError("the profile asks for a window; start the browser with headless=False")
        if profile.proxy and self.guard:
            raise SetupError("a guard is a proxy itself and does not go through another yet")
        if profile.har_replay:
            read_traffic(profile.har_replay)
        if profile.video:
            need_video_encoder()

    async def _running(self) -> Chrome:
        async with self._launching:
            if self._chrome is None or not self._chrome.is_connected():
                if self._chrome is not None:
                    logger.warning("Chromium is gone; starting another")
                self._chrome = await self._launch()
            return self._chrome

    async def _launch(self) -> Chrome:
        if self._playwright is None:
            self._playwright = await async_playwright().start()
        if self.connect:
            chrome = await _join(self._playwright, self.connect)
            self.launches += 1
            return chrome
        if self._chromium is None:
            self._chromium = find_chromium(self.headless)
        try:
            chrome = await self._playwright.chromium.launch(
                executable_path=self._chromium.path,
                headless=self.headless,
                args=[*_QUIET_FLAGS, *(FLAGS if self.guard else ())],
                chromium_sandbox=can_sandbox(),
                timeout=_LAUNCH_SECONDS * 1000,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except PlaywrightError as error:
            reason = error.message.splitlines()[0]
            if self.launches:
                raise WorldError(f"Chromium does not start again: {reason}") from error
            raise SetupError(f"{self._chromium.path} does not start: {reason}") from error
        self.launches += 1
        return chrome


async def _join(playwright: Playwright, address: str) -> Chrome:
    try:
        return await playwright.chromium.connect_over_cdp(address, timeout=_LAUNCH_SECONDS * 1000)
    except PlaywrightError as error:
        reason = error.message.splitlines()[0]
        raise SetupError(
            f"no browser to join at {address} ({reason}); start one with "
            "--remote-debugging-port=9222 --user-data-dir=FOLDER"
        ) from error
