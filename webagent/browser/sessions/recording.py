"""What is kept of an episode beside its steps: network traffic, trace and video."""

import asyncio
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from webagent.browser.chromium import playwright_folder
from webagent.browser.sessions.downloads import free_path
from webagent.browser.sessions.network import NetworkLog
from webagent.browser.sessions.profile import Profile
from webagent.errors import SetupError

TRACE_SECONDS = 30.0
"""How long the browser may take to write a trace out."""


class Recording:
    """The recordings of one browser context. Nothing is kept of one that no episode was played in.

    Playwright writes HAR files and videos while it closes a context, so they are put in their
    places after that.
    """

    def __init__(self, profile: Profile, has_network: bool = False) -> None:
        """`has_network` says whether requests are noted, too."""
        self.episode = ""
        """Name of the episode, once one is played."""
        self.network: NetworkLog | None = None
        """The requests so far, where they are noted and the context is open."""
        self._has_network = has_network
        self._profile = profile
        self._folder: Path | None = None
        if profile.har_record or profile.trace or profile.video:
            self._folder = Path(tempfile.mkdtemp(prefix="webagent-recording-"))

    @property
    def options(self) -> dict[str, Any]:
        """What Playwright is to open the context with."""
        options: dict[str, Any] = {}
        if self._folder and self._profile.har_record:
            options["record_har_path"] = self._folder / "traffic.har"
            options["record_har_content"] = "embed"
        if self._folder and self._profile.video:
            options["record_video_dir"] = self._folder
        return options

    async def start(self, context: BrowserContext) -> None:
        """Begin the trace and the notes of requests, where they are wanted."""
        if self._has_network:
            self.network = NetworkLog.of(context)
        if self._profile.trace:
            await context.tracing.start(screenshots=True, snapshots=True)

    async def stop(self, context: BrowserContext) -> None:
        """End the trace; call before the context is closed. Never raises."""
        if self._folder and self._profile.trace:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(TRACE_SECONDS):
                    await context.tracing.stop(path=self._folder / "trace.zip")

    async def sort(self) -> None:
        """Put everything in its place; call after the context is closed."""
        if self._folder is None:
            return
        if self.episode:
            await asyncio.to_thread(self._move_all, self._folder)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _move_all(self, folder: Path) -> None:
        kinds = {
            ".har": self._profile.har_record,
            ".zip": self._profile.trace,
            ".webm": self._profile.video,
        }
        for path in sorted(folder.iterdir()):
            target = kinds.get(path.suffix)
            if target and path.is_file():
                target.mkdir(parents=True, exist_ok=True)
                shutil.move(path, free_path(target / f"{self.episode}{path.suffix}"))


def need_video_encoder() -> None:
    """Raises `SetupError` where Playwright lacks the program that it makes videos with."""
    if not any(playwright_folder().glob("ffmpeg-*/ffmpeg*")):
        raise SetupError(
            "a video needs Playwright's ffmpeg, which is not installed; get it with: "
            "python -m playwright install ffmpeg (or ask for a trace, which holds pictures)"
        )
