"""Recorded network traffic (HAR) as answers, from a proxy that never asks the network."""

import asyncio
import base64
import binascii
import hashlib
import json
import re
import ssl
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

from webagent.errors import SetupError

_LOST_ON_THE_WAY = {
    *("connection", "content-encoding", "content-length", "keep-alive", "proxy-authenticate"),
    *("proxy-connection", "strict-transport-security", "trailer", "transfer-encoding", "upgrade"),
}
"""Headers of one connection, or of a body that HAR files hold decoded."""
_BOUNDARY = re.compile(rb'boundary="?([^";\s]+)')


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """One recorded answer."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """What a request is recognised by."""

    method: str
    url: str
    """Without a fragment."""
    body: str
    """Digest of what was sent, empty for nothing; of forms the random boundary is left out."""

    @classmethod
    def of(cls, method: str, url: str, body: bytes, content_type: str) -> "RecordedRequest":
        """Return the same for requests that mean the same."""
        boundary = _BOUNDARY.search(content_type.encode())
        if boundary:
            body = body.replace(boundary[1], b"boundary")
        digest = hashlib.sha256(body).hexdigest() if body else ""
        return cls(method.upper(), urldefrag(url).url, digest)


class RecordedTraffic:
    """The answers of one recording. Each `replay` begins again from the first."""

    def __init__(
        self, answers: Mapping[RecordedRequest, tuple[RecordedResponse | None, ...]]
    ) -> None:
        self._answers = answers

    @classmethod
    def read(cls, path: Path) -> "RecordedTraffic":
        """Read a HAR file whose bodies are embedded. Raises `SetupError` when it is not one."""
        try:
            entries = json.loads(path.read_bytes())["log"]["entries"]
            answers: dict[RecordedRequest, list[RecordedResponse | None]] = defaultdict(list)
            for entry in entries:
                answers[_asked(entry["request"])].append(_answer(entry["response"]))
        except OSError as error:
            raise SetupError(f"the HAR file {path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            raise SetupError(
                f"{path} is no HAR file that can be replayed ({type(error).__name__}: {error}); "
                "record one with the profile's har_record"
            ) from error
        return cls({asked: tuple(each) for asked, each in answers.items()})

    def replay(self) -> "TrafficReplay":
        """Return the traffic from its beginning."""
        return TrafficReplay(self._answers)


def read_traffic(path: Path) -> RecordedTraffic:
    """As `Traffic.read`, but a file that has not changed is read once."""
    return (
        _read_once(path, path.stat().st_mtime_ns) if path.is_file() else RecordedTraffic.read(path)
    )


@lru_cache(maxsize=8)
def _read_once(path: Path, _changed: int) -> RecordedTraffic:
    return RecordedTraffic.read(path)


class TrafficReplay:
    """One run through a recording: a request that comes again gets the next answer recorded for
    it, and the last one from then on."""

    def __init__(
        self, answers: Mapping[RecordedRequest, tuple[RecordedResponse | None, ...]]
    ) -> None:
        self._answers = answers
        self._times: dict[RecordedRequest, int] = defaultdict(int)
        self._unknown: list[RecordedRequest] = []

    def answer(self, asked: RecordedRequest) -> RecordedResponse | None:
        """Return what was answered; None where the request failed, or was never made."""
        answers = self._answers.get(asked)
        if answers is None:
            self._unknown.append(asked)
            return None
        time = self._times[asked]
        self._times[asked] += 1
        return answers[min(time, len(answers) - 1)]

    def take_notes(self) -> list[str]:
        """Return what was asked for since the last time that the recording does not hold."""
        unknown, self._unknown = self._unknown, []
        named = [f"{each.method} {each.url}{self._why(each)}" for each in dict.fromkeys(unknown)]
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        return [f"not in the recording, so it failed: {', '.join(named[:3])}{more}"] * bool(named)

    def _why(self, asked: RecordedRequest) -> str:
        same = [each for each in self._answers if each.url == asked.url]
        if any(each.method == asked.method for each in same):
            return " with this content"
        return f" (only {', '.join(sorted({each.method for each in same}))})" if same else ""


def _asked(request: dict[str, Any]) -> RecordedRequest:
    sent = request.get("postData") or {}
    body = sent.get("text", "")
    raw = base64.b64decode(body) if sent.get("encoding") == "base64" else body.encode()
    content_type = sent.get("mimeType", "") or _header(request["headers"], "content-type")
    return RecordedRequest.of(request["method"], request["url"], raw, content_type)


def _answer(response: dict[str, Any]) -> RecordedResponse | None:
    """None for a request that was never answered."""
    if response["status"] <= 0:
        return None
    content = response.get("content", {})
    text = content.get("text", "")
    body = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()
    return RecordedResponse(
        response["status"],
        response.get("statusText") or "Recorded",
        tuple(_kept_headers(response["headers"])),
        body,
    )


def _kept_headers(headers: Iterable[dict[str, str]]) -> Iterable[tuple[str, str]]:
    for header in headers:
        name = header["name"]
        if not name.startswith(":") and name.lower() not in _LOST_ON_THE_WAY:
            for value in header["value"].split("\n"):
                yield name, value


def _header(headers: Iterable[dict[str, str]], wanted: str) -> str:
    return next((each["value"] for each in headers if each["name"].lower() == wanted), "")


_LONGEST_HEAD = 1 << 18
_LONGEST_BODY = 1 << 28
_BODILESS = (204, 304)


class FrozenSite:
    """Answers one browser context; `address` is the proxy to give it.

    HTTPS is answered too, with a certificate made on the spot, so the context must not insist on
    good ones. A request that the recording does not hold fails: its connection is closed.
    """

    def __init__(self, replay: TrafficReplay) -> None:
        self.address = ""
        self._replay = replay
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @classmethod
    async def open(cls, replay: TrafficReplay) -> "FrozenSite":
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
        """Answer requests one after another, until one has no answer."""
        origin = ""
        while head := await _read_head(reader):
            method, target, headers = head
            if method == "CONNECT":
                origin = await _tunnel(writer, target)
                continue
            body = await _read_body(reader, headers)
            url = origin + target if target.startswith("/") else target
            asked = RecordedRequest.of(method, url, body, headers.get("content-type", ""))
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


async def _write(writer: asyncio.StreamWriter, method: str, answer: RecordedResponse) -> None:
    body = b"" if method == "HEAD" or answer.status in _BODILESS else answer.body
    headers = [*answer.headers, ("Content-Length", str(len(body)))]
    lines = [f"HTTP/1.1 {answer.status} {answer.reason}", *(f"{n}: {v}" for n, v in headers)]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body)
    await writer.drain()


@cache
def _tls() -> ssl.SSLContext:
    """Return a certificate that nobody has signed, made once in each process."""
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
