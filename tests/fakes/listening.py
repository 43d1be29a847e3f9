"""How the small servers of tests answer over HTTP and listen in a thread."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import MappingProxyType
from typing import TypeVar

import uvicorn

from apps.listening import listen

Server = TypeVar("Server", bound=HTTPServer)
NONE: Mapping[str, str] = MappingProxyType({})


class Handler(BaseHTTPRequestHandler):
    """Answers in one go, and prints nothing."""

    content_type = "text/html; charset=utf-8"

    def send(self, body: str | bytes, status: int = 200, headers: Mapping[str, str] = NONE) -> None:
        """Write a whole response; `headers` may replace the usual ones."""
        data = body.encode() if isinstance(body, str) else body
        usual = {"Content-Type": self.content_type, "Content-Length": str(len(data))}
        self.send_response(status)
        for name, value in {**usual, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


@contextmanager
def listening(server: Server) -> Iterator[Server]:
    """Let a server listen in a thread for as long as the block runs."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def running(server: uvicorn.Server) -> Iterator[str]:
    """Let an application's server run in a thread for as long as the block runs; its address."""
    with listen("127.0.0.1", 0) as socket:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{socket.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
