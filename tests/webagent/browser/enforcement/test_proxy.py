"""The wall lets pass what its gate allows, whole and unchanged, and not a byte more."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from webagent.browser.enforcement.connections import Dialer, ProxyDialer
from webagent.browser.enforcement.proxy import GuardProxy
from webagent.browser.http import Connection, parse_head
from webagent.guard.decide import ALLOWED, GuardVerdict, refuse


class Gate:
    """Opens what it is told to, and remembers the rest."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.ips = ["127.0.0.1"]
        self.closed_ips: set[str] = set()
        self.asked: list[str] = []
        self.refused: list[str] = []
        self.messages: list[bytes | None] = []

    def request(self, url, method, text="", body=b""):
        """Everything but paths that say no."""
        self.asked.append(f"{method} {url}")
        is_no = "/no" in url or "/no" in text or b"/no" in (body or b"")
        return refuse("no means no") if is_no else ALLOWED

    def message(self, url: str, body: bytes | None) -> GuardVerdict:
        """Everything that can be read and does not say no."""
        self.messages.append(body)
        return refuse("no means no") if body is None or b"/no" in body else ALLOWED

    def is_searched(self, url: str) -> bool:
        """Everything."""
        return True

    def server(self, host: str, port: int, schemes: tuple[str, ...]) -> GuardVerdict:
        """`tls.test` for TLS, `plain.test` for anything else."""
        is_open = host == ("tls.test" if "https" in schemes else "plain.test")
        return ALLOWED if is_open else refuse("closed server")

    def ip(self, host: str, port: int, ip: str) -> GuardVerdict:
        """All but those closed."""
        return refuse("closed network") if ip in self.closed_ips else ALLOWED

    async def resolve(self, host: str, port: int) -> list[str]:
        """Every name leads to the same addresses."""
        return self.ips

    def note(self, what: str, verdict: GuardVerdict) -> None:
        """Remember."""
        self.refused.append(what)


class Upstream:
    """A server that answers everything and keeps what it was sent."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=9\r\n\r\nhi"
        self.stays_open = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Note all that comes."""
        place = len(self.received)
        self.received.append(b"")
        try:
            while data := await reader.read(1 << 16):
                self.received[place] += data
                if b"\r\n\r\n" in self.received[place] or data[:1] == b"\x16":
                    writer.write(self.reply)
                    if not self.stays_open:
                        break
        finally:
            writer.close()


