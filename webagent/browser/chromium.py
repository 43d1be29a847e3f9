"""Finding a Chromium on this machine."""

import logging
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from webagent.errors import SetupError

logger = logging.getLogger(__name__)

ENVIRONMENT_VARIABLE = "WEBAGENT_CHROMIUM"
INSTALL_COMMAND = "python -m playwright install chromium"
_SHELLS = ("chromium-headless-shell", "chrome-headless-shell", "headless_shell")
_FULL = ("chromium", "chromium-browser", "google-chrome")
_NOISE = re.compile(r"\n.*\[err\].*/(bus|zygote_linux)\.cc.*")
"""What Chromium complains of wherever there is no desktop, or while it ends."""


@dataclass(frozen=True, slots=True)
class Chromium:
    """One usable browser binary."""

    path: Path
    kind: str
    """`headless shell` (no window, about 2.5 times faster) or `chromium`."""
    source: str
    """Where it was found: the environment variable, Playwright's folder or the PATH."""

    def version(self) -> str:
        """Return `Chromium 140.0.7339.16` and the like. Raises `SetupError`."""
        try:
            reply = subprocess.run(
                [self.path, "--version"], capture_output=True, text=True, timeout=30, check=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            reason = f"{self.path} does not run ({error})"
            raise SetupError(f"{reason}; try: {INSTALL_COMMAND}") from error
        return reply.stdout.strip()


def find_chromium(headless: bool = True) -> Chromium:
    """Return the first browser found, in order of preference.

    `WEBAGENT_CHROMIUM`, then Playwright's own install, then the PATH; a headless shell goes first
    where no window is needed. Raises `SetupError` saying where it looked.
    """
    for candidate in _candidates(headless):
        if os.access(candidate.path, os.X_OK):
            return candidate
        if candidate.source == ENVIRONMENT_VARIABLE:
            raise SetupError(f"{ENVIRONMENT_VARIABLE} names {candidate.path}, which does not run")
    raise SetupError(
        f"no Chromium found; looked at {ENVIRONMENT_VARIABLE}, {playwright_folder()} and for "
        f"{', '.join(_SHELLS + _FULL if headless else _FULL)} on the PATH. "
        f"Install one with: {INSTALL_COMMAND}"
    )


def playwright_folder() -> Path:
    """Return where `playwright install` puts browsers on this machine."""
    chosen = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    if chosen:
        return Path(chosen)
    mac = Path.home() / "Library" / "Caches" / "ms-playwright"
    return mac if mac.parent.is_dir() else Path.home() / ".cache" / "ms-playwright"


def summarize_failure(message: str) -> str:
    """Return why a browser did not start: its last two complaints, else its first line."""
    complaints = re.findall(r"\[err\] (?:\[\d[^\]]*\] )?(.+)", _NOISE.sub("", message))
    last = list(dict.fromkeys(map(str.strip, complaints)))[-2:]
    return "; ".join(last) or message.splitlines()[0]


def has_sandbox() -> bool:
    """Return whether Chromium's sandbox can run: not as root, and not without user namespaces."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return _warn_once("running as root")
    for switch in ("unprivileged_userns_clone", "apparmor_restrict_unprivileged_userns"):
        setting = Path("/proc/sys/kernel") / switch
        forbidden = "1" if switch.startswith("apparmor") else "0"
        if setting.is_file() and setting.read_text().strip() == forbidden:
            return _warn_once(f"kernel.{switch} is {forbidden}")
    return True


@cache
def _warn_once(reason: str) -> bool:
    logger.warning(
        "CHROMIUM RUNS WITHOUT ITS SANDBOX (%s): open no page you do not trust, or run as an "
        "ordinary user with user namespaces enabled.",
        reason,
    )
    return False


def _candidates(headless: bool) -> Iterator[Chromium]:
    """Yield the browsers that may be used, the best first; of Playwright's the newest build."""

    def make(path: Path, source: str) -> Chromium:
        return Chromium(path, "headless shell" if "headless" in path.name else "chromium", source)

    def build_number(folder: Path) -> int:
        digits = folder.name.rpartition("-")[2]
        return int(digits) if digits.isdigit() else 0

    if chosen := os.environ.get(ENVIRONMENT_VARIABLE):
        yield make(Path(shutil.which(chosen) or chosen), ENVIRONMENT_VARIABLE)
    builds = sorted(playwright_folder().glob("chromium*-*"), key=build_number, reverse=True)
    shells = ("*/headless_shell", "*/chrome-headless-shell")
    for patterns in (shells if headless else (), ("*/chrome", "*/*/*/Chromium")):
        for folder, pattern in product(builds, patterns):
            yield from (make(path, "Playwright") for path in folder.glob(pattern))
    for name in _SHELLS + _FULL if headless else _FULL:
        if found := shutil.which(name):
            yield make(Path(found), "PATH")
