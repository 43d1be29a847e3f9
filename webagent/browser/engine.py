"""One Chromium with the driver that steers it: started, weighed and ended as a whole."""

import asyncio
import fcntl
import logging
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from playwright.async_api import Browser as Chrome
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright
from websockets.exceptions import WebSocketException

from webagent.browser.chromium import Chromium, has_sandbox, summarize_failure
from webagent.browser.devtools import PORT_FLAG, DevTools
from webagent.errors import SetupError

_PREFIX = "webagent-browser-"
_TRIES = 20
_BETWEEN_SECONDS = 0.05
_PROFILE_PREFIX = "playwright_chromiumdev_profile-"


class OwnedFolder:
    """A folder that belongs to this process for as long as it lives, and then to nobody.

    Ownership is a lock on a file in it, which the system lets go of when the process ends, however
    it ends. A profile that lies elsewhere can be named in it and shares its fate.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = (self.path / "owner").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def add_profile(self, profile: Path) -> None:
        """Name a profile that has to go together with the folder."""
        (self.path / "profile").write_text(str(profile), encoding="utf-8")

    def remove(self) -> None:
        """Delete the folder and its profile; what cannot be deleted stays."""
        _delete(self.path)
        self._lock.close()


def remove_orphans() -> list[Path]:
    """Delete the folders whose owners are gone, and name them."""
    orphans = []
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), (folder / "owner").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _delete(folder)
            orphans.append(folder)
    return orphans


def _delete(folder: Path) -> None:
    named = folder / "profile"
    profile = Path(named.read_text(encoding="utf-8")) if named.is_file() else None
    if profile and profile.parent == folder.parent and profile.name.startswith(_PROFILE_PREFIX):
        for _ in range(_TRIES):
            # The last processes of a killed browser may still be writing in it.
            shutil.rmtree(profile, ignore_errors=True)
            if not profile.exists():
                break
            time.sleep(_BETWEEN_SECONDS)
        else:
            return  # its name is kept for the next sweep
    shutil.rmtree(folder, ignore_errors=True)


logger = logging.getLogger(__name__)

_QUIET_FLAGS = (
    *("--disable-background-networking", "--disable-component-update", "--disable-quic"),
    *("--disable-sync", "--no-first-run", "--force-color-profile=srgb", "--hide-scrollbars"),
)
_QUICK_PICTURES = "--run-all-compositor-stages-before-draw"
"""A screenshot then shows the next frame, not the one after, and takes half the time; but an open
page draws without end, which takes 20 ms of processor a second however idle it is."""
_FOLDER_FLAG = "--webagent-folder="
"""Says to whom a browser belongs; Chromium itself knows no such flag."""
_LOOKING_SECONDS = 0.05
_LAUNCH_SECONDS = 30.0
_CLOSE_SECONDS = 10.0
_MEGABYTE = 1 << 20


class BrowserProcess:
    """A Chromium and its driver, two processes with many children that live and die together."""

    def __init__(
        self, playwright: Playwright, chrome: Chrome, folder: OwnedFolder | None = None
    ) -> None:
        self.chrome = chrome
        self.devtools: DevTools | None = None
        """The way to its pages past the driver; None in a browser that was joined."""
        self.started = time.monotonic()
        self._playwright = playwright
        self._folder = folder
        self._processes: tuple[psutil.Process, ...] = ()

    @classmethod
    async def start(
        cls,
        chromium: Chromium,
        headless: bool,
        *,
        flags: Sequence[str],
        page_megabytes: int,
        listens: bool = True,
        quick_pictures: bool = True,
    ) -> "BrowserProcess":
        """Start both. A renderer that asks for more than `page_megabytes` crashes. With `listens`
        the browser has a DevTools port on this machine, by which its pages are reached faster;
        with `quick_pictures` a screenshot is there a frame earlier, and idle pages cost time.

        Raises `SetupError` when the browser does not start.
        """
        folder = OwnedFolder()
        own = f"{_FOLDER_FLAG}{folder.path}"
        async with AsyncExitStack() as undo:
            undo.callback(folder.remove)
            try:
                playwright = await _start_driver()
                undo.push_async_callback(playwright.stop)
                async with _profile_named(folder):
                    chrome = await playwright.chromium.launch(
                        executable_path=chromium.path,
                        headless=headless,
                        args=[
                            *_QUIET_FLAGS,
                            *((_QUICK_PICTURES,) if headless and quick_pictures else ()),
                            *((PORT_FLAG,) if listens else ()),
                            *(own, *flags),
                        ],
                        chromium_sandbox=has_sandbox(),
                        artifacts_dir=folder.path / "artifacts",
                        timeout=_LAUNCH_SECONDS * 1000,
                        handle_sigint=False,
                        handle_sigterm=False,
                        handle_sighup=False,
                    )
                engine = cls(playwright, chrome, folder)
                profile = await engine._find_processes(folder)
                engine.devtools = await DevTools.open(profile) if listens else None
            except PlaywrightError as error:
                reason = summarize_failure(error.message)
                raise SetupError(f"{chromium.path} does not start: {reason}") from error
            except (psutil.Error, OSError, ValueError, WebSocketException) as error:
                raise SetupError(f"{chromium.path} ended as it started: {error}") from error
            undo.pop_all()
        # Renderers inherit the limit on private memory from the zygotes.
        for process in engine.family() if hasattr(psutil, "RLIMIT_DATA") else ():
            try:
                if "--type=zygote" in process.cmdline():
                    process.rlimit(psutil.RLIMIT_DATA, (page_megabytes * _MEGABYTE,) * 2)
            except (psutil.Error, OSError, ValueError) as error:
                logger.warning("a page's memory is not limited: %s", error)
        return engine

    @classmethod
    async def join(cls, address: str) -> "BrowserProcess":
        """Steer a browser that runs already; it is neither weighed nor ended.

        Raises `SetupError` when there is none at this DevTools address.
        """
        playwright = await _start_driver()
        try:
            chrome = await playwright.chromium.connect_over_cdp(
                address, timeout=_LAUNCH_SECONDS * 1000
            )
        except PlaywrightError as error:
            await playwright.stop()
            reason = error.message.splitlines()[0]
            raise SetupError(
                f"no browser to join at {address} ({reason}); start one with "
                "--remote-debugging-port=9222 --user-data-dir=FOLDER"
            ) from error
        return cls(playwright, chrome)

    @property
    def is_alive(self) -> bool:
        """Return whether browser and driver are both running."""
        if not self.chrome.is_connected():
            return False
        with suppress(psutil.NoSuchProcess):
            ended = psutil.STATUS_ZOMBIE
            return all(each.is_running() and each.status() != ended for each in self._processes)
        return False

    def megabytes(self) -> float:
        """Return memory of all its processes, shared pages counted once (PSS) where that is known.

        Takes about a millisecond for each process.
        """
        return sum(map(count_bytes, self.family())) / _MEGABYTE

    def family(self) -> list[psutil.Process]:
        """Return the processes that run now: the driver, the browser and their children."""
        found: dict[int, psutil.Process] = {}
        for process in self._processes:
            with suppress(psutil.NoSuchProcess):
                found |= {each.pid: each for each in (process, *process.children(recursive=True))}
        return list(found.values())

    async def close(self) -> None:
        """End both, by force where they do not end by themselves. Never raises."""
        family = self.family()
        try:
            if self.devtools is not None:
                await _attempt(self.devtools.close())
            await _attempt(self.chrome.close())
            await _attempt(self._playwright.stop())
        finally:
            for process in family:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            if self._folder:
                await asyncio.to_thread(self._folder.remove)

    async def _find_processes(self, folder: OwnedFolder) -> Path:
        """Find the browser by the number it gives, and the driver as its ancestor below us; return
        the browser's profile. Raises `ValueError` where it names none."""
        session = await self.chrome.new_browser_cdp_session()
        answer = await session.send("SystemInfo.getProcessInfo")
        await session.detach()
        number = next(each["id"] for each in answer["processInfo"] if each["type"] == "browser")
        main = psutil.Process(number)
        self._processes = (main, *(each for each in main.parents() if each.ppid() == os.getpid()))
        profile = _name_profile(folder, main.cmdline())
        if profile is None:
            raise ValueError("it names no profile")
        return profile


