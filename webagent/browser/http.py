"""What the guard's proxy and a frozen site share: heads of HTTP/1.1 messages, and certificates."""

import asyncio
import os
import re
import ssl
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

from webagent.guard.address import parse_ip

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

REFUSED = "Refused"
"""The reason phrase of the answers that the guard gives in place of a site."""
HEAD_SECONDS = 30.0
HEAD_BYTES = 65_536
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


def make_server_context(key: "EllipticCurvePrivateKey", name: str, host: str) -> ssl.SSLContext:
    """Return the TLS of a server at this host, with a certificate that the key itself has signed.

    The key never leaves memory but for the moment in which it is loaded, in a file that only this
    user can read.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    is_ip = parse_ip(host) is not None
    alternative = x509.IPAddress(ip_address(host)) if is_ip else x509.DNSName(host)
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now, day = datetime.now(UTC), timedelta(days=1)
    signed = (
        x509.CertificateBuilder(issuer, issuer, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + 30 * day)
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_alpn_protocols(["http/1.1"])
    handle, path = tempfile.mkstemp()
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(private + signed.public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(path)
    finally:
        os.unlink(path)
    return context