class Wall:
    """A proxy with its gate, in front of a server."""

    def __init__(self, upstream: Upstream, gate: Gate, proxy: GuardProxy, address: str) -> None:
        self.upstream, self.gate, self.proxy = upstream, gate, proxy
        host, port = address.removeprefix("http://").split(":")
        self.host, self.port = host, int(port)

    @asynccontextmanager
    async def talk(self) -> AsyncIterator[Connection]:
        """A connection to the proxy."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        yield reader, writer
        writer.close()

    async def answer(self, request: bytes) -> bytes:
        """All that comes back for a request, until the proxy hangs up."""
        async with self.talk() as (reader, writer), asyncio.timeout(5):
            writer.write(request)
            return await reader.read(-1)

    def get(self, path: str = "/", more: str = "") -> bytes:
        """A plain request as browsers send it to a proxy."""
        return (
            f"GET http://site.test:{self.gate.port}{path} HTTP/1.1\r\nHost: site.test\r\n"
            f"Proxy-Connection: keep-alive\r\n{more}\r\n"
        ).encode()

    def connect(self, host: str) -> bytes:
        """A request for a tunnel."""
        return f"CONNECT {host}:{self.gate.port} HTTP/1.1\r\n\r\n".encode()


@asynccontextmanager
async def guarding(dial: Dialer | None = None) -> AsyncIterator[Wall]:
    """A server with the wall in front of it."""
    server = Upstream()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    gate = Gate(listening.sockets[0].getsockname()[1])
    proxy = GuardProxy(gate, dial)
    yield Wall(server, gate, proxy, await proxy.open())
    await proxy.close()
    listening.close()


@pytest.fixture
async def wall() -> AsyncIterator[Wall]:
    """A wall of its own for one test."""
    async with guarding() as built:
        yield built


async def test_a_plain_request_passes_in_the_form_servers_expect(wall: Wall) -> None:
    reply = await wall.answer(wall.get("/a?b=c", "Accept: text/html\r\n"))
    assert reply.endswith(b"\r\n\r\nhi") and b"connection: close" in reply
    head = parse_head(wall.upstream.received[0])
    assert head.line == "GET /a?b=c HTTP/1.1"
    assert head.values("accept") == ["text/html"]
    assert head.values("connection") == ["close"]
    assert not head.values("proxy-connection")


async def test_a_second_request_on_the_same_connection_does_not_slip_through(wall: Wall) -> None:
    wall.upstream.stays_open = True
    async with wall.talk() as (reader, writer):
        writer.write(wall.get("/a") + wall.get("/no"))
        await reader.readuntil(b"hi")
        await asyncio.sleep(0.1)
    assert b"/no" not in wall.upstream.received[0]


@pytest.mark.parametrize(
    ("body", "announced"),
    [
        (b"x" * 100_000, "Content-Length: 100000"),
        (b"5\r\nhello\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
    ],
)
async def test_a_body_passes_whole(wall, body, announced):
    wall.upstream.stays_open = True
    async with wall.talk() as (reader, writer), asyncio.timeout(5):
        writer.write(wall.get("/a", f"{announced}\r\n") + body)
        await reader.readuntil(b"hi")
        while not wall.upstream.received[0].endswith(body):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "fields",
    [
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length : 1\r\n",
        "Content-Length: 9\r\nContent-Length: 9\r\n",
        "Content-Length: 9, 9\r\n",
        "X: a\0b\r\nContent-Length: 9\r\n",
        " folded: x\r\n",
        "X: a\nY: b\r\n",
    ],
)
async def test_a_head_that_can_be_read_in_two_ways_goes_nowhere(wall: Wall, fields: str) -> None:
    await wall.answer(wall.get("/a", fields) + b"x" * 9)
    assert b"xxx" not in b"".join(wall.upstream.received)


async def test_what_the_gate_refuses_never_reaches_the_server(wall: Wall) -> None:
    assert (await wall.answer(wall.get("/no"))).startswith(b"HTTP/1.1 403")
    moving = wall.get("/no", "Upgrade-Insecure-Requests: 1\r\n")
    assert (await wall.answer(moving)).startswith(b"HTTP/1.1 204")
    assert (await wall.answer(wall.get("/", "Referer: /no\r\n"))).startswith(b"HTTP/1.1 403")
    worker = wall.get("/sw.js", "Service-Worker: script\r\n")
    assert (await wall.answer(worker)).startswith(b"HTTP/1.1 403")
    assert wall.upstream.received == []
    assert len(wall.gate.refused) == 4


async def test_an_open_name_at_a_closed_address_is_not_reached(wall: Wall) -> None:
    wall.gate.closed_ips = {"127.0.0.1"}
    assert b"closed network" in await wall.answer(wall.get())
    assert wall.upstream.received == []
    wall.gate.ips = ["127.0.0.1", "127.0.0.2"]
    assert b"cannot be reached" in await wall.answer(wall.get())


async def test_the_proxy_is_no_site_of_its_own(wall: Wall) -> None:
    assert (await wall.answer(b"GET / HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 400")
    assert await wall.answer(b"nonsense\r\n\r\n") == b""


async def test_a_tunnel_for_tls_passes_its_bytes_unchanged(wall: Wall) -> None:
    hello = b"\x16\x03\x01\x00\x09and so on"
    async with wall.talk() as (reader, writer), asyncio.timeout(5):
        writer.write(wall.connect("tls.test"))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.write(hello)
        await reader.readuntil(b"hi")
    assert wall.upstream.received == [hello]


@pytest.mark.parametrize(
    ("host", "first"),
    [
        ("tls.test", b"GET /no HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"),
        ("plain.test", b"\x16\x03\x01"),
        ("plain.test", b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("plain.test", b"GET /no HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"),
        ("plain.test", b"GET http://x/ HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"),
    ],
)
async def test_a_tunnel_carries_only_what_it_was_opened_for(wall, host, first):
    await wall.answer(wall.connect(host) + first)
    assert b"".join(wall.upstream.received) == b""
    assert len(wall.gate.refused) == 1


async def test_a_web_socket_passes_a_plain_tunnel_and_is_judged_by_its_address(wall: Wall) -> None:
    opening = b"GET /live HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n"
    reply = await wall.answer(wall.connect("plain.test") + opening)
    assert reply.endswith(b"hi")
    assert wall.upstream.received == [opening]
    assert wall.gate.asked == [f"GET ws://plain.test:{wall.gate.port}/live"]


def frame(text: bytes, opcode: int = 1, is_last: bool = True) -> bytes:
    """A web socket's frame as browsers send them."""
    size = bytes([128 + len(text)]) if len(text) < 126 else b"\xfe" + len(text).to_bytes(2)
    mask = b"mask"
    masked = bytes(each ^ mask[n % 4] for n, each in enumerate(text))
    return bytes([opcode + (128 if is_last else 0)]) + size + mask + masked