async def _start_driver() -> Playwright:
    """Start Playwright's driver; killed as it starts, it fails with an error of any class."""
    before = set(psutil.Process().children())
    starting = asyncio.ensure_future(async_playwright().start())
    await asyncio.wait({starting}, timeout=_LAUNCH_SECONDS)
    if not starting.done():
        starting.cancel()
        # It goes on starting by itself: on a busy machine every try would leave one more behind.
        for process in set(psutil.Process().children()) - before:
            with suppress(psutil.Error):
                if "run-driver" in process.cmdline():
                    process.kill()
        raise SetupError(f"Playwright's driver does not start within {_LAUNCH_SECONDS:g} s")
    if error := starting.exception():
        raise SetupError(f"Playwright's driver does not start: {error}") from error
    return starting.result()


@asynccontextmanager
async def _profile_named(folder: OwnedFolder) -> AsyncIterator[None]:
    """Name the profile as soon as a browser uses it, so that it does not outlive a driver or a
    process of ours that is killed while the browser starts."""

    async def look() -> None:
        while not await asyncio.to_thread(_name_if_there, folder):
            await asyncio.sleep(_LOOKING_SECONDS)

    looking = asyncio.ensure_future(look())
    has_started = False
    try:
        yield
        has_started = True
    finally:
        looking.cancel()
        if not has_started:
            _name_if_there(folder)


def _name_if_there(folder: OwnedFolder) -> bool:
    """Return whether the browser of this folder runs; its driver may be gone already."""
    own = f"{_FOLDER_FLAG}{folder.path}"
    lines = (process.info["cmdline"] or () for process in psutil.process_iter(["cmdline"]))
    arguments = next((line for line in lines if own in line), ())
    return _name_profile(folder, arguments) is not None


def _name_profile(folder: OwnedFolder, arguments: Iterable[str]) -> Path | None:
    """Return the profile that the arguments of a browser name, once noted; None without one."""
    flag = "--user-data-dir="
    profile = next((each.removeprefix(flag) for each in arguments if each.startswith(flag)), None)
    if profile is None:
        return None
    folder.add_profile(Path(profile))
    return Path(profile)


async def _attempt(ending: Coroutine[Any, Any, None]) -> None:
    """Try to end something in time. With a killed driver it fails with errors of any class."""
    task = asyncio.ensure_future(ending)
    await asyncio.wait({task}, timeout=_CLOSE_SECONDS)
    if not task.cancel() and not task.cancelled():
        task.exception()


def count_bytes(process: psutil.Process) -> int:
    """Return the memory of a process: PSS where the system tells it, else RSS, 0 once it ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    with suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0
