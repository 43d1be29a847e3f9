"""The other side of a comparison: BrowserGym under its own Python.

It runs in our Chromium, or in the one that the environment variable BROWSERGYM_CHROMIUM names: by
itself it would take a full one, which is slower and larger than the headless shell.
"""

import json
import os
import subprocess
from pathlib import Path

from benchmarks.miniwob import tasks as miniwob
from webagent.browser import find_chromium

CHILD = Path(__file__).with_name("browsergym_child.py")
_SECONDS = 3600


def theirs(python: str, what: str, *arguments: str) -> dict[str, float]:
    """BrowserGym's figures by name; none where no Python was given. Raises `SystemExit`."""
    if not python:
        return {}
    done = subprocess.run(
        command(python, what, *arguments),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"BrowserGym failed at {what}:\n{done.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def command(python: str, what: str, *arguments: str) -> list[str]:
    """What starts BrowserGym for one measurement."""
    pages = f"--pages={miniwob.pages().as_uri()}/"
    chromium = os.environ.get("BROWSERGYM_CHROMIUM") or find_chromium().path
    return [python, str(CHILD), pages, f"--chromium={chromium}", what, *arguments]
