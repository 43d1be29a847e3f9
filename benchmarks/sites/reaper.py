"""Ends what a process has started once that process is gone, however it went.

Run as a script it reads lines of JSON from its standard input: `["keep", group, folder]` and
`["let go", group, folder]`. At the end of the input, or once its parent is another, it kills the
process groups that it keeps and deletes their folders.
"""

import atexit
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time

_LOOK_SECONDS = 1.0
_PATIENCE_SECONDS = 5.0


class Reaper:
    """The script in a process of its own, one for all that this process starts."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._owner = 0
        self._kept: dict[int, str] = {}
        self._process: subprocess.Popen[str] | None = None

    def keep(self, group: int, folder: str) -> None:
        """From now on the process group and the folder go when this process goes."""
        with self._turn:
            if self._owner != os.getpid():
                self._owner, self._kept, self._process = os.getpid(), {}, None
            self._kept[group] = folder
            self._say(["keep", group, folder])

    def let_go(self, group: int, folder: str) -> None:
        """They are gone, or somebody else's."""
        with self._turn:
            if self._owner == os.getpid() and self._kept.pop(group, None) is not None:
                self._say(["let go", group, folder])

    def close(self) -> None:
        """End all that is still kept. Called when this process ends in an orderly way."""
        with self._turn:
            process, self._process = self._process, None
            if process is None or self._owner != os.getpid():
                return
            self._kept = {}
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
                process.stdin.close()
                process.wait(2 * _PATIENCE_SECONDS)

    def _say(self, words: list[object]) -> None:
        """A reaper that is not there, or not any more, is started and sent all that is kept."""
        if self._process is None:
            self._start()
            return
        try:
            self._write(words)
        except BrokenPipeError:
            self._process.wait()
            self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(self._owner)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        for group, folder in self._kept.items():
            self._write(["keep", group, folder])

    def _write(self, words: list[object]) -> None:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()


REAPER = Reaper()
atexit.register(REAPER.close)


def _reap(parent: int) -> None:
    kept: dict[int, str] = {}
    rest = b""
    while True:
        readable, _, _ = select.select([0], [], [], _LOOK_SECONDS)
        if readable:
            read = os.read(0, 65536)
            if not read:
                break
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                word, group, folder = json.loads(line)
                if word == "keep":
                    kept[group] = folder
                else:
                    kept.pop(group, None)
        elif os.getppid() != parent:
            break
    for group in kept:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    _delete(list(kept.values()))


def _delete(folders: list[str]) -> None:
    """Processes that were just killed may be writing for a moment longer."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while folders and time.monotonic() < end:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        folders = [folder for folder in folders if os.path.exists(folder)]
        if folders:
            time.sleep(0.05)


if __name__ == "__main__":
    _reap(int(sys.argv[1]))
