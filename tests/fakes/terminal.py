"""A command at a terminal of its own, as a person has it before them."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROGRAM = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # the terminal is the new session's own
from recipes.cli import main
sys.exit(main())
"""
ROOT = Path(__file__).parents[2]


@dataclass
class Session:
    """The command at a terminal of its own."""

    process: subprocess.Popen[bytes]
    terminal: int
    said: str = ""
    place: int = 0
    """Where in it the words end that were waited for last."""

    def until(self, words: str, seconds: float = 100.0) -> None:
        """Wait until the terminal shows these words, after those waited for before."""
        end = time.monotonic() + seconds
        while words not in self.said[self.place :]:
            assert time.monotonic() < end, f"never said {words!r}; said {self.said[-2000:]!r}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                self._read()
        self.place = self.said.index(words, self.place) + len(words)

    def press(self, keys: str) -> None:
        """At the keyboard."""
        os.write(self.terminal, keys.encode())

    def status(self) -> int:
        """Its exit status, once it is over."""
        end = time.monotonic() + 60
        while self.process.poll() is None:
            assert time.monotonic() < end, f"does not end; said {self.said[-2000:]!r}"
            if select.select([self.terminal], [], [], 0.05)[0]:
                self._read()
        return self.process.returncode

    def _read(self) -> None:
        try:
            self.said += os.read(self.terminal, 65536).decode(errors="replace")
        except OSError:  # the other end has closed
            time.sleep(0.02)  # until its end is noticed; the loop has a time limit


@contextmanager
def session(*arguments: str) -> Iterator[Session]:
    """A subcommand of `webagent` with a terminal as its input and output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "200"},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Session(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
