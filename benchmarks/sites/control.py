"""A running site that other commands can find, and tell what to do."""

import json
import os
import re
import socket
import socketserver
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from benchmarks.sites import Instance, SiteError
from benchmarks.sites.state import cache_folder
from webagent.files import write_whole

_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class RunningSite:
    """What is written down of a site that was started by hand, for as long as it runs."""

    site: str
    base: str
    pid: int
    """Of the process that started it."""
    state: str
    """Folder of its state."""
    socket: str

    @classmethod
    def path(cls, site: str) -> Path:
        """Return where it lies."""
        return cache_folder() / "running" / f"{re.sub(r'[^A-Za-z0-9._@-]', '-', site)}.json"

    @classmethod
    def find(cls, site: str) -> "RunningSite | None":
        """Return a running site's note by its id or name; one whose process is gone is deleted."""
        path = cls.path(site)
        if "@" not in site:
            path = next(iter(sorted(path.parent.glob(f"{path.stem}@*.json"))), path)
        try:
            note = cls(**json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        try:
            send_command(note, "check")
        except ConnectionError:
            path.unlink(missing_ok=True)
            return None
        return note

    def write(self) -> None:
        """Whole or not at all."""
        path = self.path(self.site)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(asdict(self)))


def send_command(note: RunningSite, command: str) -> Any:
    """Have the running site do it, and say what came of it. Raises `SiteError` when it did not
    work, `ConnectionError` when nobody is there."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_SECONDS)
        try:
            connection.connect(note.socket)
        except OSError as error:
            raise ConnectionError(f"nothing listens at {note.socket}") from error
        connection.sendall(json.dumps(command).encode() + b"\n")
        with connection.makefile("rb") as replies:
            line = replies.readline()
    if not line:
        raise SiteError(f"{note.site} closed the connection during {command}")
    reply = json.loads(line)
    if "error" in reply:
        raise SiteError(reply["error"])
    return reply["done"]


class SiteControl:
    """Listens for what other commands ask of an instance: `with SiteControl(instance)`."""

    def __init__(self, instance: Instance) -> None:
        self.stopped = threading.Event()
        """Set once somebody has asked it to stop."""
        self._instance = instance
        self._commands: Mapping[str, Callable[[], Any]] = {
            "reset": instance.reset,
            "check": instance.is_healthy,
            "stop": self.stopped.set,
        }
        address = str(instance.folder / "control")
        self._server = _Server(address, _Handler)
        self._server.answer = self._answer
        self.note = RunningSite(
            instance.site.id, instance.base, os.getpid(), str(instance.state), address
        )

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.note.write()
        return self

    def __exit__(self, *failure: object) -> None:
        RunningSite.path(self.note.site).unlink(missing_ok=True)
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, line: bytes) -> bytes:
        try:
            reply = {"done": self._commands[json.loads(line)]()}
        except SiteError as error:
            reply = {"error": str(error)}
        return json.dumps(reply).encode() + b"\n"


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    answer: Callable[[bytes], bytes]


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        """One line in, one line out."""
        with suppress(ConnectionError):
            if line := self.rfile.readline():
                self.wfile.write(self.server.answer(line))
