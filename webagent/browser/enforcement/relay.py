"""HTTP as it is passed on: heads that can be read in one way only, bodies as announced."""

import asyncio
import re
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass

HEAD_SECONDS = 30.0
HEAD_BYTES = 65_536
_CHUNK = 65_536
_SHORT = 1_000_000
_HOP_BY_HOP = ("connection", "keep-alive", "proxy-connection", "proxy-authorization", "upgrade")

Pipe = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a request or a response: its first line and its fields, in order."""

    line: str
    fields: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        """All values of a field; names are in lower case."""
        return [value for each, value in self.fields if each == name]

    def encoded(self, line: str) -> bytes:
        """For a connection that is closed after it, under another first line."""
        kept = [(n, v) for n, v in self.fields if n not in _HOP_BY_HOP]
        lines = [line, *(f"{n}: {v}" for n, v in kept), "connection: close"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def read_head(reader: asyncio.StreamReader) -> Head:
    """The head of the next message. Raises `ValueError`, `EOFError` or `TimeoutError`."""
    return parse_head(await until_blank_line(reader))


def parse_head(raw: bytes) -> Head:
    """A message's head, of which nothing may be read in two ways. Raises `ValueError`."""
    first, *rest = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    fields = []
    for line in rest:
        found = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*", line)
        if not found:
            raise ValueError(f"not a header field: {line[:80]!r}")
        fields.append((found[1].lower(), found[2]))
    return Head(first, tuple(fields))


async def until_blank_line(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(HEAD_SECONDS):
        return await reader.readuntil(b"\r\n\r\n")


async def read_body(reader: asyncio.StreamReader, head: Head) -> bytes | None:
    """The whole body where it is short; None for one to be passed on by `send_body`."""
    lengths, codings = head.values("content-length"), head.values("transfer-encoding")
    if codings or len(lengths) != 1 or not lengths[0].isdigit() or int(lengths[0]) > _SHORT:
        return None if codings or lengths else b""
    return await reader.readexactly(int(lengths[0]))


async def pause() -> None:
    """Nothing to send."""


async def send_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: Head) -> None:
    """The body as its head announces it, and nothing that comes after it."""
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


async def send_reply(server: Pipe, writer: asyncio.StreamWriter) -> None:
    """The response, told to be the last of its connection."""
    while True:
        head = parse_head(await server[0].readuntil(b"\r\n\r\n"))
        writer.write(head.encoded(head.line))
        if not re.match(r"HTTP/1\.\d 1\d\d", head.line):
            break
    await pump(server[0], writer)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def together(upwards: Awaitable[None], downwards: Awaitable[None]) -> None:
    """Both directions, until the answer has ended."""
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
