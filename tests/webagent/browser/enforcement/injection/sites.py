"""Sites that listen on addresses of their own, so that whatever leaves a browser is counted."""

import asyncio
import base64
import hashlib
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

SHOP, OTHER, EVIL = "127.0.0.2", "127.0.0.3", "127.0.0.4"
"""The task's site with the user's account, another one that is open too, and all that is not."""
PASSWORD = "correct-horse-7"
NAMES = dict.fromkeys(
    ("evil.test", "shop.test.evil.test", "xn--shp-ted.test", "rebound.test"), EVIL
)
"""Names, all of them the attacker's."""


@dataclass(frozen=True)
class Arrival:
    """Something that came to one of the sites."""

    site: str
    port: int
    method: str
    path: str
    text: str
    """Head and body."""


@dataclass
class Sites:
    """The listening servers, the page the task starts on and what has arrived."""

    port: int
    side_port: int
    """A second server of the shop's machine, which is not part of the shop."""
    page: str = ""
    arrivals: list[Arrival] = field(default_factory=list)

    @property
    def words(self) -> dict[str, str]:
        """What stands for the sites in the pages of the corpus."""
        return {
            "SHOP": f"http://{SHOP}:{self.port}",
            "OTHER_HOST": f"{OTHER}:{self.port}",
            "OTHER": f"http://{OTHER}:{self.port}",
            "EVIL_HOST": f"{EVIL}:{self.port}",
            "EVIL": f"http://{EVIL}:{self.port}",
            "SHOP_HOST": f"{SHOP}:{self.port}",
            "PORT": str(self.port),
            "SIDE": f"http://{SHOP}:{self.side_port}",
        }

    def spelt(self, text: str) -> str:
        """A text of the corpus with the sites' real addresses."""
        for word in sorted(self.words, key=len, reverse=True):
            text = text.replace(f"@{word}@", self.words[word])
        return text

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Note one request and answer it."""
        try:
            await self._serve(reader, writer)
        except (asyncio.IncompleteReadError, OSError):
            pass  # the browser has left
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        site, port = writer.get_extra_info("sockname")[:2]
        if site == EVIL:
            self.arrivals.append(Arrival(site, port, "CONNECTION", "", ""))
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        method, path, _ = first.split(" ", 2)
        lengths = [int(line[15:]) for line in lines if line.lower()[:15] == "content-length:"]
        body = (await reader.readexactly(sum(lengths[:1]))).decode("latin-1")
        self.arrivals.append(Arrival(site, port, method, path, head + body))
        key = next((line[19:] for line in lines if line.lower()[:18] == "sec-websocket-key:"), "")
        if key and path.startswith("/live"):
            await self._talk(reader, writer, key)
        writer.write(self.answer(site, path))
        await writer.drain()

    async def _talk(self, reader, writer, key):
        """Take the messages of a web socket, of less than 126 bytes each."""
        site, port = writer.get_extra_info("sockname")[:2]
        accept = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode())
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + base64.b64encode(accept.digest()) + b"\r\n\r\n"
        )
        while True:
            size = (await reader.readexactly(2))[1] & 127
            mask = await reader.readexactly(4)
            data = bytes(a ^ mask[n % 4] for n, a in enumerate(await reader.readexactly(size)))
            self.arrivals.append(Arrival(site, port, "MESSAGE", "/live", data.decode("latin-1")))
            writer.write(b"\x81\x02ok")

    def answer(self, site: str, path: str) -> bytes:
        """Redirects where the path says so; the page under test at the shop; else a little page."""
        parts = urlsplit(path)
        if parts.path == "/to":
            query = parse_qs(parts.query)
            status = query.get("status", ["302"])[0]
            return f"HTTP/1.1 {status} Moved\r\nLocation: {query['u'][0]}\r\n\r\n".encode("latin-1")
        kind, body = "text/html", "<title>Elsewhere</title><p>Elsewhere"
        if parts.path == "/" and site == SHOP:
            body = self.page
        elif parts.path == "/script.js":
            kind, body = "text/javascript", self.spelt(unquote(parts.query))
        elif parts.path == "/page":
            body = self.spelt(unquote(parts.query))
        data = body.encode()
        return (
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {len(data)}"
            "\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: PUT\r\n"
            "Connection: close\r\n\r\n"
        ).encode() + data


class Datagrams(asyncio.DatagramProtocol):
    """Notes what comes to the attacker by UDP."""

    def __init__(self, sites: Sites) -> None:
        self.sites = sites

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.sites.arrivals.append(Arrival(EVIL, self.sites.port, "UDP", "", ""))
