"""The guard's forward proxy, one for each episode: its pages reach nothing but through it.

It resolves names itself and connects to the very address that it checked, so that neither a name
server nor a page can lead it elsewhere. Inside TLS it sees only what an inspector shows it.
"""

import asyncio
from dataclasses import replace

from webagent.browser.enforcement.connections import (
    Dialer,
    DirectDialer,
    RequestRefused,
    TrafficGate,
    copy_stream,
    read_body,
    relay_both,
    send_body,
    send_reply,
)
from webagent.browser.enforcement.tls import TlsInspector
from webagent.browser.http import (
    HEAD_BYTES,
    HEAD_SECONDS,
    Connection,
    Head,
    parse_head,
    read_head,
    read_head_bytes,
)
from webagent.guard.address import ParsedUrl, parse_url
from webagent.guard.decide import GuardVerdict, refuse

CONNECT_SECONDS = 10.0
_TLS = b"\x16"


class GuardProxy:
    """Listens on a port of this machine until it is closed; what is under way is then cut off.

    `dial` makes the connection to a host and port that may be reached: directly, or through a proxy
    of the user's own (see `Dial`). With an inspector it reads what is inside TLS as well.
    """

    def __init__(
        self, gate: TrafficGate, dial: Dialer | None = None, inspector: TlsInspector | None = None
    ) -> None:
        self._gate = gate
        self._inspector = inspector
        self._dial = dial or DirectDialer(gate)
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        """Begin to listen; return the address for the browser."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_BYTES)
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

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve((reader, writer)))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        task.add_done_callback(lambda _: writer.close())  # also where it was cancelled unbegun

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
        verdict = self._judge(head, method, url, body or b"")
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
            if first != _TLS:
                first += await read_head_bytes(client[0])
                await self._judge_socket(client, parse_head(first), ParsedUrl("ws", host, port))
            elif not secure.is_allowed:
                raise RequestRefused(f"https connection to {host}:{port}", secure)
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
        await self._judge_socket(client, head, replace(place, scheme="wss"))
        server = await self._reach(client, place.host, place.port, f"web socket {place.origin}")
        try:
            await self._secure(server, place)
            server[1].write(raw)
            await relay_both(copy_stream(client[0], server[1]), copy_stream(server[0], client[1]))
        finally:
            server[1].close()

    async def _secure(self, server: Connection, address: ParsedUrl) -> None:
        if address.scheme == "https" and self._inspector is not None:
            await self._inspector.secure(server, address.host)

    async def _judge_socket(self, client: Connection, head: Head, place: ParsedUrl) -> None:
        """Pass what opens a web socket, and nothing else."""
        method, path, _ = head.line.split(" ", 2)
        is_socket = [value.lower() for value in head.values("upgrade")] == ["websocket"]
        url = f"{place.origin}{path}"
        verdict = (
            self._judge(head, method, url)
            if is_socket and path.startswith("/")
            else refuse("only web sockets may use such a tunnel", "proxy")
        )
        if not verdict.is_allowed:
            await _answer(client, 403, verdict.reason)
            raise RequestRefused(f"web socket {url}", verdict)

    def _judge(self, head: Head, method: str, url: str, body: bytes = b"") -> GuardVerdict:
        if head.values("service-worker"):
            return refuse("service workers are closed", "service workers")
        carried = [value for _, value in head.fields]
        text = body.decode("utf-8", errors="replace")
        return self._gate.request(url, method, "\n".join([*carried, text]))

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
    head = f"HTTP/1.1 {status} Refused\r\n{form if body else ''}Connection: close\r\n\r\n"
    client[1].write(head.encode() + body)
    await client[1].drain()
