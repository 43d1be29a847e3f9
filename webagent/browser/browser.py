"""One warm Chromium that hands out worlds, and comes back when it is killed."""

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import Self

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from tasks.task import Task
from webagent.browser.chromium import Chromium, find_chromium
from webagent.browser.enforcement.connections import dialer_for
from webagent.browser.enforcement.enforce import Enforcer, browser_flags
from webagent.browser.engine import BrowserProcess, remove_orphans
from webagent.browser.page.clock import clock_named
from webagent.browser.page.connection import world_failures
from webagent.browser.pool import BrowserLimits, BrowserPool
from webagent.browser.preloading import PreloadSlots, StartSlots
from webagent.browser.sessions.files import Downloads, SessionRecording, check_video_encoder
from webagent.browser.sessions.login import LoginsOf
from webagent.browser.sessions.profile import Profile
from webagent.browser.sessions.traffic import FrozenSite, read_replay
from webagent.browser.tabs import Handover, Tabs
from webagent.browser.world import BrowserWorld, KeepImage
from webagent.errors import SetupError
from webagent.guard import Guard
from webagent.observation.variants import ObservationVariant

_FEW_PAGES = 8
"""So many idle pages may take 20 ms of processor a second each, for quicker screenshots."""


async def open_context(
    engine: BrowserProcess, task: Task, profile: Profile, guard: Guard | None = None
) -> Tabs:
    """Return a fresh context for the task, with one empty tab; `Tabs.leave` gives all of it back.

    Raises `WorldError`.
    """
    options = profile.context_options(task.viewport)
    recording = SessionRecording(profile, "network" in task.records)
    async with AsyncExitStack() as undo:
        enforcer = None
        if guard:
            dial = dialer_for(profile.proxy)
            enforcer = await Enforcer.open(guard, dial, profile.insecure)
            undo.push_async_callback(enforcer.close)
            options |= enforcer.context_options
        undo.push_async_callback(recording.sort)
        replay = read_replay(profile.har_replay) if profile.har_replay else None
        if replay:
            frozen = await FrozenSite.open(replay)
            undo.push_async_callback(frozen.close)
            options |= {"proxy": {"server": frozen.address}, "ignore_https_errors": True}
        async with world_failures():
            context = await engine.chrome.new_context(**options, **recording.options)
            undo.push_async_callback(close_context, context)
            await recording.start(context)
        undo.push_async_callback(recording.stop, context)
        if enforcer:
            await enforcer.watch(context)
        clock = clock_named(task.clock)
        tabs = await Tabs.open(context, clock, task.hooks.init, engine.devtools)
        tabs.recording, tabs.replay, tabs.guard = recording, replay, enforcer
        if profile.insecure:
            await tabs.accept_certificates(profile.insecure)
        if profile.downloads:
            tabs.downloads = await Downloads.open(
                engine.chrome,
                tabs.first,
                profile.downloads,
                profile.max_download_mb,
                enforcer.judge_download if enforcer else None,
            )
            undo.push_async_callback(tabs.downloads.close)
        tabs.leaving = undo.pop_all()
    return tabs


async def close_context(context: BrowserContext) -> None:
    """Close a context, whose browser may be gone. Never raises."""
    with suppress(PlaywrightError):
        await context.close()


