"""`webagent doctor`: what is installed, what is missing, and how to get it."""

import asyncio
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from loop.console.output import CommandResult, Status
from recipes.settings import resolve
from webagent.errors import ModelError, SetupError
from webagent.models.prompt import shorten

IS_CLONE = (Path(__file__).parents[1] / "scripts" / "setup").is_file()
SETUP = "run scripts/setup" if IS_CLONE else "pip install 'webagent-loop[learn]'"
GET_CHROMIUM = f"{sys.executable} -m playwright install --with-deps chromium"
SYSTEM_LIBRARIES = f"sudo {sys.executable} -m playwright install-deps chromium"
USER_NAMESPACES = "allow this user to make user namespaces; in a container, see docs/docker.md"
NO_SANDBOX = "No usable sandbox"
"""How Chromium's complaint begins where something forbids user namespaces that no setting shows, as
a container's profile of system calls does."""
GIB = 2**30
QUESTION = "Reply with the one word: ready"


@dataclass(frozen=True)
class DoctorConfig:
    """Check what is installed, what is missing and how to get it; exits with 0 if agents run."""

    runs: Path = Path("runs")
    """Folder in which runs will be written."""
    model: str = ""
    """Model to test with one question: `anthropic/NAME`, or the model's name at OPENAI_BASE_URL.
    This costs a few tokens."""
    endpoint: Path | None = None
    """File whose table [endpoint] describes the model's server (docs/models.md)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    ok: bool
    found: str
    """Description of what was found."""
    remedy: str = ""
    """How to fix it if it is not ok."""
    needed: bool = True
    """Whether the demo requires it."""
    learning: bool = False
    """Whether only learning requires it, not agents with a model behind a server."""


@dataclass(frozen=True, slots=True)
class Examined:
    """The results of all checks."""

    ready: bool
    """Whether everything that the demo requires is present."""
    can_act: bool
    """Whether everything that agents with a model behind a server require is present."""
    findings: list[Finding]
    """Each with `name`, `ok`, `found`, `remedy`, `needed` and `learning`."""


def main(argv: Sequence[str]) -> CommandResult:
    """Print the findings; the status reports whether anything that agents need is missing."""
    config = resolve(DoctorConfig, "doctor", argv)
    findings = list(examine(config.runs))
    if config.model or config.endpoint:
        findings[-1:] = [asyncio.run(ask_model(config))]
    missing = [finding for finding in findings if finding.needed and not finding.ok]
    can_act = all(finding.learning for finding in missing)
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        is_vital = finding.needed and not finding.learning
        sign = "ok" if finding.ok else "MISSING" if is_vital else "-"
        print(f"{sign:<8} {finding.name:<{width}}  {finding.found}")
        if not finding.ok and finding.remedy:
            print(f"{'':<8} {'':<{width}}  → {finding.remedy}")
    if missing and can_act:
        print(f"\nAgents can run with a model behind a server; the demo and learning: {SETUP}")
    else:
        print("\nThe demo cannot run yet; see MISSING above." if missing else "\nThe demo can run.")
    status = Status.DONE if can_act else Status.SETUP
    return CommandResult(Examined(not missing, can_act, findings), status)


def examine(runs: Path) -> Iterator[Finding]:
    """Yield the findings of all checks, cheapest first."""
    yield python()
    yield torch()
    for package in ("transformers", "tokenizers"):
        yield installed(package, learning=True)
    yield installed("playwright")
    driver = playwright_driver()
    yield driver
    yield miniwob_pages()
    if driver.ok:
        yield from chromium()
        yield window()
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
        return Finding("torch", False, "not installed", SETUP, learning=True)
    import torch as library

    gpus = [library.cuda.get_device_name(i) for i in range(library.cuda.device_count())]
    where = ", ".join(gpus) or "CPU only"
    return Finding(
        "torch", True, f"{library.__version__}, {where}, {library.get_num_threads()} threads"
    )


def installed(package: str, *, learning: bool = False) -> Finding:
    """A package, without the cost of importing it."""
    try:
        return Finding(package, True, version(package), learning=learning)
    except PackageNotFoundError:
        return Finding(package, False, "not installed", SETUP, learning=learning)


def playwright_driver() -> Finding:
    """The program by which Playwright speaks to browsers, which needs libraries of the system."""
    from playwright._impl._driver import compute_driver_executable

    name, program = "Playwright's driver", compute_driver_executable()[0]
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, False, str(error), "pip install --force-reinstall playwright")
    remedy = "install the library it names; libatomic.so.1 is Debian's package libatomic1"
    return Finding(name, not done.returncode, shorten(done.stdout or done.stderr), remedy)


def miniwob_pages() -> Finding:
    """The pages of MiniWoB++, which its package ships."""
    spec = find_spec("miniwob")
    roots = spec.submodule_search_locations if spec else None
    pages = [page for root in roots or () for page in Path(root).glob("html/miniwob/*.html")]
    found = f"{len(pages)} pages" if pages else "not installed"
    return Finding("MiniWoB++", bool(pages), found, SETUP, learning=True)


def chromium() -> Iterator[Finding]:
    """The browser: where it is, and whether it really starts."""
    from webagent.browser.chromium import find_chromium

    try:
        browser = find_chromium(headless=True)
        found = f"{browser.version()} ({browser.kind} from {browser.source}), {browser.path}"
    except SetupError as error:
        yield Finding("Chromium", False, str(error), SETUP if IS_CLONE else GET_CHROMIUM)
        return
    yield Finding("Chromium", True, found)
    yield browser_start(str(browser.path))


def browser_start(path: str) -> Finding:
    """Whether it opens a page under Playwright, as every episode needs."""
    name = "Chromium starts"
    from playwright.sync_api import Error, sync_playwright

    from webagent.browser.chromium import has_sandbox, summarize_failure

    started = time.monotonic()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=path, chromium_sandbox=has_sandbox(), timeout=30_000
            )
            sum_in_page = browser.new_page().evaluate("40 + 2")
            browser.close()
    except Error as error:
        reason = summarize_failure(error.message)
        remedy = USER_NAMESPACES if NO_SANDBOX in reason else SYSTEM_LIBRARIES
        return Finding(name, False, reason, remedy)
    seconds = time.monotonic() - started
    return Finding(name, sum_in_page == 42, f"opened a page and ran a script in {seconds:.1f} s")


def window() -> Finding:
    """A Chromium that can show its window, as `record`, `login` and `--headed` need."""
    from webagent.browser.chromium import find_chromium

    name = "Chromium with a window"
    try:
        found = str(find_chromium(headless=False).path)
    except SetupError:
        return Finding(name, False, "not installed", GET_CHROMIUM, needed=False)
    shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform == "linux" and not shown:
        remedy = "run it on a desktop, by `ssh -X` or under `xvfb-run`"
        return Finding(name, False, f"{found}, but there is no display", remedy, needed=False)
    return Finding(name, True, found, needed=False)


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
    name, path = "run folder", runs.absolute()
    place = next(each for each in (path, *path.parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            free = shutil.disk_usage(place).free / GIB
    except OSError as error:
        return Finding(name, False, f"{runs}: {error}", "give --runs a writable folder")
    return Finding(name, free > 1, f"{runs} can be written, {free:.0f} GiB free", "free 1 GiB")


def cores() -> Finding:
    """The processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity else os.cpu_count() or 1
    return Finding("cores", count >= 2, str(count), "expect the demo to take twice as long", False)


