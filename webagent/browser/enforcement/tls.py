"""What is asked and read in place of the browser: requests inside TLS, and CORS preflights."""

import asyncio
import base64
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

from webagent.browser.enforcement.connections import Dialer, RequestRefused
from webagent.browser.http import Connection, Head, make_server_context, read_head
from webagent.errors import SetupError
from webagent.guard.address import ParsedUrl, parse_url

_HANDSHAKE_SECONDS = 10.0


class TlsInspector:
    """Ends a browser's TLS here and begins another with the site."""

    def __init__(self, authorities: Path | None = None) -> None:
        from cryptography.hazmat.primitives.asymmetric import ec

        self._key = ec.generate_private_key(ec.SECP256R1())
        self._authorities = authorities
        self._contexts: dict[str, ssl.SSLContext] = {}

    @property
    def flag(self) -> str:
        """Return the browser's flag to trust this key beside the usual authorities."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._key.public_key()
        info = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        pin = base64.b64encode(sha256(info).digest()).decode()
        return f"--ignore-certificate-errors-spki-list={pin}"

    async def welcome(self, client: Connection, host: str) -> None:
        """Be the host for a browser that asked for a tunnel. Raises `OSError`."""
        client[1].transport.pause_reading()  # type: ignore[attr-defined]
        client[1].write(b"HTTP/1.1 200 Connected\r\n\r\n")
        if host not in self._contexts:
            self._contexts[host] = make_server_context(self._key, "webagent guard", host)
        context = self._contexts[host]
        await client[1].start_tls(context, ssl_handshake_timeout=_HANDSHAKE_SECONDS)

    async def secure(self, server: Connection, host: str) -> None:
        """Begin TLS with the site, whose certificate must be good. Raises `OSError`."""
        await server[1].start_tls(
            self._trust, server_hostname=host, ssl_handshake_timeout=_HANDSHAKE_SECONDS
        )

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        if self._authorities is not None:
            try:
                context.load_verify_locations(self._authorities)
            except (OSError, ssl.SSLError) as error:
                raise SetupError(f"authorities: {self._authorities} ({error})") from error
        return context

    def check(self) -> None:
        """Raise `SetupError` where the authorities cannot be read."""
        _ = self._trust


@cache
def inspector_with(authorities: Path | None) -> TlsInspector:
    """Return the inspector of this process that trusts these authorities as well."""
    return TlsInspector(authorities)


ANSWER_SECONDS = 10.0
_SIMPLE_METHODS = ("GET", "HEAD", "POST")
_SIMPLE_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
_SIMPLE_FIELDS = {
    *("accept", "accept-language", "content-language", "content-type", "origin", "referer"),
    *("user-agent", "range", "purpose", "upgrade-insecure-requests", "save-data", "dpr"),
    *("viewport-width", "width", "device-memory", "rtt", "downlink", "ect"),
    *("cache-control", "pragma", "cookie"),
}


@dataclass(frozen=True, slots=True)
class PreflightRequest:
    """What a site is asked: who wants to send it what."""

    address: ParsedUrl
    origin: str
    method: str
    fields: tuple[str, ...]
    """Names of the header fields that a page may not set without asking, in order."""

    @classmethod
    def of(cls, url: str, method: str, fields: Mapping[str, str]) -> "PreflightRequest | None":
        """None for what is sent without asking: to the page's own origin, or as a form could."""
        address, origin = parse_url(url), fields.get("origin", "")
        if not origin or origin == address.origin or address.scheme not in ("http", "https"):
            return None
        simple = {each for each in fields if each.startswith(("sec-", "proxy-"))} | _SIMPLE_FIELDS
        if fields.get("content-type", "").partition(";")[0].strip().lower() not in _SIMPLE_TYPES:
            simple.discard("content-type")
        unusual = tuple(sorted(fields.keys() - simple))
        if method in _SIMPLE_METHODS and not unusual:
            return None
        return cls(address, origin, method, unusual)

    def text(self) -> bytes:
        """Return the question as it is sent."""
        lines = [
            f"OPTIONS {self.address.path} HTTP/1.1",
            f"Host: {self.address.origin.partition('://')[2]}",
            f"Origin: {self.origin}",
            f"Access-Control-Request-Method: {self.method}",
            "Sec-Fetch-Mode: cors",
            "Connection: close",
        ]
        if self.fields:
            lines.append(f"Access-Control-Request-Headers: {','.join(self.fields)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def is_granted_by(self, answer: Head) -> bool:
        """Return whether the answer lets the request through."""
        if answer.line.split(" ")[1:2] not in (["200"], ["204"]):
            return False
        methods = _listed(answer, "access-control-allow-methods")
        fields = {name.lower() for name in _listed(answer, "access-control-allow-headers")}
        return (
            bool({"*", self.origin} & _listed(answer, "access-control-allow-origin"))
            and (self.method in _SIMPLE_METHODS or bool({"*", self.method} & methods))
            and ("*" in fields or fields.issuperset(self.fields))
        )


async def is_granted(question: PreflightRequest, dial: Dialer, inspector: TlsInspector) -> bool:
    """Return what the site answers; no answer, or one that cannot be read, is a no."""
    address = question.address
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            server = await dial.dial(address.host, address.port)
            try:
                if address.scheme == "https":
                    await inspector.secure(server, address.host)
                server[1].write(question.text())
                return question.is_granted_by(await read_head(server[0]))
            finally:
                server[1].close()
    except (OSError, EOFError, ValueError, RequestRefused, asyncio.LimitOverrunError):
        return False


def _listed(answer: Head, name: str) -> set[str]:
    values = ",".join(answer.values(name)).split(",")
    return {value.strip() for value in values}