class Browser:
    """A Chromium kept warm: `async with Browser() as browser: world = await browser.world()`.

    When the process dies, the episodes in flight fail with `WorldError` and the next one starts a
    new process; one that has grown old or heavy is replaced without cutting an episode. `limits`
    say when. Playwright's driver ends the browser when this process goes, however it goes.
    """

    def __init__(
        self,
        headless: bool = True,
        chromium: Chromium | None = None,
        connect: str = "",
        guard: Guard | None = None,
        limits: BrowserLimits | None = None,
        pages: int = 1,
    ) -> None:
        """`connect` is the DevTools address of a browser that runs already, such as
        `http://127.0.0.1:9222`: worlds get contexts of their own in it, and it stays open. A guard
        needs a browser of its own. `pages` is how many will be open at once, as far as is known:
        with more than eight a screenshot comes a frame later, for which idle pages cost no
        processor time. Raises `SetupError`."""
        if connect and guard:
            raise SetupError("a guard cannot limit a browser that is already running; omit connect")
        self.headless = headless
        self.connect = connect
        self.guard = guard
        """What every episode is held to; None for no limits."""
        self._chromium = chromium
        self._limits = limits or BrowserLimits()
        self._has_few_pages = pages <= _FEW_PAGES
        self._pool = BrowserPool(self._start, self._limits)
        self._preload_slots = PreloadSlots(None if headless and not connect else 0)
        """No room where somebody watches: a page kept ready would be a window before the others."""
        self._start_slots = StartSlots()
        self._worlds: set[BrowserWorld] = set()

    @property
    def launches(self) -> int:
        """Return how often a browser was started: more than once for a loss or many pages."""
        return self._pool.launches

    @property
    def engines(self) -> list[BrowserProcess]:
        """Return the browser processes that run now."""
        return self._pool.engines

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self.close)
            await self._pool.open()
            undo.pop_all()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    async def world(
        self,
        keep_image: KeepImage | None = None,
        profile: Profile | None = None,
        variant: ObservationVariant | None = None,
        handover: Handover | None = None,
        keep_picture: KeepImage | None = None,
        logins: LoginsOf | None = None,
    ) -> BrowserWorld:
        """Return a world of its own; any number of them can be played at the same time. The profile
        says how its browser presents itself and what it keeps; the handover is asked for help with
        captchas. With `keep_image` every observation has a screenshot; `keep_picture` is for the
        pictures that a task's probes take, and may stand alone. `logins` gives what the browser
        knows at the start of a task that has a `login`, on top of the profile. Raises `SetupError`
        for a profile that cannot be followed."""
        if profile is not None:
            if profile.headed and self.headless:
                raise SetupError(
                    "the profile asks for a window; start the browser with headless=False"
                )
            if self.guard:
                dialer_for(profile.proxy)
            if profile.har_replay:
                if self.guard:
                    raise SetupError(
                        "a replayed HAR file reaches nothing; replay it without a guard"
                    )
                read_replay(profile.har_replay)
            if profile.video:
                check_video_encoder()
        await self._pool.open()
        world = BrowserWorld(
            self,
            keep_image,
            keep_picture or keep_image,
            profile,
            variant,
            handover,
            self._preload_slots,
            self._start_slots,
            logins,
            on_close=self._worlds.discard,
        )
        self._worlds.add(world)
        return world

    async def open_tabs(self, task: Task, profile: Profile) -> Tabs:
        """Return a fresh context for the task, with one empty tab. Raises `WorldError`."""
        return await self._pool.lend(lambda engine: open_context(engine, task, profile, self.guard))

    def renew(self, tabs: Tabs) -> None:
        """Say that pages are in use. Raises `WorldError` when they were taken back."""
        self._pool.renew(tabs)

    async def close_tabs(self, tabs: Tabs) -> None:
        """Close a context and all its pages."""
        await self._pool.give_back(tabs)

    async def close(self) -> None:
        """Close the worlds and end the browser. Safe to call twice."""
        await asyncio.gather(*(world.close() for world in set(self._worlds)))
        await self._pool.close()

    async def _start(self) -> BrowserProcess:
        if self.connect:
            return await BrowserProcess.join(self.connect)
        if self._chromium is None:
            self._chromium = find_chromium(self.headless)
            await asyncio.to_thread(remove_orphans)
        return await BrowserProcess.start(
            self._chromium,
            self.headless,
            flags=browser_flags(self.guard) if self.guard else (),
            page_megabytes=self._limits.page_megabytes,
            listens=self.guard is None,  # what a guard holds must find no port to the browser
            quick_pictures=self._has_few_pages,
        )
