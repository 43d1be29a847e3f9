"""Runs an application's own server on 127.0.0.1: `launch.py PORT FOLDER`.

As published it listens on every address of the machine.
"""

import os
import runpy
import socketserver
import sys
from typing import Any
from unittest.mock import patch


def listen_here(server: socketserver.BaseServer, address: tuple[str, int], handler: Any) -> None:
    """Make a server for the loopback address in place of the one that it was given."""
    _make(server, ("127.0.0.1", address[1]), handler)


_make = socketserver.BaseServer.__init__

if __name__ == "__main__":
    port, folder = sys.argv[1:]
    os.chdir(folder)
    sys.argv = ["server.py", "--port", port]
    with patch.object(socketserver.BaseServer, "__init__", listen_here):
        runpy.run_path("server.py", run_name="__main__")
