"""The files that an episode leaves: downloads, network traffic, trace and video."""

import asyncio
import html
import io
import itertools
import json
import logging
import os
import shutil
import struct
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser as Chrome
from playwright.async_api import BrowserContext, CDPSession, Download
from playwright.async_api import Error as PlaywrightError

from webagent.browser.chromium import playwright_folder
from webagent.browser.page.connection import world_failures
from webagent.browser.page.tab import Tab
from webagent.browser.sessions.network import NetworkLog
from webagent.browser.sessions.profile import Profile
from webagent.errors import SetupError

BEGIN_SECONDS = 0.1
"""How long a step waits for a download to begin: the browser says nothing of one until then."""
WAIT_SECONDS = 5.0
"""How long a step waits for the downloads that it began."""
LONGEST_SECONDS = 120.0
"""After so long a download is stopped."""
_MOST_AT_ONCE = 20
_LOOK_SECONDS = 0.1
_MEGABYTE = 1_000_000
_LONGEST_READ = 10 * _MEGABYTE
"""Bytes of a file that is read as text."""

PDF_SECONDS = 20.0
"""How long the text of a PDF is read before it is given up."""
_MALFORMED = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError),
    *(ValueError, struct.error, zlib.error),
)
"""What the reader of PDFs also raises at files that break its expectations."""

JudgeDownload = Callable[[str, int | None], str]
"""Returns why a file of this name and, once known, size in bytes may not be kept; else nothing."""


class _UnreadableFile(Exception):
    """A file is not what its first bytes say."""


@dataclass(slots=True)
class _Download:
    """One file under way."""

    guid: str
    name: str
    url: str
    began: float
    stopping: str = ""
    """Why it is being stopped; empty while it is not."""
    is_new: bool = True
    """Whether nothing has been said of it yet."""


