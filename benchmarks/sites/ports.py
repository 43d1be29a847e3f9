"""Ports of 127.0.0.1 that no two instances of this machine's user ever share."""

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import IO

from benchmarks.sites.site import SiteError

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
        """The port asked for, or with 0 a free one. Raises `SiteError` where it is in use."""
        numbers = [wanted] if wanted else random.SystemRandom().sample(FREE_PORTS, _TRIES)
        for number in numbers:
            lock = _lock(number)
            if lock is not None and _is_free(number):
                return cls(number, lock)
            if lock is not None:
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
    """Whether a connection to this port is taken."""
    try:
        socket.create_connection((HOST, number), timeout=1.0).close()
    except OSError:
        return False
    return True


def tables_of(number: int) -> tuple[Path, ...]:
    """Where the system lists the connections of the server that listens on this port; nowhere
    where it does not say (it is read from /proc)."""
    return tuple(table for table in _TABLES if _LISTENS in _states(table, number))


def is_in_use(number: int, tables: Collection[Path]) -> bool:
    """Whether a client is connected to this port, or an answer to one is still being written.
    Raises `ConnectionError` when nobody listens there any more."""
    states: set[str] = set().union(*(_states(table, number) for table in tables))
    if tables and _LISTENS not in states:
        raise ConnectionError(f"nobody listens on port {number} any more")
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


def _is_free(number: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, number))
        except OSError:
            return False
    return True
