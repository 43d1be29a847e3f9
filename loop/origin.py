"""The versions of this program and its packages with which a run, or a part of it, was made."""

import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypedDict

from webagent.errors import SetupError

SOURCE = Path(__file__).resolve().parents[1]
_PACKAGES = {
    "webagent": "webagent-loop",
    "torch": "torch",
    "transformers": "transformers",
    "playwright": "playwright",
    "miniwob": "miniwob",
}


class Origin(TypedDict):
    """The versions with which a run, or a part of it, was made."""

    commit: str
    """Commit of the source tree; empty outside of one."""
    modified: bool
    """Whether files differed from the commit."""
    versions: dict[str, str]
    """Package name to version; empty if it is not installed."""


def read_origin() -> Origin:
    """Return the current versions of this program."""
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
    from webagent.browser.chromium import find_chromium

    try:
        found["chromium"] = find_chromium(headless=True).version()
    except SetupError:
        found["chromium"] = ""
    return found


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(SOURCE), *arguments], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
