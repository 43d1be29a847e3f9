"""Work for jobs in processes of their own: small enough to follow, able to go wrong."""

import os
import time
from pathlib import Path

from loop.jobs import READY, ReportProgress
from webagent.errors import WorldError


def note(say: ReportProgress, folder: Path, name: str, how: str) -> None:
    """Leaves a file with the time it began and ended, or goes wrong in the way asked for."""
    began = time.monotonic()
    say("working", 0.0, how)
    if how == "fails":
        raise WorldError("the page was gone")
    if how == "is wrong":
        [].pop()
    if how == "dies":
        os._exit(7)
    if how == "is ready early":
        say(READY, 1.0, "")
        while not (folder / "second").exists():
            time.sleep(0.05)
    if how == "hangs":
        time.sleep(60)
    say("working", 1.0, how)
    (folder / name).write_text(f"{began} {time.monotonic()}", encoding="utf-8")
