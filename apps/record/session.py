"""A browser in a person's hands, from its first page until they are done."""

import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from apps.record.demonstration import Demonstration
from tasks.task import Task
from webagent.browser import Browser
from webagent.browser.pool import BrowserLimits
from webagent.browser.sessions.profile import Profile
from webagent.browser.watching import SessionWatch
from webagent.records import Observation

_DAY = 86_400.0
_LIMITS = BrowserLimits(lease_seconds=_DAY, browser_seconds=_DAY)
"""A person may take their time."""
_LAST_LOOK_SECONDS = 3.0


class Session:
    """What is under way; `done` is set by whoever ends it."""

    def __init__(
        self,
        demonstration: Demonstration,
        say: Callable[[str], None],
        *,
        headless: bool,
        is_pictured: bool,
    ) -> None:
        self.done = asyncio.Event()
        """To be set when the person says that they are done."""
        self.watch: SessionWatch | None = None
        """Where the person is being watched; None before the first page is there."""
        self._demonstration = demonstration
        self._say = say
        self._headless = headless
        self._is_pictured = is_pictured

    async def run(self, task: Task, profile: Profile) -> Observation:
        """Open the task's page and keep what is done until the end; the page as it was left.

        Raises `SetupError` where there is no browser, and `WorldError` where it fails.
        """
        keep = self._demonstration.pictures.take if self._is_pictured else None
        async with Browser(headless=self._headless, limits=_LIMITS) as browser:
            world = await browser.world(keep_image=keep, profile=profile)
            first = await world.reset(task)
            watch = self.watch = SessionWatch(world, first, self._demonstration.hear)
            await watch.begin()
            self._say("What is done in the window is kept from here on.")
            watching = asyncio.ensure_future(watch.run())
            ending = asyncio.ensure_future(self.done.wait())
            await asyncio.wait({watching, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not watching.done():
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LAST_LOOK_SECONDS):
                        await watch.is_resting.wait()
            ending.cancel()
            watch.ended.set()
            await watching
        return watch.seen


def answer_typed(answered: Callable[[str], None]) -> None:
    """Call back in this loop with the next line that is typed at the terminal."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        line = sys.stdin.readline().rstrip("\n")
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(answered, line)

    threading.Thread(target=read, daemon=True).start()