def memory() -> Finding:
    """Memory that can be had without swapping."""
    import psutil

    free, total = (getattr(psutil.virtual_memory(), key) / GIB for key in ("available", "total"))
    found = f"{free:.1f} of {total:.1f} GiB available"
    return Finding("memory", free >= 2, found, "close other programs: 2 GiB are needed")


def endpoint() -> Finding:
    """Whether a model server or a key of a provider is named; keys are never shown."""
    from webagent.models.endpoint.providers import PROVIDERS, read_variable

    url = read_variable("OPENAI_BASE_URL")
    names = dict.fromkeys(name for provider in PROVIDERS.values() for name in provider.keys)
    keys = [name for name in names if read_variable(name)]
    found = f"OPENAI_BASE_URL {without_secrets(url)}; keys: {', '.join(keys) or 'none'}"
    remedy = "for models behind a server: set its key, as ANTHROPIC_API_KEY, or OPENAI_BASE_URL"
    return Finding("endpoint", bool(url or keys), found, remedy, needed=False)


async def ask_model(config: DoctorConfig) -> Finding:
    """What a model replies to one question, what that took, and whether its price is known."""
    from loop.costs import load_prices
    from webagent.models import Endpoint, EndpointModel, Message, load_endpoint

    name = "model"
    try:
        served = load_endpoint(config.endpoint) if config.endpoint else Endpoint(config.model)
        tested = replace(served, model=config.model or served.model, attempts=2, timeout=60.0)
        model = EndpointModel(tested)
        try:
            completion = await model.complete([Message("user", QUESTION)], max_tokens=256)
        finally:
            await model.close()
    except (SetupError, ModelError) as error:
        return Finding(name, False, str(error), "see docs/models.md for possible causes")
    reply, usage = completion.replies[0], completion.usage
    words = shorten(reply.text, 60) or f"nothing ({reply.finish_reason})"
    counted = f"{usage['input_tokens']} tokens read, {usage['output_tokens']} written"
    unpriced = load_prices().why_untold(tested.model)
    price = unpriced.partition(";")[0] or "its price is known"
    found = f"{tested.model}: {words!r} in {completion.seconds:.1f} s; {counted}; {price}"
    return Finding(name, bool(reply.text), found, "ask for more tokens, or another model")


def without_secrets(url: str) -> str:
    """Scheme, host and path; a password or query in the URL is left out."""
    if not url:
        return "not set"
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"
