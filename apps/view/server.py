"""The server: a port of its own, and an end at Ctrl-C."""

import errno
import socket
from pathlib import Path

import uvicorn

from apps.view import LOCAL
from apps.view.app import make_app
from apps.view.archive import Archive
from apps.view.pages import Pages
from webagent.errors import SetupError, UsageError

FIRST_PORT = 7777
_TRIED = 50
"""Ports that are tried when none was named."""


def serve(archive: Archive, host: str, listening: socket.socket) -> None:
    """Serve the runs until Ctrl-C."""
    try:
        server_of(archive, host).run(sockets=[listening])
    except KeyboardInterrupt:  # the way to end it
        return


def server_of(archive: Archive, host: str = LOCAL[0], cache: Path | None = None) -> uvicorn.Server:
    """A server for these runs; `run(sockets=[listening])` keeps it until `should_exit`.

    What it works out lies in the folder `cache`, else in the user's.
    """
    app = make_app(Pages.of(archive, cache), names_of(host), lambda: server.should_exit)
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(settings)
    return server


def names_of(host: str) -> set[str]:
    """What browsers may call this machine when it listens at this address."""
    if host in LOCAL:
        return set(LOCAL)
    own = socket.gethostname()
    names = {*LOCAL, host, own, own.split(".")[0]}
    try:
        names |= {str(found[4][0]) for found in socket.getaddrinfo(own, None)}
    except OSError:  # a name that nobody resolves has no further addresses
        return names
    return names


def listen(host: str, port: int) -> socket.socket:
    """A listening socket at this port, or with port 0 at the first free one from 7777 on.

    Raises `UsageError` for what is no port, `SetupError` where it is taken or cannot be had.
    """
    wanted = [port] if port else list(range(FIRST_PORT, FIRST_PORT + _TRIED))
    for number in wanted:
        try:
            return _bound(host, number)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and not port:
                continue
            raise SetupError(_sentence(host, number, error)) from error
        except OverflowError as error:
            raise UsageError(f"--port {port} is no port; expected 1 to 65535") from error
    last = wanted[-1]
    raise SetupError(f"ports {FIRST_PORT} to {last} are all in use; name a free one with --port")


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)
    except (OSError, OverflowError):
        made.close()
        raise
    return made


def _sentence(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use, perhaps by another viewer;"
            " name another with --port, or none to get the next free one"
        )
    return f"port {port} of {host} cannot be listened at: {error.strerror or error}"
