"""The guard's forward proxy, one for each episode: its pages reach nothing but through it.

It resolves names itself and connects to the very address that it checked, so that neither a name
server nor a page can lead it elsewhere. Inside TLS it sees only what an inspector shows it.
"""

import asyncio
import base64
import re
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path

from webagent.browser.enforcement.connections import (
    Dialer,
    DirectDialer,
    RequestRefused,
    TrafficGate,
    copy_stream,
    offers_only_http1,
    read_body,
    relay_both,
    send_body,
    send_messages,
    send_reply,
)
from webagent.browser.http import (
    HEAD_BYTES,
    HEAD_SECONDS,
    REFUSED,
    Connection,
    Head,
    make_server_context,
    parse_head,
    read_head,
    read_head_bytes,
)
from webagent.errors import SetupError
from webagent.guard.address import ParsedUrl, parse_url
from webagent.guard.decide import GuardVerdict, refuse

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
        # A stream's transport can pause, but is typed as one that may be for writing alone.
        client[1].transport.pause_reading()  # type: ignore[attr-defined]
        client[1].write(b"HTTP/1.1 200 Connected\r\n\r\n")
        if host not in self._contexts:
            self._contexts[host] = make_server_context(self._key, "webagent guard", host)
        context = self._contexts[host]
        await client[1].start_tls(context, ssl_handshake_timeout=_HANDSHAKE_SECONDS)

    async def secure(self, server: Connection, host: str, insecure: Collection[str] = ()) -> None:
        """Begin TLS with the site, whose certificate must be good unless the host is one of the
        `insecure`. Raises `OSError`."""
        trust = self._unchecked if host in insecure else self._trust
        await server[1].start_tls(
            trust, server_hostname=host, ssl_handshake_timeout=_HANDSHAKE_SECONDS
        )

    @cached_property
    def _unchecked(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context

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


async def is_granted(
    question: PreflightRequest,
    dial: Dialer,
    inspector: TlsInspector,
    insecure: Collection[str] = (),
) -> bool:
    """Return what the site answers; no answer, or one that cannot be read, is a no."""
    address = question.address
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            server = await dial.dial(address.host, address.port)
            try:
                if address.scheme == "https":
                    await inspector.secure(server, address.host, insecure)
                server[1].write(question.text())
                return question.is_granted_by(await read_head(server[0]))
            finally:
                server[1].close()
    except (OSError, EOFError, ValueError, RequestRefused, asyncio.LimitOverrunError):
        return False


def _listed(answer: Head, name: str) -> set[str]:
    values = ",".join(answer.values(name)).split(",")
    return {value.strip() for value in values}


CONNECT_SECONDS = 10.0
_TLS = b"\x16"
_COMPRESSION = re.compile(rb"(?i)\r\nsec-websocket-extensions:[^\r\n]*\r\n")
"""A server that is not offered any compresses no messages, and they can be read."""


class GuardProxy:
    """Listens on a port of this machine until it is closed; what is under way is then cut off.

    `dial` makes the connection to a host and port that may be reached: directly, or through a proxy
    of the user's own (see `Dial`). With an inspector it reads what is inside TLS as well.
    """

    def __init__(
        self,
        gate: TrafficGate,
        dial: Dialer | None = None,
        inspector: TlsInspector | None = None,
        insecure: Collection[str] = (),
    ) -> None:
        self._gate = gate
        self._insecure = insecure
        self._inspector = inspector
        self._dial = dial or DirectDialer(gate)
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        """Begin to listen; return the address for the browser."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._serve((reader, writer)))
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)
            # Also where it was cancelled before it began.
            task.add_done_callback(lambda _: writer.close())

        self._server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=HEAD_BYTES)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Stop listening and cut off what is under way. Safe to call twice."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        serving = list(self._serving)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _serve(self, client: Connection) -> None:
        try:
            head = await read_head(client[0])
            method, target, _ = head.line.split(" ", 2)
            if method == "CONNECT":
                await self._tunnel(client, target)
            elif target.startswith("http://"):
                await self._forward(client, head, method, target)
            else:
                await _answer(client, 400, "this is a proxy")
        except RequestRefused as refusal:
            self._gate.note(refusal.what, refusal.verdict)
        except (OSError, EOFError, ValueError, TimeoutError, asyncio.LimitOverrunError):
            pass  # broken connections and nonsense end here, and the browser says what it saw

    async def _forward(self, client: Connection, head: Head, method: str, url: str) -> None:
        """Pass on one HTTP request, then close the connection at both ends."""
        body = await read_body(client[0], head)
        verdict = self._judge(head, method, url, body)
        if not verdict.is_allowed:
            # A navigation gets an answer that leaves the page where it is.
            is_navigation = bool(head.values("upgrade-insecure-requests"))
            await _answer(client, 204 if is_navigation else 403, verdict.reason)
            raise RequestRefused(f"{method} {url}", verdict)
        address = parse_url(url)
        server = await self._reach(client, address.host, address.port, f"{method} {url}")
        try:
            await self._secure(server, address)
            server[1].write(head.encoded(f"{method} {address.path} HTTP/1.1") + (body or b""))
            reply = send_reply(server, client[1])
            if body is None:
                await relay_both(send_body(client[0], server[1], head), reply)
            else:
                await reply
        finally:
            server[1].close()

    async def _tunnel(self, client: Connection, target: str) -> None:
        """Connect to a host and port, for TLS or for a plain web socket."""
        address = parse_url(f"https://{target}/")
        host, port, what = address.host, address.port, f"connection to {target}"
        secure = self._gate.server(host, port, ("https", "wss"))
        plain = self._gate.server(host, port, ("http", "ws"))
        if not secure.is_allowed and not plain.is_allowed:
            await _answer(client, 403, secure.reason)
            raise RequestRefused(what, secure)
        if self._inspector is not None and secure.is_allowed:
            return await self._inspect(client, address, self._inspector)
        server = await self._reach(client, host, port, what)
        try:
            client[1].write(b"HTTP/1.1 200 Connected\r\n\r\n")
            async with asyncio.timeout(HEAD_SECONDS):
                first = await client[0].readexactly(1)
                if first == _TLS:
                    if not secure.is_allowed:
                        raise RequestRefused(f"https connection to {host}:{port}", secure)
                    first += await client[0].readexactly(4)
                    first += await client[0].readexactly(int.from_bytes(first[3:]))
                else:
                    first += await read_head_bytes(client[0])
            if first[:1] != _TLS:
                url = await self._judge_socket(client, first, ParsedUrl("ws", host, port))
                return await self._relay_socket(client, server, first, url)
            if offers_only_http1(first):
                self._judge_message(f"wss://{target}/", None)
            server[1].write(first)
            await relay_both(copy_stream(client[0], server[1]), copy_stream(server[0], client[1]))
        finally:
            server[1].close()

    async def _inspect(self, client: Connection, place: ParsedUrl, inspector: TlsInspector) -> None:
        """Pass on a request inside TLS, which ends here and begins anew."""
        await inspector.welcome(client, place.host)
        raw = await read_head_bytes(client[0])
        head = parse_head(raw)
        method, path, _ = head.line.split(" ", 2)
        if not head.values("upgrade"):
            await self._forward(client, head, method, f"{place.origin}{path}")
            return
        url = await self._judge_socket(client, raw, replace(place, scheme="wss"))
        server = await self._reach(client, place.host, place.port, f"web socket {place.origin}")
        try:
            await self._secure(server, place)
            await self._relay_socket(client, server, raw, url)
        finally:
            server[1].close()

    async def _secure(self, server: Connection, address: ParsedUrl) -> None:
        if address.scheme == "https" and self._inspector is not None:
            await self._inspector.secure(server, address.host, self._insecure)

    async def _judge_socket(self, client: Connection, raw: bytes, place: ParsedUrl) -> str:
        """Return the address of the web socket that a head opens; nothing else may pass."""
        head = parse_head(raw)
        method, path, _ = head.line.split(" ", 2)
        is_socket = [value.lower() for value in head.values("upgrade")] == ["websocket"]
        url = f"{place.origin}{path}"
        verdict = (
            self._judge(head, method, url, b"")
            if is_socket and path.startswith("/")
            else refuse("only web sockets may use such a tunnel", "proxy")
        )
        if not verdict.is_allowed:
            await _answer(client, 403, verdict.reason)
            raise RequestRefused(f"web socket {url}", verdict)
        return url

    async def _relay_socket(
        self, client: Connection, server: Connection, raw: bytes, url: str
    ) -> None:
        """Open a web socket, and pass on its messages."""
        if self._gate.is_searched(url):
            raw = _COMPRESSION.sub(b"\r\n", raw)
            upwards = send_messages(client[0], server[1], partial(self._judge_message, url))
        else:
            upwards = copy_stream(client[0], server[1])
        server[1].write(raw)
        await relay_both(upwards, copy_stream(server[0], client[1]))

    def _judge_message(self, url: str, body: bytes | None) -> None:
        verdict = self._gate.message(url, body)
        if not verdict.is_allowed:
            raise RequestRefused(f"web socket {url}", verdict)

    def _judge(self, head: Head, method: str, url: str, body: bytes | None) -> GuardVerdict:
        if head.values("service-worker"):
            return refuse("service workers are closed", "service workers")
        carried = "\n".join(value for _, value in head.fields)
        is_plain = not head.values("content-encoding")
        return self._gate.request(url, method, carried, body if is_plain else None)

    async def _reach(self, client: Connection, host: str, port: int, what: str) -> Connection:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await self._dial.dial(host, port)
        except RequestRefused as refusal:
            await _answer(client, 403, refusal.verdict.reason)
            raise RequestRefused(what, refusal.verdict) from refusal
        except OSError as error:
            await _answer(client, 502, f"{host} cannot be reached")
            raise OSError(f"{host}:{port} cannot be reached") from error


async def _answer(client: Connection, status: int, reason: str) -> None:
    """Answer in place of the host; with the reason, unless the status allows no body."""
    body = f"refused: {reason}\n".encode() if status != 204 else b""
    form = f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    head = f"HTTP/1.1 {status} {REFUSED}\r\n{form if body else ''}Connection: close\r\n\r\n"
    client[1].write(head.encode() + body)
    await client[1].drain()
