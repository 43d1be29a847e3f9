"""`webagent doctor`: what is present, what is missing, and how to get it."""

import asyncio
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from loop.console.outcome import CommandResult, Status
from recipes.settings import resolve
from webagent.errors import SetupError

SETUP = "run scripts/setup"
SYSTEM_LIBRARIES = f"sudo {sys.executable} -m playwright install-deps chromium"
GIB = 2**30


@dataclass(frozen=True)
class DoctorConfig:
    """Say what is present, what is missing and how to get it; exit 0 when the demo can run."""

    runs: Path = Path("runs")
    """Folder the runs are to be written to."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for."""

    name: str
    ok: bool
    found: str
    """What is there, in words."""
    remedy: str = ""
    """What to do when it is not ok."""
    needed: bool = True
    """Whether the demo cannot run without it."""


@dataclass(frozen=True, slots=True)
class Examined:
    """What was looked for."""

    ready: bool
    """Whether everything the demo needs is there."""
    findings: list[Finding]
    """Each with `name`, `ok`, `found`, `remedy` and `needed`."""


def main(argv: Sequence[str]) -> CommandResult:
    """Print the findings; the status says whether anything is missing that the demo needs."""
    config = resolve(DoctorConfig, "doctor", argv)
    findings = list(examine(config.runs))
    ready = all(finding.ok for finding in findings if finding.needed)
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        sign = "ok" if finding.ok else "MISSING" if finding.needed else "-"
        print(f"{sign:<8} {finding.name:<{width}}  {finding.found}")
        if not finding.ok and finding.remedy:
            print(f"{'':<8} {'':<{width}}  → {finding.remedy}")
    print("\nThe demo can run." if ready else "\nThe demo cannot run yet; see MISSING above.")
    return CommandResult(Examined(ready, findings), Status.DONE if ready else Status.SETUP)


def examine(runs: Path) -> Iterator[Finding]:
    """Look for everything, cheapest first."""
    yield python()
    yield torch()
    for package in ("transformers", "tokenizers", "playwright"):
        yield installed(package)
    yield miniwob_pages()
    yield from chromium()
    yield sandbox()
    yield run_folder(runs)
    yield cores()
    yield memory()
    yield endpoint()


def python() -> Finding:
    """The interpreter this runs in."""
    ok = sys.version_info >= (3, 11)
    return Finding("Python", ok, f"{platform.python_version()}, {sys.executable}", "install 3.11+")


def torch() -> Finding:
    """The tensor library, with the devices it can use."""
    if find_spec("torch") is None:
        return Finding("torch", False, "not installed", SETUP)
    import torch as library

    gpus = [library.cuda.get_device_name(i) for i in range(library.cuda.device_count())]
    where = ", ".join(gpus) or "CPU only"
    return Finding(
        "torch", True, f"{library.__version__}, {where}, {library.get_num_threads()} threads"
    )


def installed(package: str) -> Finding:
    """A package, without the cost of importing it."""
    try:
        return Finding(package, True, version(package))
    except PackageNotFoundError:
        return Finding(package, False, "not installed", SETUP)


def miniwob_pages() -> Finding:
    """The pages of MiniWoB++, which its package ships."""
    spec = find_spec("miniwob")
    roots = spec.submodule_search_locations if spec else None
    pages = [page for root in roots or () for page in Path(root).glob("html/miniwob/*.html")]
    found = f"{len(pages)} pages" if pages else "not installed"
    return Finding("MiniWoB++", bool(pages), found, SETUP)


def chromium() -> Iterator[Finding]:
    """The browser: where it is, and whether it really starts."""
    from webagent.browser.chromium import find_chromium

    try:
        browser = find_chromium(headless=True)
        found = f"{browser.version()} ({browser.kind} from {browser.source}), {browser.path}"
    except SetupError as error:
        yield Finding("Chromium", False, str(error), SETUP)
        return
    yield Finding("Chromium", True, found)
    yield browser_start(str(browser.path))


def browser_start(path: str) -> Finding:
    """Whether it opens a page under Playwright, as every episode needs."""
    name = "Chromium starts"
    if find_spec("playwright") is None:
        return Finding(name, False, "Playwright is not installed", SETUP)
    from playwright.async_api import Error

    from webagent.browser.chromium import summarize_failure

    started = time.monotonic()
    try:
        sum_in_page = asyncio.run(_evaluate(path, "40 + 2"))
    except Error as error:
        return Finding(name, False, summarize_failure(error.message), SYSTEM_LIBRARIES)
    seconds = time.monotonic() - started
    return Finding(name, sum_in_page == 42, f"opened a page and ran a script in {seconds:.1f} s")


async def _evaluate(path: str, expression: str) -> object:
    """The expression's value in a new page of a new browser."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, timeout=30_000)
        try:
            page = await browser.new_page()
            return await page.evaluate(expression)
        finally:
            await browser.close()


def sandbox() -> Finding:
    """Whether Chromium can shut its pages in; the reason why not goes to the log."""
    from webagent.browser.chromium import has_sandbox

    possible = has_sandbox()
    remedy = "for pages you do not trust, run as an ordinary user with user namespaces enabled"
    return Finding(
        "Chromium's sandbox", possible, "can run" if possible else "off", remedy, needed=False
    )


def run_folder(runs: Path) -> Finding:
    """Whether runs can be written, and how much room there is."""
    name, place = "run folder", nearest_existing(runs.absolute())
    try:
        with tempfile.TemporaryFile(dir=place):
            free = shutil.disk_usage(place).free / GIB
    except OSError as error:
        return Finding(name, False, f"{runs}: {error}", "give --runs a folder you may write to")
    return Finding(name, free > 1, f"{runs} can be written, {free:.0f} GiB free", "free 1 GiB")


def nearest_existing(path: Path) -> Path:
    """The path itself, or the closest folder above it that is there."""
    return next(place for place in (path, *path.parents) if place.exists())


def cores() -> Finding:
    """The processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity else os.cpu_count() or 1
    return Finding("cores", count >= 2, str(count), "expect the demo to take twice as long", False)


def memory() -> Finding:
    """Memory that can be had without swapping."""
    if find_spec("psutil") is None:
        return Finding("memory", False, "psutil is not installed", SETUP)
    import psutil

    free, total = (getattr(psutil.virtual_memory(), key) / GIB for key in ("available", "total"))
    found = f"{free:.1f} of {total:.1f} GiB available"
    return Finding("memory", free >= 2, found, "close other programs: 2 GiB are needed")


def endpoint() -> Finding:
    """Whether a model server is named; its key is never shown."""
    url, key = os.environ.get("OPENAI_BASE_URL", ""), os.environ.get("OPENAI_API_KEY", "")
    found = f"OPENAI_BASE_URL {without_secrets(url)}, OPENAI_API_KEY {'set' if key else 'not set'}"
    remedy = "only for models behind an endpoint: set both"
    return Finding("endpoint", bool(url or key), found, remedy, needed=False)


def without_secrets(url: str) -> str:
    """Scheme, host and path; a password or query in the URL is left out."""
    if not url:
        return "not set"
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"