class Downloads:
    """The downloads of one browser context. `take_notes` says what became of them."""

    def __init__(
        self,
        session: CDPSession,
        context: str,
        folder: Path,
        max_mb: int,
        judge: JudgeDownload | None = None,
    ) -> None:
        self._session = session
        self._context = context
        self._folder = folder
        self._most = max_mb
        self._too_large = f"it is larger than {max_mb} MB"
        self._incoming = Path(tempfile.mkdtemp(prefix=".incoming-", dir=folder))
        self._under_way: dict[str, _Download] = {}
        self._notes: list[str] = []
        self._early: list[tuple[Path, str]] = []
        self._arrived: dict[str, Path] = {}
        """Where the last file from each address is."""
        self._judge: JudgeDownload = judge or (lambda name, size: "")
        self._episode = ""
        self._target: Path | None = None
        self._watching: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls, chrome: Chrome, tab: Tab, folder: Path, max_mb: int, judge: JudgeDownload | None = None
    ) -> "Downloads":
        """Take over the downloads of the tab's context. Raises `WorldError`."""
        folder.mkdir(parents=True, exist_ok=True)
        target = await tab.send("Target.getTargetInfo")
        async with world_failures():
            session = await chrome.new_browser_cdp_session()
            downloads = cls(
                session, target["targetInfo"]["browserContextId"], folder, max_mb, judge
            )
            session.on("Browser.downloadWillBegin", downloads._begin_download)
            session.on("Browser.downloadProgress", downloads._follow_download)
            behavior = {
                "behavior": "allowAndName",
                "browserContextId": downloads._context,
                "downloadPath": str(downloads._incoming),
                "eventsEnabled": True,
            }
            await session.send("Browser.setDownloadBehavior", behavior)
        return downloads

    async def settle(self) -> None:
        """Wait for what is beginning or under way, but not for long."""
        deadline = time.monotonic() + BEGIN_SECONDS
        while not self._under_way and not self._notes and time.monotonic() < deadline:
            await asyncio.sleep(_LOOK_SECONDS / 10)
        deadline = time.monotonic() + WAIT_SECONDS
        while new := [each for each in self._under_way.values() if each.is_new]:
            if time.monotonic() >= deadline:
                break
            await asyncio.sleep(_LOOK_SECONDS / 10)
        for download in new:
            size = self._size_of(download)
            self._notes.append(f"still downloading {download.name} ({size} bytes so far)")
            download.is_new = False

    def take_notes(self) -> list[str]:
        """Return what became of downloads since the last time."""
        notes, self._notes = self._notes, []
        return notes

    def begin(self, episode: str) -> None:
        """Let files belong to this episode from here on, the early ones too."""
        self._episode = episode
        early, self._early = self._early, []
        for arrived, name in early:
            self._put(arrived, name)

    async def find(self, url: str) -> Path | None:
        """Return where an address's file is, once what is under way has come; else None."""
        await self.settle()
        return self._arrived.get(url)

    def keep(self, name: str, content: bytes) -> str:
        """Put a file beside the downloads; return the reason where it may not be kept."""
        name, size = safe_name(name), len(content)
        if reason := self._too_large * (size > self._most * _MEGABYTE) or self._judge(name, size):
            return f"{name} cannot be kept: {reason}"
        arrived = self._incoming / name
        arrived.write_bytes(content)
        self._notes.append(f"kept {self._put(arrived, name)} ({size} bytes)")
        return ""

    def read(
        self, name: str, start: int, most: int, mask: Callable[[str], str] = str
    ) -> tuple[str, bool]:
        """Return at most so many characters of one of the episode's files from a place on, under a
        line that says which; or, and False, why it cannot be read. Of a PDF this is the text of its
        pages, under their numbers. The text is masked as a whole, since a part could hold half of a
        secret."""
        kept = {path.name: path for path in sorted(self._target.iterdir())} if self._target else {}
        if name not in kept:
            here = ", ".join(list(kept)[-_MOST_AT_ONCE:]) or "none"
            return f"this episode has no file {name[:100]!r}; its files: {here}", False
        if kept[name].stat().st_size > _LONGEST_READ:
            return f"{name} is larger than {_LONGEST_READ:,} bytes, too large to be read", False
        content = kept[name].read_bytes()
        try:
            if content.startswith(b"%PDF-"):
                pages = _read_pdf(content)
                named = (f"page {at} of {len(pages)}\n{text}" for at, text in enumerate(pages, 1))
                text = mask("\n\n".join(named))
            else:
                text = mask(content.decode("utf-8-sig"))
        except UnicodeDecodeError:
            return f"{name} is no text in UTF-8 ({len(content)} bytes)", False
        except _UnreadableFile as error:
            return f"{name} is a PDF that cannot be read: {error}", False
        if not 0 <= start < max(1, len(text)):
            return f"{name} has {len(text)} characters; none from {start} on", False
        end = min(start + most, len(text))
        more = f"; read on with read_file({json.dumps(name)}, {end})" if end < len(text) else ""
        return f"{name}, characters {start} to {end} of {len(text)}{more}:\n{text[start:end]}", True

    async def close(self) -> None:
        """Stop what is under way; what has arrived stays. Never raises."""
        if self._watching is not None:
            self._watching.cancel()
        with suppress(PlaywrightError):
            await self._session.detach()
        shutil.rmtree(self._incoming, ignore_errors=True)

    def _begin_download(self, event: dict[str, Any]) -> None:
        guid, name = event["guid"], safe_name(event["suggestedFilename"])
        download = _Download(guid, name, event["url"], time.monotonic())
        self._under_way[guid] = download
        if len(self._under_way) > _MOST_AT_ONCE:
            self._stop(download, f"more than {_MOST_AT_ONCE} at once")
        if reason := self._judge(name, None):
            self._stop(download, reason)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())

    def _follow_download(self, event: dict[str, Any]) -> None:
        download = self._under_way.get(event["guid"])
        if download is None:
            return
        if event["state"] not in ("completed", "canceled"):
            # What a server announces is known before it has come.
            size = max(event.get("totalBytes", 0), event.get("receivedBytes", 0))
            if size > self._most * _MEGABYTE:
                self._stop(download, self._too_large)
            return
        del self._under_way[download.guid]
        if event["state"] == "canceled":
            # The browser removes it too, but later, and the disk may be what ran short.
            (self._incoming / f"{download.guid}.crdownload").unlink(missing_ok=True)
            why = download.stopping or "the connection broke or the server refused"
        else:
            arrived = self._incoming / download.guid
            size = arrived.stat().st_size if arrived.is_file() else 0
            too_large = self._too_large if size > self._most * _MEGABYTE else ""
            why = too_large or download.stopping or self._judge(download.name, size)
            if not why:
                name = self._put(arrived, download.name)
                self._arrived[download.url] = self._target / name if self._target else arrived
                self._notes.append(f"downloaded {name} ({size} bytes)")
                return
            arrived.unlink(missing_ok=True)
        self._notes.append(f"the download of {download.name} was stopped: {why}")

    def _put(self, arrived: Path, name: str) -> str:
        """Move a file into the episode's folder, once there is an episode; return its name."""
        if not self._episode:
            self._early.append((arrived, name))
            return name
        if self._target is None:
            self._target = new_folder(self._folder, self._episode)
        path = free_path(self._target / name)
        arrived.replace(path)
        return path.name

    async def _watch(self) -> None:
        """Look at sizes on disk: the browser reports progress now and then only."""
        while self._under_way:
            await asyncio.sleep(_LOOK_SECONDS)
            now = time.monotonic()
            for download in list(self._under_way.values()):
                if self._size_of(download) > self._most * _MEGABYTE:
                    self._stop(download, self._too_large)
                elif now - download.began > LONGEST_SECONDS:
                    self._stop(download, f"it took more than {LONGEST_SECONDS:g} s")

    def _stop(self, download: _Download, why: str) -> None:
        if not download.stopping:
            download.stopping = why
            request = {"guid": download.guid, "browserContextId": self._context}
            stopping = asyncio.ensure_future(self._session.send("Browser.cancelDownload", request))
            stopping.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _size_of(self, download: _Download) -> int:
        for name in (f"{download.guid}.crdownload", download.guid):
            with suppress(OSError):
                return (self._incoming / name).stat().st_size
        return 0


