"""A site frozen in a recording: a proxy that answers from it and never asks the network."""

import asyncio
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from webagent.browser.sessions.har import Asked, Recorded, Replay

_LONGEST_HEAD = 1 << 18
_LONGEST_BODY = 1 << 28
_BODILESS = (204, 304)


class FrozenSite:
    """Answers one browser context; `address` is the proxy to give it.

    HTTPS is answered too, with a certificate made on the spot, so the context must not insist on
    good ones. A request that the recording does not hold fails: its connection is closed.
    """

    def __init__(self, replay: Replay) -> None:
        self.address = ""
        self._replay = replay
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @classmethod
    async def open(cls, replay: Replay) -> "FrozenSite":
        """Listen on a port of its own, on this machine only."""
        site = cls(replay)
        site._server = await asyncio.start_server(site._serve, "127.0.0.1", 0, limit=_LONGEST_HEAD)
        site.address = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
        return site

    async def close(self) -> None:
        """Answer no more. Never raises."""
        if self._server is not None:
            self._server.close()
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            await self._talk(reader, writer)
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the browser hung up or speaks something else; there is nobody to tell
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Requests one after another, until one has no answer."""
        origin = ""
        while head := await _read_head(reader):
            method, target, headers = head
            if method == "CONNECT":
                origin = await _tunnel(writer, target)
                continue
            body = await _read_body(reader, headers)
            url = origin + target if target.startswith("/") else target
            asked = Asked.of(method, url, body, headers.get("content-type", ""))
            answer = self._replay.answer(asked)
            if answer is None:
                return
            await _write(writer, method, answer)


async def _read_head(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str]] | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    return method, target, {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        length = int(headers.get("content-length", 0))
        if length > _LONGEST_BODY:
            raise ValueError("the request is too long")
        return await reader.readexactly(length)
    parts = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(parts)


async def _tunnel(writer: asyncio.StreamWriter, target: str) -> str:
    """Be the site that the browser wants a tunnel to; the beginning of its addresses."""
    writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
    await writer.drain()
    host, _, port = target.rpartition(":")
    if port == "80":
        return f"http://{host}"
    await writer.start_tls(_tls())
    return f"https://{host}" if port == "443" else f"https://{target}"


async def _write(writer: asyncio.StreamWriter, method: str, answer: Recorded) -> None:
    body = b"" if method == "HEAD" or answer.status in _BODILESS else answer.body
    headers = [*answer.headers, ("Content-Length", str(len(body)))]
    lines = [f"HTTP/1.1 {answer.status} {answer.reason}", *(f"{n}: {v}" for n, v in headers)]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body)
    await writer.drain()


@cache
def _tls() -> ssl.SSLContext:
    """A certificate that nobody has signed, made once in each process."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "frozen.invalid")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        chain = Path(folder) / "certificate.pem"
        chain.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(chain)
    return context
