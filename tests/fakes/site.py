"""A small web site on this machine, made of functions from requests to replies."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class Request:
    """What a browser asked for."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What it is answered; `endless` goes on writing the body until the browser hangs up."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    endless: bool = False


Handler = Callable[[Request], Reply]


class Site:
    """A server whose pages are functions; what was asked is kept in `requests`."""

    def __init__(self) -> None:
        self.pages: dict[str, Handler] = {}
        self.other: Handler = lambda _: Reply("none", 404)
        """Answers at all other paths."""
        self.requests: list[Request] = []
        self.address = ""
        self._server: asyncio.Server | None = None

    def page(self, path: str, body: str | bytes, status: int = 200, **headers: str) -> None:
        """A page that is always the same; underscores in header names become dashes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = lambda _: Reply(body, status, named)

    async def open(self) -> None:
        """Listen on a port of its own."""
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Hear no more requests."""
        if self._server is not None:
            self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            if request is not None:
                self.requests.append(request)
                await _write(writer, self.pages.get(request.path, self.other)(request))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    line = (await reader.readline()).decode()
    if not line:
        return None
    method, target, _ = line.split()
    headers = {}
    while header := (await reader.readline()).decode().strip():
        name, _, value = header.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    parts = urlsplit(target)
    return Request(
        method, parts.path, parse_qs(parts.query), headers, body.decode(errors="replace")
    )


async def _write(writer: asyncio.StreamWriter, reply: Reply) -> None:
    body = reply.body if isinstance(reply.body, bytes) else reply.body.encode()
    headers = {"Content-Type": "text/html; charset=utf-8", "Connection": "close"}
    headers |= {} if reply.endless else {"Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in {**headers, **reply.headers}.items())
    writer.write(f"HTTP/1.1 {reply.status} Told\r\n{head}\r\n".encode() + body)
    await writer.drain()
    while reply.endless:
        writer.write(body)
        await writer.drain()
        await asyncio.sleep(0.01)


@asynccontextmanager
async def serving() -> AsyncIterator[Site]:
    """A site that listens for as long as the block runs."""
    site = Site()
    await site.open()
    try:
        yield site
    finally:
        await site.close()


@contextmanager
def serving_in_thread() -> Iterator[Site]:
    """A site that listens in a thread, for code that waits for its replies."""
    site, loop = Site(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(site.open(), loop).result()
        yield site
        asyncio.run_coroutine_threadsafe(site.close(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
