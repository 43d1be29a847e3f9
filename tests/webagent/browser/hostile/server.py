"""A server on the loopback interface that misbehaves as an address asks it to."""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import sha1
from urllib.parse import unquote, urlsplit

from tests.webagent.browser.hostile.corpus import CORPUS

FINE = (
    "<!DOCTYPE html><title>Fine</title>"
    "<button onclick=\"out.textContent = 'clicked'\">Press</button>"
    "<input aria-label=Field><p id=out>untouched</p>"
)
_FRAME = (
    "<!DOCTYPE html><title>Hostile</title>"
    '<button onclick="window.go && go()">Go</button><input aria-label=Field>'
    "<a href=/fine>Away</a>{}"
)
_PAGES = {page.name: _FRAME.format(page.html) for page in CORPUS if not page.path}
Answer = Callable[[asyncio.StreamWriter, str], Awaitable[None]]


class HostileServer:
    """Serves `/page/NAME` of the corpus, `/fine` and the addresses that misbehave."""

    def __init__(self) -> None:
        self._connections: set[asyncio.Task[None]] = set()
        self.url = ""

    async def start(self) -> None:
        """Listen on a free port."""
        self._listening = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Close every connection, however busy."""
        self._listening.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.ensure_future(self._serve(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)
        connection.add_done_callback(lambda _: writer.close())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            await _answer(writer, urlsplit(request.split(" ", 2)[1]).path, request)


async def _answer(writer: asyncio.StreamWriter, path: str, request: str) -> None:
    if path.startswith("/page/"):
        return await _send(writer, _PAGES.get(unquote(path.removeprefix("/page/")), FINE))
    if path.startswith("/redirect/"):
        number = int(path.rsplit("/", 1)[1]) + 1
        return await _send(writer, "", 302, Location=f"/redirect/{number}")
    await _ANSWERS.get(path, _fine)(writer, request)


async def _send(
    writer: asyncio.StreamWriter, body: str | bytes, status: int = 200, **headers: str
) -> None:
    data = body.encode() if isinstance(body, str) else body
    lines = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(data))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"HTTP/1.1 {status} Whatever\r\n{head}Connection: close\r\n\r\n".encode() + data)
    await writer.drain()


def _page(body: str | bytes, status: int = 200, **headers: str) -> Answer:
    async def answer(writer: asyncio.StreamWriter, _: str) -> None:
        await _send(writer, body, status, **headers)

    return answer


async def _hang(_: asyncio.StreamWriter, __: str) -> None:
    await asyncio.sleep(120)


async def _half(writer: asyncio.StreamWriter, _: str) -> None:
    await _send(writer, FINE + "<p>Half", Content_Length="100000")
    await asyncio.sleep(120)


async def _cut(writer: asyncio.StreamWriter, _: str) -> None:
    await _send(writer, FINE, Content_Length="100000")


async def _reset(_: asyncio.StreamWriter, __: str) -> None:
    """Hang up without a word."""


def _endless(piece: bytes, kind: str, **headers: str) -> Answer:
    async def answer(writer: asyncio.StreamWriter, _: str) -> None:
        await _send(writer, piece, Content_Type=kind, Content_Length=str(10**12), **headers)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.02)

    return answer


async def _socket(writer: asyncio.StreamWriter, request: str) -> None:
    key = next(
        line[19:] for line in request.split("\r\n") if line.lower().startswith("sec-websocket-key:")
    )
    accept = b64encode(sha1(f"{key.strip()}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest())
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )
    while True:
        writer.write(b"\x81\x05flood" * 50)
        await writer.drain()
        await asyncio.sleep(0.005)


_NESTED = """
<script>
let depth = 0;
for (let w = window; w !== top; w = w.parent) depth++;
if (depth < 12) document.write(`<iframe src=/nested?${depth}></iframe>`);
</script>deep
"""
_HANGING_WORKER = """
onfetch = (event) => event.respondWith(new Promise(() => 0));
oninstall = () => skipWaiting();
onactivate = () => clients.claim();
"""
_SVG = "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{0}'><rect width='9'/></svg>"
_fine = _page(FINE)
_ANSWERS: dict[str, Answer] = {
    "/204": _page("", 204),
    "/auth": _page("secret", 401, WWW_Authenticate='Basic realm="hostile"'),
    "/binary": _page(bytes(range(256)) * 1000, Content_Type="application/octet-stream"),
    "/busy": _page("<title>Busy</title><script>while (true);</script>"),
    "/busy-shared.js": _page("while (true);", Content_Type="text/javascript"),
    "/circle": _page("", 302, Location="/circle"),
    "/cut": _cut,
    "/download": _page("a file", Content_Disposition='attachment; filename="file.bin"'),
    "/drip": _endless(b"\x89PNG\r\n\x1a\n", "image/png"),
    "/encoding": _page(b"<title>\xff\xfe</title><p>\xc3\x28\xf0\x28\x8c\xbc" + FINE.encode()),
    "/endless": _endless(b"x" * 1000, "application/octet-stream"),
    "/events": _endless(b"data: tick\n\n", "text/event-stream"),
    "/gzip": _page(FINE, Content_Encoding="gzip"),
    "/half": _half,
    "/hang": _hang,
    "/headers": _page(FINE, **{f"X_{number}": "y" * 20 for number in range(10_000)}),
    "/huge.svg": _page(_SVG.format(60_000), Content_Type="image/svg+xml"),
    "/nested": _page(_NESTED),
    "/pdf": _page(
        "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n",
        Content_Type="application/pdf",
    ),
    "/picture": _page(_SVG.format(50), Content_Type="image/svg+xml"),
    "/refresh": _page(FINE, Refresh="0"),
    "/reset": _reset,
    "/spin": _page("<script>location = '/spin?' + Math.random()</script>"),
    "/socket": _socket,
    "/stream": _endless(b"<p>more</p>\n", "text/html"),
    "/takeover": _page("<script>opener.location = '/fine'; opener.focus(); close()</script>"),
    "/text": _page("plain words\n" * 20_000, Content_Type="text/plain"),
    "/worker.js": _page(_HANGING_WORKER, Content_Type="text/javascript"),
    "/xml": _page("<?xml version='1.0'?><a><b>words</b></a>", Content_Type="text/xml"),
}
