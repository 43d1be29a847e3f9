"""The connections of the guard's proxy: how it reaches hosts, and HTTP as it is passed on."""

import asyncio
import base64
import re
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote, urlsplit

from webagent.errors import SetupError
from webagent.guard.address import parse_ip
from webagent.guard.decide import GuardVerdict

HEAD_SECONDS = 30.0
HEAD_BYTES = 65_536
_CHUNK = 65_536
_SHORT = 1_000_000
_HOP_BY_HOP = ("connection", "keep-alive", "proxy-connection", "proxy-authorization", "upgrade")

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a request or a response: its first line and its fields, in order."""

    line: str
    fields: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        """Return all values of a field; names are in lower case."""
        return [value for each, value in self.fields if each == name]

    def encoded(self, line: str) -> bytes:
        """Return the head for a connection that is closed after it, under another first line."""
        kept = [(n, v) for n, v in self.fields if n not in _HOP_BY_HOP]
        lines = [line, *(f"{n}: {v}" for n, v in kept), "connection: close"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def read_head(reader: asyncio.StreamReader) -> Head:
    """Return the head of the next message. Raises `ValueError`, `EOFError` or `TimeoutError`."""
    return parse_head(await read_head_bytes(reader))


def parse_head(raw: bytes) -> Head:
    """Return a message's head, of which nothing may be read in two ways. Raises `ValueError`."""
    first, *rest = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    fields = []
    for line in rest:
        found = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*", line)
        if not found:
            raise ValueError(f"not a header field: {line[:80]!r}")
        fields.append((found[1].lower(), found[2]))
    return Head(first, tuple(fields))


async def read_head_bytes(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(HEAD_SECONDS):
        return await reader.readuntil(b"\r\n\r\n")


async def read_body(reader: asyncio.StreamReader, head: Head) -> bytes | None:
    """Return the whole body where it is short; None for one to be passed on by `send_body`."""
    lengths, codings = head.values("content-length"), head.values("transfer-encoding")
    if codings or len(lengths) != 1 or not lengths[0].isdigit() or int(lengths[0]) > _SHORT:
        return None if codings or lengths else b""
    return await reader.readexactly(int(lengths[0]))


async def send_nothing() -> None:
    """Send nothing."""


async def send_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: Head) -> None:
    """Send the body as its head announces it, and nothing that comes after it."""
    lengths, codings = head.values("content-length"), head.values("transfer-encoding")
    if len(lengths) + len(codings) > 1:
        raise ValueError("a request with two lengths")
    if codings:
        await _send_chunks(reader, writer)
    else:
        await _send_exactly(reader, writer, int(lengths[0]) if lengths else 0)


async def _send_exactly(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: int
) -> None:
    while left > 0:
        data = await reader.read(min(left, _CHUNK))
        if not data:
            raise EOFError("the request broke off")
        left -= len(data)
        writer.write(data)
        await writer.drain()


async def _send_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        line = await reader.readuntil(b"\r\n")
        size = int(line.split(b";")[0], 16)
        writer.write(line)
        await _send_exactly(reader, writer, size + 2)
        if size == 0:
            return


async def send_reply(server: Connection, writer: asyncio.StreamWriter) -> None:
    """Send the response on, marked as the last of its connection."""
    while True:
        head = parse_head(await server[0].readuntil(b"\r\n\r\n"))
        writer.write(head.encoded(head.line))
        if not re.match(r"HTTP/1\.\d 1\d\d", head.line):
            break
    await copy_stream(server[0], writer)


async def copy_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def relay_both(upwards: Awaitable[None], downwards: Awaitable[None]) -> None:
    """Relay both directions until the answer has ended."""
    up, down = asyncio.ensure_future(upwards), asyncio.ensure_future(downwards)
    try:
        await asyncio.wait({up, down}, return_when=asyncio.FIRST_EXCEPTION)
        for done in (up, down):
            if done.done():
                done.result()
    finally:
        for task in (up, down):
            task.cancel()
        with suppress(OSError, EOFError, ValueError):
            await asyncio.gather(up, down, return_exceptions=True)


class TrafficGate(Protocol):
    """Who decides what the proxy lets through, and hears of what it did not."""

    def request(self, url: str, method: str, text: str = "") -> GuardVerdict:
        """Return whether a request whose address and head can be read may pass."""

    def server(self, host: str, port: int, schemes: tuple[str, ...]) -> GuardVerdict:
        """Return whether a connection may be made of which only host and port can be read."""

    def ip(self, host: str, port: int, ip: str) -> GuardVerdict:
        """Return whether the host may be reached at this address."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return IP addresses of a host. Raises `OSError`."""

    def note(self, what: str, verdict: GuardVerdict) -> None:
        """Keep a refusal."""


class RequestRefused(Exception):
    """A request that may not pass."""

    def __init__(self, what: str, verdict: GuardVerdict) -> None:
        super().__init__(verdict.reason)
        self.what = what
        self.verdict = verdict


class Dialer(Protocol):
    """How the proxy gets to a host that the policy opens by name.

    A connection is one for bytes of any kind, whatever lies between.
    """

    async def dial(self, host: str, port: int) -> Connection:
        """Return a connection. Raises `OSError`, or `Refused` where the address is closed."""


class DirectDialer:
    """Connects by itself, to addresses that it has resolved and checked."""

    def __init__(self, gate: TrafficGate) -> None:
        self._gate = gate

    async def dial(self, host: str, port: int) -> Connection:
        """Return a connection to the first address that may be reached and answers."""
        ips = [host] if parse_ip(host) else await self._gate.resolve(host, port)
        verdicts = {ip: self._gate.ip(host, port, ip) for ip in ips}
        failure: Exception = OSError(f"{host} has no address")
        for ip, verdict in verdicts.items():
            if not verdict.is_allowed:
                failure = RequestRefused(host, verdict)
                continue
            try:
                return await asyncio.open_connection(ip, port, limit=HEAD_BYTES)
            except OSError as error:
                failure = error
        raise failure


class ProxyDialer:
    """Goes through a proxy of the user's own, by CONNECT, for plain HTTP too.

    That proxy resolves the names, so the addresses they lead to are not checked here; addresses
    written out in URLs are.
    """

    def __init__(self, host: str, port: int, user: str = "", password: str = "") -> None:
        self._place = host, port
        self._login = base64.b64encode(f"{user}:{password}".encode()).decode() if user else ""

    def __repr__(self) -> str:
        return f"Through({self._place[0]}:{self._place[1]})"

    async def dial(self, host: str, port: int) -> Connection:
        """Return a connection that the other proxy has made. Raises `OSError`."""
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if self._login:
            lines.append(f"Proxy-Authorization: Basic {self._login}")
        pipe = await asyncio.open_connection(*self._place, limit=HEAD_BYTES)
        try:
            pipe[1].write(("\r\n".join(lines) + "\r\n\r\n").encode())
            status = (await read_head(pipe[0])).line.split(" ")[1:2]
        except (EOFError, ValueError) as error:
            pipe[1].close()
            raise OSError(f"{self!r} speaks no HTTP") from error
        if status != ["200"]:
            pipe[1].close()
            raise OSError(f"{self!r} answered {' '.join(status)} for {target}")
        return pipe


def dialer_for(proxy: str) -> ProxyDialer | None:
    """Return how a guard's own proxy goes through the user's; None without one. Raises
    `SetupError`."""
    if not proxy:
        return None
    parts = urlsplit(proxy)
    if parts.scheme != "http" or not parts.hostname:
        raise SetupError(f"a guard goes through http proxies only, not {parts.scheme}")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return ProxyDialer(parts.hostname, parts.port or 80, user, password)
