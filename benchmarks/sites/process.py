"""The process that serves a site: started, heard, and ended with all that it has started."""

import contextlib
import http.client
import os
import signal
import subprocess
import time
from pathlib import Path

from benchmarks.sites.ports import HOST, is_listening
from benchmarks.sites.reaper import REAPER
from benchmarks.sites.site import Serving, SiteError

START_SECONDS = 60.0
_QUOTED = 2000
"""Characters of output that an error quotes."""
_WAIT_FOR_WORD = 'read -r _ && exec "$@" </dev/null'
"""The server begins only once the reaper knows of it; if we die before that, it never does."""


class Process:
    """A server and whatever it starts, in a process group that does not outlive this process."""

    def __init__(self, serving: Serving, folder: Path, port: int, name: str) -> None:
        """`folder` is its own, for output and temporary files; it is deleted when this process is
        killed. Raises `SiteError` when there is no such program."""
        self.serving, self.port = serving, port
        self._folder, self._name = folder, name
        self._log = folder / "output.log"
        temporary = folder / "tmp"
        temporary.mkdir(exist_ok=True)
        environment = {**os.environ, "TMPDIR": str(temporary), **serving.environment}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _WAIT_FOR_WORD, "sh", *serving.argv],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder,
                start_new_session=True,
            )
        REAPER.keep(self._process.pid, str(folder))
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(b"go\n")
            self._process.stdin.close()

    @property
    def pid(self) -> int:
        """Of the server; its process group has the same number."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the server itself is there; it may be deaf all the same."""
        return self._process.poll() is None

    @property
    def output(self) -> str:
        """The end of what it has written."""
        try:
            return self._log.read_bytes()[-_QUOTED:].decode(errors="replace").strip()
        except OSError:
            return ""

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        """Raises `SiteError` when it ends or does not answer in time."""
        end, pause = time.monotonic() + seconds, 0.005
        while not (is_listening(self.port) and self.answers(end - time.monotonic())):
            if not self.is_running:
                raise SiteError(self.epitaph("did not start"))
            if time.monotonic() > end:
                raise SiteError(
                    f"{self._name} did not answer at http://{HOST}:{self.port}{self.serving.ready}"
                    f" with a status below 400 within {seconds:g} s; {self.told()}"
                )
            time.sleep(pause)
            pause = min(0.1, 1.5 * pause)

    def answers(self, seconds: float = 15.0) -> bool:
        """Whether the ready path answers, in time and with a status below 400."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=max(0.1, seconds))
        try:
            connection.request("GET", self.serving.ready, headers={"Connection": "close"})
            return connection.getresponse().status < 400
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def epitaph(self, what: str) -> str:
        """In words how it ended, with the end of what it has written."""
        return f"{self._name} {what}: the server ended with {self._ending()}; {self.told()}"

    def told(self) -> str:
        """What it has written, as a part of a sentence."""
        return f"it wrote:\n{self.output}" if self.output else "it wrote nothing"

    def kill(self) -> None:
        """End the group. Safe to call twice."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        REAPER.let_go(self._process.pid, str(self._folder))

    def _ending(self) -> str:
        status = self._process.poll()
        if status is None:
            return "nothing yet"
        return f"signal {-status}" if status < 0 else f"status {status}"
