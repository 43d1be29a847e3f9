"""Where a number came from: versions of what it was made with, and the commit of the source."""

import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypedDict

from webagent.errors import SetupError

SOURCE = Path(__file__).resolve().parents[2]
_PACKAGES = {
    "webagent": "webagent-loop",
    "torch": "torch",
    "transformers": "transformers",
    "playwright": "playwright",
    "miniwob": "miniwob",
}


class Origin(TypedDict):
    """What a run, or a part of it, was made with."""

    commit: str
    """Of the source tree; empty outside of one."""
    modified: bool
    """Whether files differed from the commit."""
    versions: dict[str, str]
    """Name to version; empty where it is not installed."""


def origin() -> Origin:
    """What this program is at the moment."""
    head = _git("rev-parse", "HEAD")
    is_modified = bool(head and _git("status", "--porcelain", "--untracked-files=no"))
    return Origin(commit=head, modified=is_modified, versions=_versions())


@cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name, package in _PACKAGES.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            found[name] = ""
    found["chromium"] = _chromium()
    return found


def _chromium() -> str:
    from webagent.browser.chromium import find_chromium

    try:
        return find_chromium(headless=True).version()
    except SetupError:
        return ""


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(SOURCE), *arguments], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
