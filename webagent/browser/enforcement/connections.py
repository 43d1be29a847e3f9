"""The connections of the guard's proxy: how it reaches hosts, and HTTP as it is passed on."""

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from typing import Protocol
from urllib.parse import unquote, urlsplit

from webagent.browser.http import HEAD_BYTES, Connection, Head, parse_head, read_head
from webagent.errors import SetupError
from webagent.guard.address import parse_ip
from webagent.guard.decide import GuardVerdict

_CHUNK = 65_536
_SHORT = 1_000_000


async def read_body(reader: asyncio.StreamReader, head: Head) -> bytes | None:
    """Return the whole body where it is short; None for one to be passed on by `send_body`."""
    lengths, codings = head.values("content-length"), head.values("transfer-encoding")
    if codings or len(lengths) != 1 or not lengths[0].isdigit() or int(lengths[0]) > _SHORT:
        return None if codings or lengths else b""
    return await reader.readexactly(int(lengths[0]))


async def send_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: Head) -> None:
    """Send the body as its head announces it, and nothing that comes after it."""
    lengths, codings = head.values("content-length"), head.values("transfer-encoding")
    if len(lengths) + len(codings) > 1:
        raise ValueError("a request with two lengths")
    if not codings:
        return await _send_exactly(reader, writer, int(lengths[0]) if lengths else 0)
    size = -1
    while size:
        line = await reader.readuntil(b"\r\n")
        size = int(line.split(b";")[0], 16)
        writer.write(line)
        await _send_exactly(reader, writer, size + 2)


async def _send_exactly(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: int
) -> None:
    while left > 0:
        data = await reader.read(min(left, _CHUNK))
        if not data:
            raise EOFError("the request was cut off")
        left -= len(data)
        writer.write(data)
        await writer.drain()


async def send_reply(server: Connection, writer: asyncio.StreamWriter) -> None:
    """Send the response on, marked as the last of its connection."""
    while True:
        head = parse_head(await server[0].readuntil(b"\r\n\r\n"))
        writer.write(head.encoded(head.line))
        if not re.match(r"HTTP/1\.\d 1\d\d", head.line):
            break
    await copy_stream(server[0], writer)


async def copy_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on whatever comes, until its end."""
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


_CONTROL = 8
"""Opcodes from here on are of frames between those of a message: close, ping, pong."""


async def send_messages(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    judge: Callable[[bytes | None], None],
) -> None:
    """Pass on the frames that a browser sends by a web socket (RFC 6455), each once `judge` has
    been shown its message so far, or None for a frame that is too long. It raises what ends this.
    """
    message = b""
    while True:
        head = await reader.readexactly(2)
        opcode, is_last, size = head[0] & 15, head[0] & 128, head[1] & 127
        if extended := {126: 2, 127: 8}.get(size, 0):
            head += await reader.readexactly(extended)
            size = int.from_bytes(head[2:])
        mask = await reader.readexactly(4 if head[1] & 128 else 0)
        if size > _SHORT:
            judge(None)
            writer.write(head + mask)
            await _send_exactly(reader, writer, size)
            continue
        payload = await reader.readexactly(size)
        key = (mask * (size // 4 + 1))[:size] or bytes(size)
        plain = (int.from_bytes(payload) ^ int.from_bytes(key)).to_bytes(size)
        if opcode >= _CONTROL:
            judge(plain)
        else:
            # What a long message ends with is enough to find a value that lies in two frames.
            message = (message + plain)[-_SHORT:]
            judge(message)
            message = b"" if is_last else message
        writer.write(head + mask + payload)
        await writer.drain()


def offers_only_http1(hello: bytes) -> bool:
    """Return whether the beginning of TLS offers HTTP/1.1 and nothing newer (RFC 7301), as
    Chromium does for web sockets alone."""
    return b"\x00\x10\x00\x0b\x00\x09\x08http/1.1" in hello


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

    def request(
        self, url: str, method: str, text: str = "", body: bytes | None = b""
    ) -> GuardVerdict:
        """Return whether a request whose address and head can be read may pass; None stands for a
        body that cannot be searched for secrets."""

    def message(self, url: str, body: bytes | None) -> GuardVerdict:
        """Return whether a web socket may send this; None stands for what cannot be searched."""

    def is_searched(self, url: str) -> bool:
        """Return whether there are secrets that must not go to this address."""

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
        with ExitStack() as undo:
            undo.callback(pipe[1].close)
            try:
                pipe[1].write(("\r\n".join(lines) + "\r\n\r\n").encode())
                status = (await read_head(pipe[0])).line.split(" ")[1:2]
            except (EOFError, ValueError) as error:
                raise OSError(f"{self!r} does not speak HTTP") from error
            if status != ["200"]:
                raise OSError(f"{self!r} answered {' '.join(status)} for {target}")
            undo.pop_all()
        return pipe


def dialer_for(proxy: str) -> ProxyDialer | None:
    """Return the way through the user's proxy; None without one. Raises `SetupError`."""
    if not proxy:
        return None
    parts = urlsplit(proxy)
    if parts.scheme != "http" or not parts.hostname:
        raise SetupError(f"a guard goes through http proxies only, not {parts.scheme}")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return ProxyDialer(parts.hostname, parts.port or 80, user, password)