@pytest.mark.parametrize(
    ("frames", "passed"),
    [
        ([frame(b"hello"), frame(b"x" * 300), frame(b"", 9)], 3),
        ([frame(b"hello"), frame(b"say /no"), frame(b"more")], 1),
        ([frame(b"say /", is_last=False), frame(b"", 9), frame(b"no", 0)], 2),
        ([frame(b"say /"), frame(b"no")], 2),
        ([frame(b"/no", 9)], 0),
        ([b"\x81\xff" + (1_000_001).to_bytes(8) + b"maskwords"], 0),
    ],
)
async def test_the_messages_of_a_web_socket_are_judged_before_they_pass(wall, frames, passed):
    wall.upstream.reply, wall.upstream.stays_open = b"", True
    opening = b"GET /live HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"
    offer = b"\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"
    async with wall.talk() as (reader, writer), asyncio.timeout(5):
        sent = opening.replace(b"\r\n\r\n", offer + b"\r\n")
        writer.write(wall.connect("plain.test") + sent + b"".join(frames))
        await reader.readuntil(b"\r\n\r\n")
        expected = opening + b"".join(frames[:passed])
        while wall.upstream.received != [expected] or len(wall.gate.messages) < passed:
            await asyncio.sleep(0.01)
        if passed < len(frames):
            assert await reader.read(-1) == b""
    assert wall.upstream.received == [expected]
    assert len(wall.gate.refused) == (passed < len(frames))


async def test_a_web_socket_inside_tls_is_known_by_what_it_offers(wall: Wall) -> None:
    for offered, is_passed in ((b"\x02h2\x08http/1.1", True), (b"\x08http/1.1", False)):
        names = len(offered).to_bytes(2) + offered
        hello = b"\x00\x10" + len(names).to_bytes(2) + names + b"more"
        record = b"\x16\x03\x01" + len(hello).to_bytes(2) + hello
        wall.upstream.received.clear()
        reply = await wall.answer(wall.connect("tls.test") + record)
        assert reply.endswith(b"hi") == is_passed
        assert b"".join(wall.upstream.received) == (record if is_passed else b"")


async def test_a_closed_tunnel_is_refused_before_a_connection_is_made(wall: Wall) -> None:
    reply = await wall.answer(wall.connect("evil.test"))
    assert reply.startswith(b"HTTP/1.1 403")
    assert wall.upstream.received == []


async def test_closing_cuts_off_what_is_under_way(wall: Wall) -> None:
    async with wall.talk() as (reader, writer):
        writer.write(wall.connect("tls.test"))
        await reader.readuntil(b"\r\n\r\n")
        await wall.proxy.close()
        assert await reader.read(-1) == b""
    with pytest.raises(OSError):
        await asyncio.open_connection(wall.host, wall.port)


class Beyond:
    """A proxy of the user's own: connects every tunnel to one place, or says no."""

    def __init__(self, port: int, answer: bytes = b"HTTP/1.1 200 OK\r\n\r\n") -> None:
        self.port, self.answer = port, answer
        self.heads: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One tunnel."""
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self.answer)
        there, back = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            back.write(await reader.readuntil(b"\r\n\r\n"))
            writer.write(await there.read(-1))
        except asyncio.IncompleteReadError:
            pass
        finally:
            back.close()
            writer.close()


@pytest.mark.parametrize("is_willing", [True, False])
async def test_a_proxy_of_the_users_own_is_gone_through(wall: Wall, is_willing: bool) -> None:
    beyond = Beyond(wall.gate.port)
    if not is_willing:
        beyond.answer = b"HTTP/1.1 407 No\r\n\r\n"
    listening = await asyncio.start_server(beyond.serve, "127.0.0.1", 0)
    dial = ProxyDialer("127.0.0.1", listening.sockets[0].getsockname()[1], "me", "pass")
    async with guarding(dial) as beside:
        reply = await beside.answer(beside.get("/a"))
        assert (b"\r\n\r\nhi" in reply) == is_willing
        assert (b"cannot be reached" in reply) != is_willing
        assert beyond.heads[0].startswith(f"CONNECT site.test:{beside.gate.port} ".encode())
        assert b"Proxy-Authorization: Basic bWU6cGFzcw==" in beyond.heads[0]
        assert "pass" not in repr(dial)
        assert (await beside.answer(beside.get("/no"))).startswith(b"HTTP/1.1 403")
        assert len(beyond.heads) == 1
    listening.close()
