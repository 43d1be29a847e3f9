"""Reading what browsers send inside TLS: a key of our own, which one browser is told to trust."""

import base64
import os
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path

from webagent.browser.enforcement.relay import Pipe
from webagent.errors import SetupError
from webagent.guard.address import read_ip

_HANDSHAKE_SECONDS = 10.0


class Inspector:
    """Ends a browser's TLS here and begins another with the site. The key never leaves memory but
    for the moment in which it is loaded, in a file that only this user can read."""

    def __init__(self, authorities: Path | None = None) -> None:
        from cryptography.hazmat.primitives.asymmetric import ec

        self._key = ec.generate_private_key(ec.SECP256R1())
        self._authorities = authorities
        self._contexts: dict[str, ssl.SSLContext] = {}

    @property
    def flag(self) -> str:
        """What the browser is started with, to trust this key and no other beside the usual."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._key.public_key()
        info = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        pin = base64.b64encode(sha256(info).digest()).decode()
        return f"--ignore-certificate-errors-spki-list={pin}"

    async def welcome(self, client: Pipe, host: str) -> None:
        """Be the host for a browser that asked for a tunnel. Raises `OSError`."""
        client[1].transport.pause_reading()  # type: ignore[attr-defined]
        client[1].write(b"HTTP/1.1 200 Connected\r\n\r\n")
        await client[1].start_tls(self._context_for(host), ssl_handshake_timeout=_HANDSHAKE_SECONDS)

    async def secure(self, server: Pipe, host: str) -> None:
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
        """Raises `SetupError` where the authorities cannot be read."""
        _ = self._trust

    def _context_for(self, host: str) -> ssl.SSLContext:
        if host not in self._contexts:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.set_alpn_protocols(["http/1.1"])
            handle, name = tempfile.mkstemp()
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(self._certificate(host))
                context.load_cert_chain(name)
            finally:
                os.unlink(name)
            self._contexts[host] = context
        return self._contexts[host]

    def _certificate(self, host: str) -> bytes:
        """The key and a certificate for one host, as PEM."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives import serialization as form

        is_ip = read_ip(host) is not None
        named = x509.IPAddress(ip_address(host)) if is_ip else x509.DNSName(host)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "webagent guard")])
        now, number = datetime.now(UTC), x509.random_serial_number()
        day = timedelta(days=1)
        signed = (
            x509.CertificateBuilder(name, name, self._key.public_key(), number)
            .not_valid_before(now - day)
            .not_valid_after(now + 30 * day)
            .add_extension(x509.SubjectAlternativeName([named]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        key = self._key.private_bytes(
            form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
        )
        return key + signed.public_bytes(form.Encoding.PEM)


@cache
def inspector_with(authorities: Path | None) -> Inspector:
    """The inspector of this process that trusts these authorities as well."""
    return Inspector(authorities)