def safe_name(suggested: str) -> str:
    """Return a file name that stays in its folder: no path, no control characters, not hidden."""
    name = os.path.basename(suggested.replace("\\", "/"))
    name = "".join(each for each in name if each.isprintable()).strip(". ")
    stem, suffix = os.path.splitext(name)
    return (stem[:100] + suffix[:20]) or "download"


def new_folder(parent: Path, name: str) -> Path:
    """Return a new folder of this name, with a number where the name is taken."""
    for number in itertools.count(1):
        folder = parent / (f"{name}-{number}" if number > 1 else name)
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
    raise AssertionError("counting does not terminate")


def free_path(path: Path) -> Path:
    """Return the path, or one with a number where that is taken."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_stem(f"{path.stem} ({number})")
    return free


TRACE_SECONDS = 30.0
"""How long the browser may take to write a trace out."""


class SessionRecording:
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
        """Return what Playwright is to open the context with."""
        if self._folder is None:
            return {}
        har = {"record_har_path": self._folder / "traffic.har", "record_har_content": "embed"}
        video = {"record_video_dir": self._folder}
        return (har if self._profile.har_record else {}) | (video if self._profile.video else {})

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
        profile = self._profile
        kinds = {".har": profile.har_record, ".zip": profile.trace, ".webm": profile.video}
        for path in sorted(self._folder.iterdir()) if self.episode else ():
            target = kinds.get(path.suffix)
            if target and path.is_file():
                target.mkdir(parents=True, exist_ok=True)
                free = free_path(target / f"{self.episode}{path.suffix}")
                await asyncio.to_thread(shutil.move, path, free)
        shutil.rmtree(self._folder, ignore_errors=True)


def is_pdf(offer: Download) -> bool:
    """Return whether an offered file is a PDF, by the name that the browser gives it."""
    return offer.suggested_filename.lower().endswith(".pdf")


async def write_pdf_page(offer: Download, kept: Path | None) -> str:
    """Return the text of a PDF as a page of HTML, or the reason why it cannot be read; `kept` is
    where it is, unless the driver has it."""
    name, sections = html.escape(safe_name(offer.suggested_filename)), ""
    try:
        async with asyncio.timeout(PDF_SECONDS):
            path = kept or await offer.path()
            if path.stat().st_size > _LONGEST_READ:
                raise _UnreadableFile(f"it is larger than {_LONGEST_READ:,} bytes")
            pages = await asyncio.to_thread(lambda: _read_pdf(path.read_bytes()))
        notice = f"{name} is a PDF; this is the text of its pages"
        for at, text in enumerate(pages, 1):
            sections += f"<h2>page {at} of {len(pages)}</h2><pre>{html.escape(text)}</pre>"
    except (PlaywrightError, TimeoutError, OSError, _UnreadableFile) as error:
        notice = (
            f"{name} is a PDF that cannot be read: {html.escape(str(error) or 'it takes too long')}"
        )
    return f"<!doctype html><title>{name}</title><p>{notice}</p>{sections}"


def _read_pdf(content: bytes) -> list[str]:
    """Return the text of each page of a PDF. Raises `_UnreadableFile`."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, DeprecationError, PyPdfError

    # What is wrong with a page's file would be printed; what can be read of it is returned.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pages, until = [], time.monotonic() + PDF_SECONDS
    try:
        for page in PdfReader(io.BytesIO(content)).pages:
            if time.monotonic() > until:  # a thread cannot be stopped, and is waited for in the end
                raise _UnreadableFile(f"its text takes more than {PDF_SECONDS:g} s to read")
            pages.append(page.extract_text())
    except (PyPdfError, DependencyError, DeprecationError, *_MALFORMED) as error:
        raise _UnreadableFile(str(error) or type(error).__name__) from error
    return [text.strip() or "(no text, such as a scan)" for text in pages]


def check_video_encoder() -> None:
    """Raise `SetupError` where Playwright lacks the program that it makes videos with."""
    if not any(playwright_folder().glob("ffmpeg-*/ffmpeg*")):
        raise SetupError(
            "a video needs Playwright's ffmpeg, which is not installed; get it with: "
            "python -m playwright install ffmpeg (or ask for a trace, which holds pictures)"
        )
