"""Where a server of this program listens: the socket, and the address that is printed."""

import errno
import socket

from webagent.errors import SetupError, UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""This machine's names for itself; a browser may use these alone, since any other may be a name of
somebody else's that points here."""
_TRIED = 50
"""Ports that are tried from the first on, when none was named."""


def listen(host: str, port: int, first: int = 0, flag: str = "--port") -> socket.socket:
    """Return a listening socket at this port; with port 0 at the first free one from `first` on,
    or without it at any that is free. `flag` is the option that names the port.

    Raises `UsageError` for what is no port, `SetupError` where it is taken or cannot be had.
    """
    wanted = range(first, first + _TRIED) if first and not port else [port]
    for number in wanted:
        made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((host, number))
            made.listen(1024)
            return made
        except OverflowError as error:
            made.close()
            raise UsageError(f"{flag} {port} is not a port; expected 0 to 65535") from error
        except OSError as error:
            made.close()
            is_taken = error.errno == errno.EADDRINUSE
            if is_taken and number != wanted[-1]:
                continue
            which = f"port {number} of {host}"
            if len(wanted) > 1:
                which = f"each port from {first} to {number} of {host}"
            found = "is in use" if is_taken else "cannot be listened at"
            raise SetupError(
                f"{which} {found} ({error.strerror or error}); name another with {flag}, or 0 for"
                " any free one"
            ) from error
    raise RuntimeError("no port was tried")


def address_of(host: str, port: int) -> str:
    """Return the address that clients and people are given."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
