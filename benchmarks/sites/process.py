"""The process that serves a site: started, heard, and ended with all that it has started."""

import contextlib
import fcntl
import http.client
import os
import random
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import IO

from benchmarks.sites.reaper import REAPER
from benchmarks.sites.site import Serving, SiteError

HOST = "127.0.0.1"
FREE_PORTS = range(20000, 32768)
"""Below those that systems give to outgoing connections, which come and go."""
_TRIES = 200


class Port:
    """A port that is ours until it is let go, or until this process ends, however it ends.

    A process that asks for a free port and starts a server on it a moment later may find it taken;
    worse, it may then talk to another's server. So a port is claimed by a lock on a file.
    """

    def __init__(self, number: int, lock: IO[str]) -> None:
        self.number = number
        self._lock = lock

    @classmethod
    def claim(cls, wanted: int = 0) -> "Port":
        """Return the given port, or with 0 a free one. Raises `SiteError` if it is in use."""
        numbers = [wanted] if wanted else random.SystemRandom().sample(FREE_PORTS, _TRIES)
        for number in numbers:
            if (lock := _lock(number)) is None:
                continue
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((HOST, number))
                    return cls(number, lock)
                except OSError:
                    lock.close()
        if wanted:
            raise SiteError(
                f"port {wanted} of {HOST} is in use; ask for another or for none to get a free one,"
                f" or end what uses it (`ss -ltnp 'sport = :{wanted}'` names it)"
            )
        raise SiteError(f"none of {_TRIES} ports of {HOST} was free; end some of the servers here")

    def release(self) -> None:
        """Let others have it. Safe to call twice."""
        self._lock.close()


def is_listening(number: int) -> bool:
    """Return whether a connection to this port is taken."""
    try:
        socket.create_connection((HOST, number), timeout=1.0).close()
    except OSError:
        return False
    return True


def tables_of(number: int) -> tuple[Path, ...]:
    """Return where the system lists the connections of the server that listens on this port;
    nowhere where it does not say (it is read from /proc)."""
    return tuple(table for table in _TABLES if _LISTENS in _states(table, number))


def is_in_use(number: int, tables: Collection[Path]) -> bool:
    """Return whether a client is connected to this port, or an answer to one is still being
    written. Raises `ConnectionError` when nobody listens there any more."""
    states: set[str] = set().union(*(_states(table, number) for table in tables))
    if tables and _LISTENS not in states:
        raise ConnectionError(f"nothing listens on port {number} any more")
    return not _OPEN.isdisjoint(states)


_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_OPEN = frozenset({"01", "08"})
"""Established, and closed by the client while the server still has it open."""
_LISTENS = "0A"


def _states(table: Path, number: int) -> set[str]:
    """Of the sockets with this port on our side."""
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return set()
    rows = (line.split(None, 4) for line in lines)
    return {row[3] for row in rows if row[1].endswith(f":{number:04X}")}


def _lock(number: int) -> IO[str] | None:
    folder = Path(tempfile.gettempdir()) / f"webagent-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    file = (folder / str(number)).open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


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
                raise SiteError(self.describe_end("did not start"))
            if time.monotonic() > end:
                raise SiteError(
                    f"{self._name} did not answer at http://{HOST}:{self.port}{self.serving.ready}"
                    f" with a status below 400 within {seconds:g} s; {self._quote_output()}"
                )
            time.sleep(pause)
            pause = min(0.1, 1.5 * pause)

    def answers(self, seconds: float = 15.0) -> bool:
        """Return whether the ready path answers, in time and with a status below 400."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=max(0.1, seconds))
        try:
            connection.request("GET", self.serving.ready, headers={"Connection": "close"})
            return connection.getresponse().status < 400
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def describe_end(self, what: str) -> str:
        """In words how it ended, with the end of what it has written."""
        status = self._process.poll()
        if status is None:
            ending = "nothing yet"
        else:
            ending = f"signal {-status}" if status < 0 else f"status {status}"
        return f"{self._name} {what}: the server ended with {ending}; {self._quote_output()}"

    def _quote_output(self) -> str:
        return f"it wrote:\n{self.output}" if self.output else "it wrote nothing"

    def kill(self) -> None:
        """End the group. Safe to call twice."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        REAPER.let_go(self._process.pid, str(self._folder))
